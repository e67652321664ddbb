"""A follower's log is cut, or emptied, on a worker thread, and what the partition believes of itself goes with it.

What goes is kept aside if it is committed, as far as is known here, or if the leader is recovering: then the leader
lacks what was acknowledged. So is a whole log that lacks offsets: it may have others that its leader lacks.

From the first moment nothing is served of what goes. Until the log may be written again, which the future tells, the
partition takes no role. Both raise ApiError, and so do the futures.
"""

import asyncio
from functools import partial

from broker.common.logs import logger
from broker.log.truncation import Truncation
from broker.protocol.messages.fetch import EpochEndOffset
from broker.replication.truncation import LeaderEpochEnd, truncation_offset
from broker.runtime.replication.hosted_partition import HostedPartition
from broker.runtime.replication.replica_manager import ReplicaManager

_log = logger(__name__)


def find_truncation_offset(hosted: HostedPartition, diverging: EpochEndOffset, leader: int) -> int:
    """Return where the log is to be cut whose leader has named an epoch that diverges."""
    log, partition = hosted.log, hosted.partition
    offset = truncation_offset(
        LeaderEpochEnd(diverging.epoch, diverging.end_offset),
        lambda epoch: LeaderEpochEnd(*log.end_offset_for_epoch(epoch)),
        log.log_end_offset,
        partition.high_watermark,
    )
    _log.info(
        "truncated to the leader's log",
        partition=str(partition.topic_partition),
        leader=leader,
        from_offset=log.log_end_offset,
        to_offset=offset,
    )
    return offset


def truncate(replicas: ReplicaManager, hosted: HostedPartition, offset: int) -> "asyncio.Future[None]":
    """Cut what the leader does not have."""
    end_offset = min(offset, hosted.log.log_end_offset)
    done = _cut(replicas, hosted, Truncation(offset, is_kept=_may_be_acknowledged(hosted, offset)))
    hosted.partition.record_truncation(end_offset)
    return done


def start_over_at(
    replicas: ReplicaManager, hosted: HostedPartition, offset: int, *, lacks_offsets: bool = False
) -> "asyncio.Future[None]":
    """Empty the log: nothing of it is in the leader's, which begins at `offset`.

    If it begins behind the log's end, retention has removed what goes here, at the leader.
    """
    is_kept = offset < hosted.log.log_end_offset and (lacks_offsets or _may_be_acknowledged(hosted, offset))
    done = _cut(replicas, hosted, Truncation(offset, is_of_all=True, is_kept=is_kept))
    hosted.partition.started_over(offset)
    return done


def _may_be_acknowledged(hosted: HostedPartition, offset: int) -> bool:
    return offset < hosted.partition.high_watermark or hosted.partition.has_recovering_leader


def _cut(replicas: ReplicaManager, hosted: HostedPartition, cut: Truncation) -> "asyncio.Future[None]":
    high_watermark = hosted.partition.high_watermark
    done = replicas.logs.cuts.begin(hosted.partition.topic_partition, hosted.log, cut)
    done.add_done_callback(partial(_ended, hosted, high_watermark))
    return done


def _ended(hosted: HostedPartition, high_watermark: int, done: "asyncio.Future[None]") -> None:
    """End a truncation that `done` finished; if it failed, the high watermark stays, and the next try has to keep the
    records too.
    """
    if not done.cancelled() and done.exception() is not None:
        hosted.partition.truncation_failed(high_watermark, hosted.log.log_end_offset)
    else:
        hosted.partition.record_truncation(hosted.log.log_end_offset)

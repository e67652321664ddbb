"""A follower's log is cut, or emptied, on a worker thread, and what the partition believes of itself goes with it.

From the first moment nothing is served of what goes. Until the log may be written again, which the future tells, the
partition takes no role. Both raise ApiError, and so do the futures.
"""

import asyncio

from broker.common.logs import logger
from broker.log.truncation import Cut
from broker.runtime.replication.hosted_partition import HostedPartition
from broker.runtime.replication.replica_manager import ReplicaManager

_log = logger(__name__)


def truncate(replicas: ReplicaManager, hosted: HostedPartition, offset: int) -> "asyncio.Future[None]":
    """Cut what the leader does not have."""
    _warn_of_committed(hosted, offset)
    end_offset = min(offset, hosted.log.log_end_offset)
    done = _cut(replicas, hosted, Cut(offset))
    hosted.partition.record_truncation(end_offset)
    return done


def start_over_at(replicas: ReplicaManager, hosted: HostedPartition, offset: int) -> "asyncio.Future[None]":
    """Empty the log: nothing of it is in the leader's, which begins at `offset`.

    If it begins behind the high watermark, retention has removed what goes here; if before, committed records go.
    """
    _warn_of_committed(hosted, offset)
    done = _cut(replicas, hosted, Cut(offset, is_of_all=True))
    hosted.partition.started_over(offset)
    return done


def _warn_of_committed(hosted: HostedPartition, offset: int) -> None:
    if offset < hosted.partition.high_watermark:
        _log.warning(
            "committed records are cut off: the leader was elected from outside the ISR, or lost its disk",
            partition=str(hosted.partition.topic_partition),
            high_watermark=hosted.partition.high_watermark,
            offset=offset,
        )


def _cut(replicas: ReplicaManager, hosted: HostedPartition, cut: Cut) -> "asyncio.Future[None]":
    done = replicas.logs.cuts.begin(hosted.partition.topic_partition, hosted.log, cut)
    done.add_done_callback(lambda _: hosted.partition.record_truncation(hosted.log.log_end_offset))
    return done

"""What a leader holds of a topic that asks for fsyncs (flush.messages) counts when it is fsynced."""

import asyncio
from collections.abc import Callable
from functools import partial

from broker.common.clock import Clock
from broker.runtime.disk.group_flushes import GroupFlushes, refusal_of
from broker.runtime.replication.hosted_partition import HostedPartition

#: A disk, or the number of descriptors, that refused an fsync may be well again; nobody else may ever ask.
AGAIN_S = 1.0


class LeaderFlushes:
    """Flushes of leaders' logs; `on_moved` is called for each partition whose high watermark moved."""

    def __init__(self, flushes: GroupFlushes, clock: Clock, on_moved: Callable[[HostedPartition], None]):
        self._flushes = flushes
        self._clock = clock
        self._on_moved = on_moved

    def begin(self, hosted: HostedPartition) -> None:
        """Fsync everything now in the log, so that it counts as committed."""
        partition = hosted.partition
        flushed = self._flushes.begin(partition.topic_partition, hosted.log)
        flushed.add_done_callback(partial(self._ended, hosted, partition.leader_epoch, hosted.log.log_end_offset))

    def _ended(
        self, hosted: HostedPartition, leader_epoch: int, end_offset: int, flushed: asyncio.Future[None]
    ) -> None:
        partition = hosted.partition
        if not partition.is_leader or partition.leader_epoch != leader_epoch or end_offset <= partition.log_end_offset:
            return
        if refusal_of(flushed) is not None:
            asyncio.get_running_loop().call_later(AGAIN_S, self._again, hosted, leader_epoch, end_offset)
        elif partition.record_flushed(end_offset, self._clock.monotonic_ms()):
            self._on_moved(hosted)

    def _again(self, hosted: HostedPartition, leader_epoch: int, end_offset: int) -> None:
        """Flush again after a failure; the last request covers those before it."""
        partition, log = hosted.partition, hosted.log
        is_leader = partition.is_leader and partition.leader_epoch == leader_epoch
        if is_leader and log.is_flush_due and end_offset == log.log_end_offset:
            self.begin(hosted)

"""Reports to a leader where the logs that follow it start. DeleteRecords is answered by that (KIP-107), so a start is
reported once it is noted: the records of an acknowledged deletion must not be shown again by a follower that is killed
and leads later.
"""

import asyncio
from collections.abc import Callable
from functools import partial

from broker.common.errors import ApiError
from broker.common.types import TopicPartition
from broker.replication.leader_link import FollowerPartition, LeaderLink
from broker.runtime.disk.log_start_notes import Refusals
from broker.runtime.replication.hosted_partition import HostedPartition, known_here
from broker.runtime.replication.replica_manager import ReplicaManager


class LogStartReports:
    """To one leader; on the broker's loop."""

    def __init__(
        self,
        link: LeaderLink,
        replicas: ReplicaManager,
        refused: Callable[[FollowerPartition, ApiError], None],
        send_soon: Callable[[], None],
    ):
        """`refused` is called when a start cannot be noted, and has the partition asked for again later."""
        self._link = link
        self._replicas = replicas
        self._refused = refused
        self._send_soon = send_soon

    def start_to_report(self, topic_partition: TopicPartition) -> int:
        """Return where the log starts, and would after a kill."""
        log = known_here(self._replicas.get(*topic_partition)).log
        return min(log.log_start_offset, self._replicas.logs.noted_log_start(topic_partition))

    def look(self, hosted: HostedPartition) -> None:
        """Report the start of the partition's log if it changed since the leader was told, after it is noted
        on disk.
        """
        topic_partition, start = hosted.partition.topic_partition, hosted.log.log_start_offset
        known = self._link.followed[topic_partition]
        if start == known.told_start or known.is_start_being_noted:
            return
        if start <= self._replicas.logs.noted_log_start(topic_partition):
            self._link.starts_at(topic_partition, start)
            return
        known.is_start_being_noted = True
        noted = self._replicas.logs.log_starts.begin(hosted.log.directory.parent, {topic_partition: start})
        noted.add_done_callback(partial(self._noted, known))

    def _noted(self, known: FollowerPartition, noted: "asyncio.Future[Refusals]") -> None:
        known.is_start_being_noted = False
        if not self._link.is_followed(known) or known.is_held:
            return
        refusal = noted.result().get(known.topic_partition)
        if refusal is not None:
            self._refused(known, refusal)
        else:
            self.look(known_here(self._replicas.get(*known.topic_partition)))
            self._send_soon()

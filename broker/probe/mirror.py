"""Reads the topic's mirror in another cluster (or under another name in the same one), to measure the whole way there.

It reads from the end on: what was mirrored before this life of the probe is nothing to it. One thread, a look at all
partitions at once at each leader; what cannot be read is tried again at the next look.
"""

from threading import Event
from typing import Any

from broker.client.cluster import ClusterConnections
from broker.client.errors import BrokerUnreachable
from broker.client.leaders import Leaders
from broker.client.offsets import list_offsets
from broker.common.errors import ApiError, BarnabasError, ErrorCode, error_code_of
from broker.common.logs import logger
from broker.common.types import TopicPartition
from broker.probe.fetching import FETCH_VERSION_MAX, fetch_request, marks_of
from broker.probe.shared_state import ProbeSharedState
from broker.protocol.messages.list_offsets import EARLIEST_TIMESTAMP, LATEST_TIMESTAMP

#: Partitions that are added are found after so many looks.
_LOOKS_PER_LEARNING = 20

_log = logger("broker.probe")


class MirrorReader:
    def __init__(self, desk: ProbeSharedState, cluster: ClusterConnections, topic: str):
        self._desk, self._topic = desk, topic
        self._leaders = Leaders(cluster)
        self._positions: dict[TopicPartition, int] = {}
        self._looks = 0

    def run(self, stop: Event, interval_s: float) -> None:
        """Read the mirror until `stop` is set."""
        error = ""
        while not stop.wait(interval_s):
            try:
                self.look()
                reason = ""
            except BarnabasError as raised:
                reason = str(raised)[:300]
                self._looks = 0
            except Exception as raised:  # without this thread nothing is known of the mirror any more
                _log.exception("the probe's look at the mirror failed")
                reason = f"{type(raised).__name__}: {raised}"[:300]
                self._looks = 0
            with self._desk.lock:
                self._desk.book.mirror_looked(self._desk.at_ms(), reason)
            if reason and reason != error:
                _log.warning("the mirror cannot be read", topic=self._topic, reason=reason)
            error = reason

    def look(self) -> None:
        """Raises BarnabasError when all, or some, of it cannot be read."""
        if self._looks % _LOOKS_PER_LEARNING == 0:
            self._learn()
        self._looks += 1
        for led in self._leaders.by_address(self._positions).values():
            self._fetch(led)

    def _learn(self) -> None:
        """Learn the topic's partitions; one that was added later is read from its beginning."""
        there = self._leaders.partitions(self._topic)
        new = [item for item in there if item not in self._positions]
        begins_at = EARLIEST_TIMESTAMP if self._positions else LATEST_TIMESTAMP
        self._positions |= list_offsets(self._leaders, dict.fromkeys(new, begins_at))

    def _fetch(self, led: list[TopicPartition]) -> None:
        wanted = {partition.partition: self._positions[partition] for partition in led}
        try:
            answer = self._leaders.connection(led[0]).ask(
                fetch_request(self._topic, wanted, 0), version_max=FETCH_VERSION_MAX
            )
        except BrokerUnreachable:
            self._leaders.forget(led[0], connection_broken=True)
            raise
        for partition_data in (partition for topic in answer.responses for partition in topic.partitions):
            self._note(TopicPartition(self._topic, partition_data.partition_index), partition_data)

    def _note(self, partition: TopicPartition, partition_data: Any) -> None:
        if partition_data.error_code:
            code = error_code_of(partition_data.error_code)
            if code is ErrorCode.OFFSET_OUT_OF_RANGE:
                del self._positions[partition]
            self._leaders.forget(partition)
            raise ApiError(code, f"{partition}: {code.meaning}")
        marks, self._positions[partition], why = marks_of(partition_data, self._positions[partition])
        if why:
            raise ApiError(ErrorCode.CORRUPT_MESSAGE, f"{partition}: {why}")
        with self._desk.lock:
            self._desk.book.mirrored(marks, self._desk.at_ms())

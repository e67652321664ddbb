"""A sink's consumer: a member of its group by librdkafka, which reads nothing; records come by our own client.

librdkafka unpacks whatever it fetches, and bounds gzip by nothing: one batch of 1 MB would take the worker and all of
its other tasks. Here a batch that unpacks to more than `DECOMPRESSED_BYTES_MAX` is left out, or ends the task, as
`errors.tolerance` says.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from confluent_kafka import (
    OFFSET_END,
    TIMESTAMP_CREATE_TIME,
    TIMESTAMP_LOG_APPEND_TIME,
    TIMESTAMP_NOT_AVAILABLE,
    Consumer,
)
from confluent_kafka import TopicPartition as Place

from broker.client.cluster import ClusterConnections
from broker.client.leaders import Leaders
from broker.client.offsets import EARLIEST, LATEST, list_offsets
from broker.client.record_reader import LeftOutBatch, RecordReader
from broker.common.errors import ApiError
from broker.common.limits import DECOMPRESSED_BYTES_MAX
from broker.common.logs import logger
from broker.common.quiet_clients import with_error_logging
from broker.common.types import IsolationLevel, TopicPartition
from broker.connect.api import ConnectError, ConnectPartition
from broker.connect.group.wire import Unit
from broker.connect.tasks.retriable import is_retriable
from broker.connect.tasks.tolerance import Tolerance
from broker.records.record import Record

_log = logger("broker.connect")
#: librdkafka's names of where a group begins that has no offset.
_RESETS = {
    "earliest": EARLIEST, "smallest": EARLIEST, "beginning": EARLIEST,
    "latest": LATEST, "largest": LATEST, "end": LATEST,
}  # fmt: skip
_COMMITTED_S = 30.0
#: As librdkafka's defaults, in total and for the wait; as many bytes as a sink converts in a moment.
_FETCH_BYTES, _FETCH_WAIT_MS = 8 << 20, 500

OnChange = Callable[[Consumer, list[Place]], None]


class ReadMessage:
    """A record with the methods of a message of confluent-kafka."""

    __slots__ = ("_is_append_time", "_record", "place")

    def __init__(self, place: ConnectPartition, record: Record, is_append_time: bool):
        #: One object for all records of a partition that were read together.
        self.place, self._record, self._is_append_time = place, record, is_append_time

    def error(self) -> None:
        return None

    def topic(self) -> str:
        return self.place.topic

    def partition(self) -> int:
        return self.place.partition

    def offset(self) -> int:
        return self._record.offset

    def key(self) -> bytes | None:
        return self._record.key

    def value(self) -> bytes | None:
        return self._record.value

    def headers(self) -> list[tuple[str, bytes | None]] | None:
        return list(self._record.headers) or None

    def timestamp(self) -> tuple[int, int]:
        at_ms = self._record.timestamp_ms
        if at_ms < 0:
            return TIMESTAMP_NOT_AVAILABLE, at_ms
        return TIMESTAMP_LOG_APPEND_TIME if self._is_append_time else TIMESTAMP_CREATE_TIME, at_ms


def leaves_out(unit: Unit, tolerance: Tolerance) -> Callable[[LeftOutBatch], bool]:
    """Return whether the task goes on behind a batch that cannot be unpacked, by `errors.tolerance`. No dead letter
    holds its records, so it is logged whatever is said of logging.
    """

    def decide(batch: LeftOutBatch) -> bool:
        if tolerance.tolerates:
            _log.error(
                "batch left out", connector=unit.connector, task=unit.task, partition=str(batch.partition),
                first=batch.first, last=batch.last, reason=batch.reason,
            )  # fmt: skip
        return bool(tolerance.tolerates)

    return decide


class SinkConsumer:
    """The part of confluent-kafka's Consumer that a sink uses, on one thread. `leaves_out` decides about a batch that
    cannot be unpacked: whether the task goes on behind it.
    """

    def __init__(
        self,
        config: Mapping[str, Any],
        connect: Callable[[], ClusterConnections],
        leaves_out: Callable[[LeftOutBatch], bool],
    ):
        self._group = Consumer(with_error_logging(config))
        self._leaves_out = leaves_out
        strategy = str(config.get("partition.assignment.strategy", ""))
        self._is_cooperative = "cooperative" in strategy or config.get("group.protocol") == "consumer"
        self._cluster = connect()
        self._leaders = Leaders(self._cluster)
        is_committed = config.get("isolation.level", "read_committed") == "read_committed"
        self._isolation = IsolationLevel.READ_COMMITTED if is_committed else IsolationLevel.READ_UNCOMMITTED
        self._reset = _RESETS.get(str(config.get("auto.offset.reset", "latest")))
        self._reader = RecordReader(
            self._cluster,
            {},
            self._isolation,
            fetch_bytes=int(config.get("fetch.max.bytes", _FETCH_BYTES)),
            fetch_wait_ms=int(config.get("fetch.wait.max.ms", _FETCH_WAIT_MS)),
            unpacked_bytes_max=DECOMPRESSED_BYTES_MAX,
            reset=self._reset,
        )

    # --- the group

    def subscribe(self, topics: list[str], on_assign: OnChange, on_revoke: OnChange, on_lost: OnChange) -> None:
        def assigned(consumer: Consumer, places: list[Place]) -> None:
            starts = self._starts(places)
            ends = [Place(place.topic, place.partition, OFFSET_END) for place in places]
            # Of the end and paused at once, it fetches nothing.
            if self._is_cooperative:
                consumer.incremental_assign(ends)
            else:
                consumer.assign(ends)
            consumer.pause(ends)
            for partition, offset in starts.items():
                self._reader.seek(partition, offset)
            on_assign(consumer, places)

        def ended(tell: OnChange) -> OnChange:
            def change(consumer: Consumer, places: list[Place]) -> None:
                try:
                    tell(consumer, places)
                finally:
                    for partition in _partitions(places):
                        self._reader.drop(partition)

            return change

        self._group.subscribe(topics, on_assign=assigned, on_revoke=ended(on_revoke), on_lost=ended(on_lost))

    def _starts(self, places: Sequence[Place]) -> dict[TopicPartition, int]:
        """Return the group's committed offsets, else those by `auto.offset.reset`. Raises KafkaException, ApiError."""
        committed = self._group.committed(list(places), timeout=_COMMITTED_S)
        starts = {TopicPartition(partition.topic, partition.partition): partition.offset for partition in committed}
        without = [partition for partition, offset in starts.items() if offset < 0]
        if without and self._reset is None:
            raise ConnectError(f"the group has no offset of {without[0]}, and auto.offset.reset names none")
        if without:
            starts |= list_offsets(self._leaders, dict.fromkeys(without, self._reset or 0), self._isolation)
        return starts

    def unsubscribe(self) -> None:
        self._group.unsubscribe()

    def list_topics(self, timeout: float) -> Any:
        return self._group.list_topics(timeout=timeout)

    def committed(self, places: list[Place], timeout: float) -> list[Place]:
        return self._group.committed(places, timeout=timeout)

    def commit(self, offsets: list[Place]) -> None:
        """Returns when the coordinator has them. Raises KafkaException."""
        self._group.commit(offsets=offsets, asynchronous=False)

    def get_watermark_offsets(self, place: Place, timeout: float) -> tuple[int, int]:
        return self._group.get_watermark_offsets(place, timeout)

    def close(self) -> None:
        self._group.close()
        self._reader.close()
        self._cluster.close()

    # --- records

    def consume(self, records_max: int, timeout_s: float) -> list[Any]:
        """Return records, and errors as the client reports them. Raises ConnectError for a batch that cannot be
        unpacked and may not be left out, ApiError.
        """
        batch_messages = self._group.consume(1, 0 if self._reader.is_reading else timeout_s)
        if batch_messages or not self._reader.is_reading:
            return list(batch_messages)
        try:
            runs = self._reader.read(timeout_s, records_max)
        except ApiError as error:
            if is_retriable(error):
                raise
            raise ConnectError(f"records cannot be read: {error.message}") from None
        messages = []
        for at, is_append_time, records in runs:
            place = ConnectPartition(*at)
            messages += [ReadMessage(place, record, is_append_time) for record in records]
        for batch in self._reader.take_left_out():
            if not self._leaves_out(batch):
                messages = self._before(batch, messages)
        return messages

    def _before(self, batch: LeftOutBatch, messages: list[ReadMessage]) -> list[ReadMessage]:
        """Return what was read before the batch, which goes to the task first; the batch is met again.

        Raises ConnectError where that is nothing of the batch's own partition: others may never be at their end.
        """
        before = [
            message
            for message in messages
            if (message.topic(), message.partition()) != batch.partition or message.offset() < batch.first
        ]
        if not any((message.topic(), message.partition()) == batch.partition for message in before):
            raise ConnectError(
                f"records cannot be read: the batch at {batch.partition}, offsets {batch.first} to {batch.last}, "
                f"{batch.reason}; errors.tolerance=all leaves it out"
            )
        self._reader.seek(batch.partition, batch.first)
        return before

    def seek(self, place: Place) -> None:
        self._reader.seek(TopicPartition(place.topic, place.partition), place.offset)

    def pause(self, places: Iterable[Place]) -> None:
        for partition in _partitions(places):
            self._reader.drop(partition)

    def resume(self, places: Iterable[Place]) -> None:
        for partition in _partitions(places):
            if not self._reader.wants(partition):
                self._reader.seek(partition, self._reader.positions[partition])


def _partitions(places: Iterable[Place]) -> list[TopicPartition]:
    return [TopicPartition(place.topic, place.partition) for place in places]

"""Producers and consumers of confluent-kafka that take part in the audit: nothing is added to a record.

    producer = AuditedProducer({"bootstrap.servers": …}, source="orders-service")
    consumer = AuditedConsumer({"bootstrap.servers": …, "group.id": "billing"}, Producer({…}))

A producer counts what was acknowledged. Increments leave by the same producer every `report_every_s`, from within
`produce`, `poll` and `flush`; in a transaction they are part of it, so that one that is aborted has never been counted.
A record that was given up may have arrived, and is told as such; a producer that is killed has produced more than it
told, and the verdict knows that it did not say goodbye.

A consumer commits itself, with the period `report_every_s`, when `commit` is called, and before partitions are taken
from it: first the increments, then the offsets. Killed in between, its successor reads again from the same offset, and
its increments replace the others; an application that seeks back is told of in the same way. A record counts as
consumed when the application has asked for the next one; how old it is by then is its latency.
"""

import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from confluent_kafka import Consumer, KafkaException, Producer
from confluent_kafka import TopicPartition as Position

from broker.audit.increment import AUDIT_TOPIC, AuditTier, Increment
from broker.audit.latency import WindowLatencies
from broker.audit.reporter import SourceReporter
from broker.audit.tally import NO_WINDOW, WINDOW_MS, CountedRecord, WindowCounter, Windows, window_of
from broker.common.quiet_clients import with_error_logging
from broker.common.types import TopicPartition

REPORT_EVERY_S = 10.0
_SEND_TRIES = 100
_FLUSH_S = 30.0

Callback = Callable[[Any, Any], None]


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def counted(message: Any, *, is_disordered: bool = False, is_unsure: bool = False) -> CountedRecord:
    """Return a confluent-kafka message as a counted record."""
    kind, timestamp_ms = message.timestamp()
    at = timestamp_ms if kind else NO_WINDOW
    return CountedRecord(at, message.offset(), message.key(), message.value(), is_disordered, is_unsure)


class AuditedProducer:
    """Wraps `Producer`, whose other methods are those of `producer`. `close` it, or call it incomplete."""

    def __init__(
        self,
        config: Mapping[str, Any],
        source: str,
        *,
        window_ms: int = WINDOW_MS,
        report_every_s: float = REPORT_EVERY_S,
        audit_topic: str = AUDIT_TOPIC,
    ):
        self.producer = Producer(with_error_logging({"enable.idempotence": True, **config}))
        self._is_transactional = "transactional.id" in config
        self._audit_topic = audit_topic
        self._report_every_s = report_every_s
        self._reporter = SourceReporter(AuditTier.PRODUCED, source, uuid.uuid4().hex, window_ms)
        self._counter = WindowCounter(window_ms)
        self._told_before: dict[Any, int] = {}
        self._produced = 0
        self._last: dict[TopicPartition, tuple[int, int]] = {}
        self._due_at = time.monotonic() + report_every_s

    def produce(self, topic: str, value: Any = None, key: Any = None, **more: Any) -> None:
        """Produce as `Producer.produce` does, counting the record; `on_delivery` is called as usual."""
        self._produced += 1
        number, theirs = self._produced, more.pop("on_delivery", None) or more.pop("callback", None)
        more["on_delivery"] = lambda error, message: self._delivered(error, message, number, theirs)
        self.producer.produce(topic, value=value, key=key, **more)
        self._report_if_due()

    def poll(self, timeout: float = 0) -> int:
        self._report_if_due()
        return int(self.producer.poll(timeout))

    def flush(self, timeout: float = _FLUSH_S) -> int:
        """Returns when all that was produced before is acknowledged or given up: as Producer.flush."""
        left = int(self.producer.flush(timeout))
        self._report_if_due()
        return left

    def begin_transaction(self) -> None:
        self._told_before = dict(self._reporter.sequences)
        self.producer.begin_transaction()

    def commit_transaction(self, timeout: float = _FLUSH_S) -> None:
        """Commit the counts with the transaction. Raises as Producer.commit_transaction."""
        self.producer.flush(timeout)
        self._report()
        self.producer.commit_transaction(timeout)

    def abort_transaction(self, timeout: float = _FLUSH_S) -> None:
        self.producer.abort_transaction(timeout)
        self._counter.drain()
        self._reporter.sequences = self._told_before

    def close(self, timeout: float = _FLUSH_S) -> None:
        """Sends what is left and says that this was all. Raises RuntimeError when brokers did not take it in time."""
        left = self.producer.flush(timeout)
        if not self._is_transactional and not left:
            self._report(is_last=True)
            left = self.producer.flush(timeout)
        if left:
            raise RuntimeError(f"{left} records or increments were not acknowledged within {timeout:g} s")

    def _delivered(self, error: Any, message: Any, number: int, theirs: Callback | None) -> None:
        if self._counter.is_full:
            self._report()
        partition = TopicPartition(message.topic(), message.partition())
        if error is not None and partition.partition >= 0:
            self._counter.add(partition, counted(message, is_unsure=True))
        elif error is None:
            last_number, last_offset = self._last.get(partition, (0, -1))
            is_disordered = (number > last_number) != (message.offset() > last_offset)
            self._last[partition] = (number, message.offset())
            self._counter.add(partition, counted(message, is_disordered=is_disordered))
        if theirs is not None:
            theirs(error, message)

    def _report_if_due(self) -> None:
        if not self._is_transactional and (self._counter.is_full or time.monotonic() >= self._due_at):
            self._report()

    def _report(self, *, is_last: bool = False) -> None:
        """Report an empty increment for each silent partition, which shows that the producer is alive."""
        self._due_at = time.monotonic() + self._report_every_s
        counted_ = dict(self._counter.drain())
        silent: dict[TopicPartition, Windows] = {partition: {} for partition in self._reporter.partitions()}
        for partition, windows in {**silent, **counted_}.items():
            closes = is_last or self._is_transactional
            self._send(self._reporter.tell(partition, windows, now_ms(), is_last=closes))

    def _send(self, increment: Increment) -> None:
        for tries_left in reversed(range(_SEND_TRIES)):
            try:
                self.producer.produce(self._audit_topic, value=increment.to_bytes(), key=increment.key())
                return
            except BufferError:
                if not tries_left:
                    raise
                self.producer.poll(0.1)


class AuditedConsumer:
    """Wraps `Consumer`, of which `consumer` has the rest; `commit` commits all that was returned and gone on from."""

    def __init__(
        self,
        config: Mapping[str, Any],
        producer: Producer,
        *,
        window_ms: int = WINDOW_MS,
        report_every_s: float = REPORT_EVERY_S,
        audit_topic: str = AUDIT_TOPIC,
    ):
        self.consumer = Consumer(with_error_logging({**config, "enable.auto.commit": False}))
        self._producer = producer
        self._audit_topic = audit_topic
        self._report_every_s = report_every_s
        self._reporter = SourceReporter(AuditTier.CONSUMED, config["group.id"], uuid.uuid4().hex, window_ms)
        self._counter = WindowCounter(window_ms)
        self._latencies = WindowLatencies()
        self._starts: dict[TopicPartition, int] = {}
        self._positions: dict[TopicPartition, int] = {}
        self._returned: list[Any] = []
        self._unsent: dict[bytes, Increment] = {}
        self._due_at = time.monotonic() + report_every_s

    def subscribe(self, topics: Sequence[str]) -> None:
        self.consumer.subscribe(list(topics), on_assign=self._assigned, on_revoke=self._revoked, on_lost=self._lost)

    def poll(self, timeout: float = -1) -> Any:
        """Return a message or None, as Consumer.poll. Messages returned before count as consumed."""
        messages = self.consume(1, timeout)
        return messages[0] if messages else None

    def consume(self, num_messages: int = 1, timeout: float = -1) -> list[Any]:
        self._count_returned()
        if self._is_full or time.monotonic() >= self._due_at:
            self._report()
        messages = list(self.consumer.consume(num_messages, timeout))
        self._returned = [message for message in messages if message.error() is None]
        return messages

    def commit(self) -> None:
        """Report all returned records as consumed, then commit. Raises KafkaException, RuntimeError."""
        self._count_returned()
        self._report()

    def close(self) -> None:
        """Commits what was returned, and leaves the group."""
        self.commit()
        self.consumer.close()

    @property
    def _is_full(self) -> bool:
        return self._counter.is_full or self._latencies.is_full

    def _count_returned(self) -> None:
        returned, self._returned = self._returned, []
        at_ms = now_ms()
        for message in returned:
            partition, offset = TopicPartition(message.topic(), message.partition()), message.offset()
            went_back = offset < self._positions.get(partition, -1)
            if went_back or self._is_full:
                self._report_counts()
            if went_back:
                self._starts[partition] = offset
            record = counted(message)
            self._counter.add(partition, record)
            if record.timestamp_ms >= 0:
                window = window_of(record.timestamp_ms, self._counter.window_ms)
                self._latencies.add(partition, window, at_ms - record.timestamp_ms)
            self._starts.setdefault(partition, offset)
            self._positions[partition] = offset + 1

    def _report_counts(self) -> None:
        for partition, windows in self._counter.drain():
            offsets = self._starts.pop(partition), self._positions[partition]
            self._starts[partition] = offsets[1]
            latencies = self._latencies.take(partition)
            increment = self._reporter.tell(partition, windows, now_ms(), offsets=offsets, latencies=latencies)
            self._unsent[increment.to_bytes()] = increment

    def _report(self) -> None:
        self._due_at = time.monotonic() + self._report_every_s
        self._report_counts()
        self._deliver()
        positions = [Position(*partition, offset) for partition, offset in self._positions.items()]
        if positions:
            self.consumer.commit(offsets=positions, asynchronous=False)

    def _deliver(self) -> None:
        """Send the queued increments. One whose delivery is unknown is sent again under its id and counts once."""
        for data, increment in list(self._unsent.items()):
            self._producer.produce(
                self._audit_topic, value=data, key=increment.key(), on_delivery=self._on_delivery(data)
            )
        self._producer.flush(_FLUSH_S)
        if self._unsent:
            raise RuntimeError(f"{len(self._unsent)} increments were not acknowledged; nothing is committed")

    def _on_delivery(self, data: bytes) -> Callback:
        def settle(error: Any, _message: Any) -> None:
            if error is None:
                self._unsent.pop(data, None)

        return settle

    def _assigned(self, consumer: Consumer, partitions: list[Position]) -> None:
        for topic_partition in consumer.committed(partitions, timeout=_FLUSH_S):
            if topic_partition.offset >= 0:
                partition = TopicPartition(topic_partition.topic, topic_partition.partition)
                self._starts[partition] = self._positions[partition] = topic_partition.offset

    def _revoked(self, _consumer: Consumer, partitions: list[Position]) -> None:
        self._count_returned()
        try:
            self._report()
        except (KafkaException, RuntimeError):
            self._unsent.clear()  # nothing is committed: whoever has the partitions next counts again
        self._forget(partitions)

    def _lost(self, _consumer: Consumer, partitions: list[Position]) -> None:
        self._forget(partitions)

    def _forget(self, partitions: list[Position]) -> None:
        gone = {TopicPartition(partition.topic, partition.partition) for partition in partitions}
        for known in (self._starts, self._positions):
            for partition in gone & known.keys():
                del known[partition]
        for partition in gone:
            self._latencies.take(partition)
        kept = [(partition, windows) for partition, windows in self._counter.drain() if partition not in gone]
        self._counter.take_back(kept)
        self._returned = [
            partition for partition in self._returned if (partition.topic(), partition.partition()) not in gone
        ]

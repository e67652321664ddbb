"""Writes the batches of a query to a topic so that a batch Spark repeats adds nothing that is already there.

No transactions: the output topic itself is the journal. Every record carries its query and batch in headers; before
batch N is sent, the topic's end offsets are kept (sink_state.py). A repeated batch, and a batch with a failed or
unanswered delivery, is read back from there, and only what is missing is sent. The producer repeats nothing by itself.

The limit of the promise: a request that its broker holds unprocessed for longer than SETTLE_S after the connection
failed, or that a replicated topic has appended and not yet committed, is not seen by the read-back and its records come
twice (same key, same value). Nothing is ever left out.
"""

import logging
import time
from collections import Counter
from typing import Protocol

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from broker.common.errors import BarnabasError
from broker.common.logs import logger
from broker.spark.cluster import ClientConfig, connect_admin, latest_offsets, partitions_of, read_range
from broker.spark.offsets import Offsets, ranges
from broker.spark.sink_state import Content, OutputRecord, SinkState, is_marked, marked, missing

#: How long a batch is tried before the query fails (and is started again from its checkpoint).
WRITE_TIMEOUT_S = 120.0
#: How long one delivery may stay without an answer.
DELIVERY_TIMEOUT_MS = 10_000
#: Pause between a failed delivery and the read-back: requests of the dropped connection are processed by then.
SETTLE_S = 1.0

_log = logger("broker.spark.sink")


class SinkError(BarnabasError):
    """A batch could not be written in time; what of it arrived is found again when the batch is repeated."""


class OutputTopic(Protocol):
    """The topic as the sink sees it. Each call may raise KafkaException."""

    def end_offsets(self) -> Offsets: ...

    def written_since(self, begin: Offsets, query: str, batch: int) -> Counter[Content]:
        """This batch's records between `begin` and the end of each partition, and how often each is there."""
        ...

    def send(self, records: list[OutputRecord], query: str, batch: int) -> str | None:
        """Every record once; returns when none is under way. None: all were acknowledged, else the reason why not."""
        ...


class BatchSink:
    """Writes whole batches. Not for several threads."""

    def __init__(self, topic: OutputTopic, state: SinkState, settle_s: float = SETTLE_S):
        self._topic = topic
        self._state = state
        self._settle_s = settle_s

    def write(self, batch: int, records: list[OutputRecord]) -> int:
        """Returns, with how many were sent, when each record is in the topic. SinkError after WRITE_TIMEOUT_S."""
        deadline = time.monotonic() + WRITE_TIMEOUT_S
        sent = 0
        while True:
            try:
                unwritten = self._unwritten(batch, records)
                sent += len(unwritten)
                failure = self._topic.send(unwritten, self._state.query, batch) if unwritten else None
            except (KafkaException, TimeoutError) as error:
                failure = str(error)
            if failure is None:
                return sent
            if time.monotonic() > deadline:
                raise SinkError(f"batch {batch} was not written in {WRITE_TIMEOUT_S:g} s: {failure}")
            _log.warning("batch not written yet", batch=batch, records=len(records), reason=failure)
            time.sleep(self._settle_s)

    def _unwritten(self, batch: int, records: list[OutputRecord]) -> list[OutputRecord]:
        """All records of a batch that was never tried, else those the topic does not hold."""
        begin = self._state.begin_offsets(batch)
        if begin is None:
            self._state.begin(batch, self._topic.end_offsets())
            return records
        left = missing(records, self._topic.written_since(begin, self._state.query, batch))
        _log.info("batch read back", batch=batch, records=len(records), missing=len(left))
        return left


class KafkaOutputTopic:
    """One topic of a cluster. Its producer is given up with the first delivery that fails."""

    def __init__(self, client: ClientConfig, topic: str):
        self._client = client
        self._topic = topic
        self._admin = connect_admin(client)
        self._producer: Producer | None = None

    def end_offsets(self) -> Offsets:
        return latest_offsets(self._admin, partitions_of(self._admin, [self._topic]))

    def written_since(self, begin: Offsets, query: str, batch: int) -> Counter[Content]:
        client = self._client | {"isolation.level": "read_uncommitted"}
        return Counter(
            (message.key(), message.value())
            for wanted in ranges(begin, self.end_offsets())
            for messages in read_range(client, wanted, fail_on_data_loss=False)
            for message in messages
            if is_marked(message.headers(), query, batch)
        )

    def send(self, records: list[OutputRecord], query: str, batch: int) -> str | None:
        producer = self._producer = self._producer or _connect_producer(self._client)
        failures: list[str] = []

        def report(error: KafkaError | None, _message: Message) -> None:
            if error is not None:
                failures.append(error.str())

        try:
            for record in records:
                headers = marked(record, query, batch)
                _enqueue(producer, self._topic, record.value, record.key, headers=headers, on_delivery=report)
        except KafkaException as error:
            failures.append(error.args[0].str())
        producer.flush()
        if failures:
            self._producer = None
        return failures[-1] if failures else None


def _enqueue(producer: Producer, *record: object, **more: object) -> None:
    """Waits while the queue is full; it empties, because every delivery is answered or times out."""
    while True:
        try:
            return producer.produce(*record, **more)
        except BufferError:
            producer.poll(0.5)


def _connect_producer(client: ClientConfig) -> Producer:
    plain = {key: value for key, value in client.items() if key not in ("isolation.level", "group.id")}
    settings = {
        "acks": "all",
        "message.send.max.retries": 0,
        "enable.idempotence": False,
        "message.timeout.ms": DELIVERY_TIMEOUT_MS,
        "socket.timeout.ms": DELIVERY_TIMEOUT_MS,
        "partitioner": "murmur2_random",
        "linger.ms": 5,
        "log.connection.close": False,
    }
    return Producer(plain | settings, logger=logging.getLogger("broker.spark.producer"))

"""Single records of a real cluster: a consumer that is assigned what it reads and commits nothing, and a producer."""

import time
from collections.abc import Iterable, Mapping

from confluent_kafka import (
    TIMESTAMP_LOG_APPEND_TIME,
    TIMESTAMP_NOT_AVAILABLE,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)

from console.gateway.client import ClusterClient
from console.gateway.errors import ClusterUnreachableError, error_from_kafka
from console.gateway.own_requests import LibraryStatistics, own_requests, statistics
from console.gateway.record_views import Headers, RecordView

#: What one reader holds of records not yet asked for; a tail that is paused stays at this.
QUEUED_KILOBYTES_MAX = 4_096
FETCH_BYTES_MAX = 4 * 1024 * 1024
PRODUCE_TIMEOUT_SECONDS = 10.0
#: How often a reader tells of its requests: what it tells is long where it has many partitions, and what is told while
#: it is paused waits.
STATISTICS_MS, STATISTICS_MS_PER_PARTITION = 500, 50
#: Named in the protocol, never joined and never committed to: the library wants one.
READER_GROUP = "barnabas-console-reader"


class KafkaRecordStream:
    """A RecordStream over a consumer of its own. Raises GatewayError when the cluster says no."""

    def __init__(self, client: ClusterClient, topic: str, starts: Mapping[int, int], committed_only: bool):
        self._topic = topic
        self._positions = dict(starts)
        self._requests, self._untold_bytes = own_requests(), 0
        told = statistics(STATISTICS_MS + STATISTICS_MS_PER_PARTITION * len(starts))
        self._statistics: LibraryStatistics | None = told.get("stats_cb")
        self._consumer = Consumer(
            client.settings(
                {
                    "client.id": "barnabas-console-reader",
                    "group.id": READER_GROUP,
                    "enable.auto.commit": False,
                    "enable.auto.offset.store": False,
                    "enable.partition.eof": True,
                    "auto.offset.reset": "earliest",
                    "isolation.level": "read_committed" if committed_only else "read_uncommitted",
                    "queued.max.messages.kbytes": QUEUED_KILOBYTES_MAX,
                    # By default it rests for a second whenever so much is waiting: a search would, after each of them.
                    "fetch.queue.backoff.ms": 10,
                    "fetch.max.bytes": FETCH_BYTES_MAX,
                    "fetch.wait.max.ms": 100,
                    "allow.auto.create.topics": False,
                    "log_level": 0,
                    **told,
                }
            )
        )
        self._consumer.assign([TopicPartition(topic, partition, offset) for partition, offset in starts.items()])

    @property
    def positions(self) -> Mapping[int, int]:
        return self._positions

    def read(self, timeout_seconds: float, records_max: int) -> list[RecordView]:
        try:
            messages = self._consumer.consume(records_max, timeout_seconds)
        except KafkaException as error:
            raise error_from_kafka(error.args[0]) from error
        records = []
        for message in messages:
            error = message.error()
            if error is not None and error.code() != KafkaError._PARTITION_EOF:
                self._refuse_unless_passing(error)
            elif message.partition() in self._positions:
                if error is None:
                    records.append(view_of(message))
                    self._untold_bytes += len(message)
                following = message.offset() + (error is None)
                self._positions[message.partition()] = max(self._positions[message.partition()], following)
        return records

    def drop(self, partition: int) -> None:
        self._consumer.incremental_unassign([TopicPartition(self._topic, partition)])

    def close(self) -> None:
        self._consumer.close()
        if self._statistics is None or not self._statistics.has_told:
            self._requests.told_nothing("Fetch", 1, self._untold_bytes)

    @staticmethod
    def _refuse_unless_passing(error: KafkaError) -> None:
        """The library goes on by itself after a broker it lost; reading then takes longer, and budgets are for that."""
        if not error.retriable() and error.code() not in (KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN):
            raise error_from_kafka(error)


def view_of(message: Message) -> RecordView:
    kind, at_ms = message.timestamp()
    return RecordView(
        partition=message.partition(),
        offset=message.offset(),
        at_ms=None if kind == TIMESTAMP_NOT_AVAILABLE else at_ms,
        key=message.key(),
        value=message.value(),
        headers=tuple(message.headers() or ()),
        is_append_time=kind == TIMESTAMP_LOG_APPEND_TIME,
    )


def produce(
    client: ClusterClient, topic: str, partition: int | None, key: bytes | None, value: bytes | None, headers: Headers
) -> tuple[int, int]:
    """Append one record, acknowledged by every replica in sync; its partition and offset. Raises GatewayError."""
    producer = Producer(
        client.settings(
            {
                "client.id": "barnabas-console",
                "acks": "all",
                "enable.idempotence": True,
                "partitioner": "murmur2_random",
                "message.timeout.ms": int(PRODUCE_TIMEOUT_SECONDS * 1000),
                "allow.auto.create.topics": False,
                "log_level": 0,
            }
        )
    )
    answers: list[tuple[KafkaError | None, Message]] = []
    chosen = {} if partition is None else {"partition": partition}
    try:
        producer.produce(
            topic,
            value=value,
            key=key,
            headers=list(headers),
            on_delivery=lambda error, message: answers.append((error, message)),
            **chosen,
        )
    except KafkaException as error:
        raise error_from_kafka(error.args[0]) from error
    _await_answer(producer, answers)
    error, message = answers[0]
    own_requests().told_nothing("Produce", 1, 0, len(key or b"") + len(value or b""))
    if error is not None:
        raise error_from_kafka(error)
    return message.partition(), message.offset()


def _await_answer(producer: Producer, answers: Iterable) -> None:
    until = time.monotonic() + PRODUCE_TIMEOUT_SECONDS + 1
    while not answers:
        if time.monotonic() > until:
            raise ClusterUnreachableError("No broker answered in time. The record may have been written nevertheless.")
        producer.poll(0.1)

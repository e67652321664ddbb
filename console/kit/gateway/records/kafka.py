"""Single records of a real cluster: a reader that commits nothing and joins no group, and a producer."""

import time
from collections.abc import Iterable, Mapping

from confluent_kafka import (
    KafkaError,
    KafkaException,
    Message,
    Producer,
)

from broker.client.errors import BrokerUnreachable
from broker.client.record_reader import LeftOutBatch, RecordReader
from broker.common.errors import ApiError, BarnabasError
from broker.common.types import IsolationLevel, TopicPartition
from console.kit.gateway.connection.client import ClusterClient
from console.kit.gateway.connection.own_requests import own_requests
from console.kit.gateway.errors import ClusterUnreachableError, GatewayError, error_from_kafka, refusal, unanswered
from console.kit.gateway.records.interface import Headers, RecordView

#: What all leaders together send a reader at once; a batch that is larger comes as a whole.
FETCH_BYTES_MAX = 4 * 1024 * 1024
#: One batch of a reader at a time is unpacked; sixteen people read at once (`reader_slots.py`).
UNPACKED_BYTES_MAX = 16 * 1024 * 1024
FETCH_WAIT_MS = 100
REQUEST_TIMEOUT_SECONDS = 10.0
PRODUCE_TIMEOUT_SECONDS = 10.0
#: RD_KAFKA_PARTITION_UA: the partitioner chooses.
_BY_KEY = -1
#: Batches that were left out and are named; of more there is their number.
LEFT_OUT_TOLD_MAX = 5


class KafkaRecordStream:
    """A RecordStream over our own client: librdkafka's would unpack a batch of 1 MB to 1 GB. Raises GatewayError when
    the cluster says no."""

    def __init__(self, client: ClusterClient, topic: str, starts: Mapping[int, int], committed_only: bool):
        self._cluster = client.cluster(REQUEST_TIMEOUT_SECONDS)
        self._reader = RecordReader(
            self._cluster,
            {TopicPartition(topic, partition): offset for partition, offset in starts.items()},
            IsolationLevel.READ_COMMITTED if committed_only else IsolationLevel.READ_UNCOMMITTED,
            fetch_bytes=FETCH_BYTES_MAX,
            fetch_wait_ms=FETCH_WAIT_MS,
            unpacked_bytes_max=UNPACKED_BYTES_MAX,
            turn=lambda address: client.turn(address, REQUEST_TIMEOUT_SECONDS),
        )
        self._topic = topic
        self._left_out: list[LeftOutBatch] = []
        self._left_out_count = 0

    @property
    def positions(self) -> Mapping[int, int]:
        return {at.partition: offset for at, offset in self._reader.positions.items()}

    @property
    def note(self) -> str:
        """The batches that were left out, and why; empty if none was."""
        if not self._left_out:
            return ""
        more = self._left_out_count - len(self._left_out)
        named = [_described(item) for item in self._left_out] + ([f"{more} batches more"] if more else [])
        return f"Left out: {'; '.join(named)}."

    def read(self, timeout_seconds: float, records_max: int) -> list[RecordView]:
        try:
            runs = self._reader.read(timeout_seconds, records_max)
        except ApiError as error:
            raise refusal(error.code, error.message or "") from error
        except BrokerUnreachable as error:
            raise unanswered(error) from error
        except BarnabasError as error:
            raise GatewayError(str(error)) from error
        left_out = self._reader.take_left_out()
        self._left_out_count += len(left_out)
        self._left_out += left_out[: LEFT_OUT_TOLD_MAX - len(self._left_out)]
        return [
            RecordView(place.partition, at, None if at_ms < 0 else at_ms, key, value, headers, is_append_time)
            for place, is_append_time, records in runs
            for at, at_ms, key, value, headers in records
        ]

    def drop(self, partition: int) -> None:
        self._reader.drop(TopicPartition(self._topic, partition))

    def close(self) -> None:
        self._reader.close()
        self._cluster.close()


def _described(batch: LeftOutBatch) -> str:
    span = f"offset {batch.first:,}" if batch.first == batch.last else f"offsets {batch.first:,} to {batch.last:,}"
    return f"partition {batch.partition.partition}, {span} ({batch.reason})"


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
    try:
        producer.produce(
            topic,
            value=value,
            key=key,
            partition=_BY_KEY if partition is None else partition,
            headers=list(headers),
            on_delivery=lambda error, message: answers.append((error, message)),
        )
    except KafkaException as error:
        raise error_from_kafka(error.args[0]) from error
    _await_answer(producer, answers)
    refused, message = answers[0]
    own_requests().told_nothing("Produce", 1, 0, len(key or b"") + len(value or b""))
    if refused is not None:
        raise error_from_kafka(refused)
    chosen, offset = message.partition(), message.offset()
    if chosen is None or offset is None:
        raise GatewayError("The record was acknowledged, but no broker named its offset.")
    return chosen, offset


def _await_answer(producer: Producer, answers: Iterable[object]) -> None:
    until = time.monotonic() + PRODUCE_TIMEOUT_SECONDS + 1
    while not answers:
        if time.monotonic() > until:
            raise ClusterUnreachableError("No broker answered in time. The record may have been written nevertheless.")
        producer.poll(0.1)

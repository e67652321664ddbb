"""One partition read to its end in this process, without Spark: by the source, and by librdkafka in two ways."""

import time
from collections.abc import Callable
from typing import NamedTuple

import pyarrow as pa
from confluent_kafka import Consumer, Message
from confluent_kafka import TopicPartition as ConsumerPosition

from broker.common.types import TopicPartition
from broker.spark.client_settings import read_source_settings
from broker.spark.offsets import OffsetRange
from broker.spark.range_reader import read_range

_MESSAGES_PER_CALL = 10_000


class Reading(NamedTuple):
    """Rows per second of wall time, and per second of this process's processor time."""

    rows: int
    per_second: float
    per_cpu_second: float


def by_source(servers: str, topic: str, count: int) -> int:
    client = read_source_settings({"kafka.bootstrap.servers": servers})
    wanted = OffsetRange(TopicPartition(topic, 0), 0, count)
    return sum(batch.num_rows for batch in read_range(client, wanted))


def by_consume(servers: str, topic: str, count: int) -> int:
    """Messages as librdkafka hands them to Python, not looked at."""
    return sum(map(len, _consumed(servers, topic, count)))


def by_consume_into_arrow(servers: str, topic: str, count: int) -> int:
    """The same rows as the source's, made of messages one by one."""
    return sum(_to_arrow(messages).num_rows for messages in _consumed(servers, topic, count))


READERS: dict[str, Callable[[str, str, int], int]] = {
    "source, to Arrow": by_source,
    "consume(), to nothing": by_consume,
    "consume(), to Arrow": by_consume_into_arrow,
}


def measure(read: Callable[[str, str, int], int], servers: str, topic: str, count: int) -> Reading:
    wall, cpu = time.perf_counter(), time.process_time()
    rows = read(servers, topic, count)
    assert rows == count, f"{rows} of {count} rows"
    return Reading(rows, rows / (time.perf_counter() - wall), rows / (time.process_time() - cpu))


def _consumed(servers: str, topic: str, count: int):
    consumer = Consumer(
        {"bootstrap.servers": servers, "group.id": "bench", "fetch.max.bytes": 4 << 20, "fetch.wait.max.ms": 100}
    )
    consumer.assign([ConsumerPosition(topic, 0, 0)])
    consumed = 0
    try:
        while consumed < count:
            messages = consumer.consume(_MESSAGES_PER_CALL, 0.5)
            consumed += len(messages)
            yield messages
    finally:
        consumer.close()


def _to_arrow(messages: list[Message]) -> pa.RecordBatch:
    stamps = [message.timestamp() for message in messages]
    columns = {
        "key": pa.array([message.key() for message in messages], pa.binary()),
        "value": pa.array([message.value() for message in messages], pa.binary()),
        "topic": pa.array([message.topic() for message in messages], pa.string()),
        "partition": pa.array([message.partition() for message in messages], pa.int32()),
        "offset": pa.array([message.offset() for message in messages], pa.int64()),
        "timestamp": pa.array([at_ms * 1000 for _, at_ms in stamps], pa.timestamp("us", tz="UTC")),
        "timestampType": pa.array([kind - 1 for kind, _ in stamps], pa.int32()),
    }
    return pa.record_batch(columns)

"""What the source reads is what librdkafka's consumer reads, whatever was written and however."""

import itertools

import pytest
from confluent_kafka import TIMESTAMP_LOG_APPEND_TIME, Consumer, Message, Producer
from confluent_kafka import TopicPartition as ConsumerPosition
from confluent_kafka.admin import AdminClient, NewTopic
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from broker.common.types import TopicPartition
from broker.spark.client_settings import read_source_settings
from broker.spark.offsets import OffsetRange
from broker.spark.range_reader import read_range
from tests.barnabas_cluster import running_cluster
from tests.examples import examples

_names = (f"written-{number}" for number in itertools.count())

some_bytes = st.none() | st.binary(max_size=40) | st.integers(100, 3_000).map(bytes)
record = st.tuples(
    some_bytes, some_bytes, st.lists(st.tuples(st.text(max_size=4), st.none() | st.binary(max_size=4)), max_size=2)
)
#: Records sent as one, the codec, and how it ends: outside a transaction, committed or aborted.
portion = st.tuples(
    st.lists(record, min_size=1, max_size=40),
    st.sampled_from(["none", "gzip", "snappy", "lz4", "zstd"]),
    st.sampled_from(["plain", "plain", "committed", "aborted"]),
)


@pytest.fixture(scope="module")
def bootstrap_servers(tmp_path_factory, zookeeper):
    with running_cluster(tmp_path_factory.mktemp("cluster"), zookeeper=zookeeper) as cluster:
        yield cluster.bootstrap_servers


def write(bootstrap_servers: str, topic: str, portions) -> None:
    for number, (records, codec, end) in enumerate(portions):
        transaction = {} if end == "plain" else {"transactional.id": f"{topic}-{number}"}
        producer = Producer(
            {"bootstrap.servers": bootstrap_servers, "compression.type": codec, "linger.ms": 20, "log_level": 2}
            | transaction
        )
        if transaction:
            producer.init_transactions(20)
            producer.begin_transaction()
        for key, value, headers in records:
            producer.produce(topic, value, key, partition=0, headers=headers)
        assert producer.flush(20) == 0
        if end == "committed":
            producer.commit_transaction(20)
        elif end == "aborted":
            producer.abort_transaction(20)


def consumed(bootstrap_servers: str, topic: str, isolation: str) -> tuple[list[Message], int]:
    """Every message, and where the partition ends."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap_servers,
            "group.id": "judge",
            "isolation.level": isolation,
            "enable.partition.eof": True,
            "fetch.wait.max.ms": 20,
        }
    )
    consumer.assign([ConsumerPosition(topic, 0, 0)])
    messages = []
    try:
        while (message := consumer.poll(20)).error() is None:
            messages.append(message)
        return messages, message.offset()
    finally:
        consumer.close()


def as_row(message: Message) -> tuple:
    kind, at_ms = message.timestamp()
    kind = int(kind == TIMESTAMP_LOG_APPEND_TIME)
    return message.offset(), message.key(), message.value(), at_ms, kind, message.headers() or []


def rows(bootstrap_servers: str, topic: str, isolation: str, start: int, end: int) -> list[tuple]:
    options = {"kafka.bootstrap.servers": bootstrap_servers, "kafka.isolation.level": isolation}
    wanted = OffsetRange(TopicPartition(topic, 0), start, end)
    rows = []
    for batch in read_range(read_source_settings(options), wanted, with_headers=True):
        stamps = batch["timestamp"].cast("int64").to_pylist()
        for row, stamp in zip(batch.to_pylist(), stamps, strict=True):
            headers = [(header["key"], header["value"]) for header in row["headers"] or ()]
            rows.append((row["offset"], row["key"], row["value"], stamp // 1000, row["timestampType"], headers))
    return rows


@pytest.mark.timeout(400)
@settings(max_examples=examples(15), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    portions=st.lists(portion, min_size=1, max_size=5),
    append_time=st.booleans(),
    cut=st.tuples(st.integers(0, 200), st.integers(0, 200)),
)
def test_source_reads_what_a_consumer_reads(bootstrap_servers, portions, append_time, cut):
    topic = next(_names)
    config = {"message.timestamp.type": "LogAppendTime"} if append_time else {}
    admin = AdminClient({"bootstrap.servers": bootstrap_servers})
    admin.create_topics([NewTopic(topic, 1, config=config)])[topic].result(20)
    write(bootstrap_servers, topic, portions)
    for isolation in ("read_committed", "read_uncommitted"):
        messages, end = consumed(bootstrap_servers, topic, isolation)
        expected = [as_row(message) for message in messages]
        assert rows(bootstrap_servers, topic, isolation, 0, end) == expected
        first, last = sorted(edge % (end + 1) for edge in cut)
        part = [row for row in expected if first <= row[0] < last]
        assert rows(bootstrap_servers, topic, isolation, first, last) == part

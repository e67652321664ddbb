"""Retention, compaction and DeleteRecords as a client sees them, with the broker's chores running fast."""

import time
from contextlib import suppress

import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from tests.barnabas_cluster import await_true
from tests.interop.test_confluent_kafka import consumer, drain

DAY_MS = 86_400_000


@pytest.fixture(scope="module")
def cluster(with_quick_chores):
    return with_quick_chores


@pytest.fixture
def admin(cluster):
    return AdminClient({"bootstrap.servers": cluster.bootstrap_servers})


def create(admin, name, **config):
    configs = {key.replace("_", "."): str(value) for key, value in config.items()}
    admin.create_topics([NewTopic(name, 1, 1, config=configs)])[name].result(30)


def produce(cluster, name, records, timestamp_ms=None):
    """One batch for each record, so that small segments fill one by one."""
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "batch.num.messages": 1, "linger.ms": 0})
    for key, value in records:
        producer.produce(name, value, key, timestamp=timestamp_ms or int(time.time() * 1000))
    assert producer.flush(30) == 0


def first_offset(cluster, name) -> int:
    reader = consumer(cluster)
    low, _ = reader.get_watermark_offsets(TopicPartition(name, 0), timeout=10)
    reader.close()
    return low


def files(cluster, name, pattern="*.log"):
    return sorted((cluster.broker(1).directory / "logs" / f"{name}-0").glob(pattern))


def size_bytes(cluster, name) -> int:
    """Of a log whose files may go while they are looked at."""
    total = 0
    for path in files(cluster, name):
        with suppress(FileNotFoundError):
            total += path.stat().st_size
    return total


def test_a_topic_nobody_writes_to_becomes_empty(cluster, name, admin):
    create(admin, name, segment_bytes=1_000, retention_ms=DAY_MS, file_delete_delay_ms=0)
    old_ms = int(time.time() * 1000) - 3 * DAY_MS
    produce(cluster, name, [(b"k", b"x" * 300)] * 30, old_ms)
    await_true(lambda: first_offset(cluster, name) == 30, "every record gone")
    await_true(lambda: not files(cluster, name, "*.deleted"), "deleted files gone")
    assert [path.stat().st_size for path in files(cluster, name)] == [0]
    produce(cluster, name, [(b"k", b"young")])
    assert read_all(cluster, name) == [(b"k", b"young")]
    assert first_offset(cluster, name) == 30


def test_a_partition_is_kept_below_retention_bytes(cluster, name, admin):
    create(admin, name, segment_bytes=1_000, retention_bytes=5_000, file_delete_delay_ms=0)
    produce(cluster, name, [(b"k", b"x" * 300)] * 60)
    await_true(lambda: size_bytes(cluster, name) <= 6_000, "size bounded")
    assert first_offset(cluster, name) > 30


def test_retention_follows_a_changed_configuration(cluster, name, admin):
    from tests.interop.test_administration import change

    create(admin, name, segment_bytes=1_000, file_delete_delay_ms=0)
    produce(cluster, name, [(b"k", b"x" * 300)] * 30, int(time.time() * 1000) - 3 * DAY_MS)
    assert first_offset(cluster, name) == 0
    change(admin, name, "retention.ms", "1000")
    await_true(lambda: first_offset(cluster, name) > 0, "old segments deleted")


def test_a_compacted_topic_keeps_the_last_value_of_each_key(cluster, name, admin):
    create(
        admin,
        name,
        cleanup_policy="compact",
        segment_bytes=1_000,
        min_cleanable_dirty_ratio=0.01,
        file_delete_delay_ms=0,
    )
    records = [(f"key-{number % 5}".encode(), f"value-{number}".encode() + b"." * 200) for number in range(100)]
    produce(cluster, name, records)
    before = 100 * 270
    await_true(lambda: size_bytes(cluster, name) < before / 3, "log compacted")
    latest = read_all(cluster, name)
    assert dict(latest) == dict(records)
    assert len(latest) < 40


def read_all(cluster, name):
    reader: Consumer = consumer(cluster)
    reader.assign([TopicPartition(name, 0, OFFSET_BEGINNING)])
    collected, silent_since = [], time.monotonic()
    while time.monotonic() - silent_since < 2:
        message = reader.poll(0.2)
        if message is not None and message.error() is None:
            collected.append((message.key(), message.value()))
            silent_since = time.monotonic()
    reader.close()
    return collected


def test_deleted_records_are_not_read_again(cluster, name, admin):
    create(admin, name)
    produce(cluster, name, [(b"k", str(number).encode()) for number in range(50)])
    partition = TopicPartition(name, 0, 20)
    assert admin.delete_records([partition])[partition].result(30).low_watermark == 20
    reader = consumer(cluster)
    reader.assign([TopicPartition(name, 0, OFFSET_BEGINNING)])
    assert [offset for _, offset, _ in drain(reader, 30)] == list(range(20, 50))
    reader.close()

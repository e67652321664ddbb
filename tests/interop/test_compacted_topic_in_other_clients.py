"""A compacted topic, most of whose segments have lost all records, read by clients that stand still, or begin anew,
where a fetch is answered with batches without records alone: kafkajs and segmentio/kafka-go.

Both are installed from their registries into the test's own directory; without node or go, or without the registry, a
test is skipped.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from broker.log.compaction.rebuild import end_mark
from broker.records.batch import parse_batch_header
from broker.records.builder import build_batch
from broker.records.record import Record
from tests.barnabas_cluster import await_true

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]

TOPIC = "compacted"
_RECORDS, _KEYS, _VALUE_BYTES = 6_000, 20, 1_000
_CLEANED_WITHIN_S = 120
_READ_WITHIN_S = 40
_HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def cluster(with_quick_chores):
    return with_quick_chores


def segments(cluster) -> list[Path]:
    return sorted((cluster.brokers[0].directory / "logs" / f"{TOPIC}-0").glob("*.log"))


def is_cleaned(cluster) -> bool:
    """Whether little more than the last record of each key is left before the active segment."""
    *sealed, active = segments(cluster)
    left_bytes = sum(path.stat().st_size for path in sealed)
    return int(active.stem) > _RECORDS // 2 and left_bytes < 3 * _KEYS * _VALUE_BYTES


@pytest.fixture(scope="module")
def topic(cluster):
    """Written and cleaned: the offsets of the records that are left."""
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    config = {"cleanup.policy": "compact", "segment.bytes": "1048576", "min.cleanable.dirty.ratio": "0.01"}
    admin.create_topics([NewTopic(TOPIC, 1, 1, config=config)])[TOPIC].result(30)
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "linger.ms": 5})
    for number in range(_RECORDS):
        producer.produce(TOPIC, os.urandom(_VALUE_BYTES), b"k%d" % (number % _KEYS))
        producer.poll(0)
        if not number % 500:
            producer.flush()
    producer.flush()
    await_true(lambda: is_cleaned(cluster), "the topic is cleaned", _CLEANED_WITHIN_S)
    return left(cluster)


def left(cluster) -> list[int]:
    """By a client that goes on from any batch."""
    consumer = Consumer({"bootstrap.servers": cluster.bootstrap_servers, "group.id": "left"})
    consumer.assign([TopicPartition(TOPIC, 0, OFFSET_BEGINNING)])
    offsets = []
    while not offsets or offsets[-1] < _RECORDS - 1:
        message = consumer.poll(_READ_WITHIN_S)
        assert message is not None, f"nothing comes behind {offsets[-1:]}"
        offsets.append(message.offset())
    consumer.close()
    return offsets


@pytest.fixture(scope="module")
def kafkajs(tmp_path_factory):
    directory = tmp_path_factory.mktemp("kafkajs")
    run_or_skip("node", ["npm", "install", "--no-fund", "--no-audit", "kafkajs@2.2.4"], directory)
    shutil.copy(_HERE / "javascript" / "read_all.js", directory)
    return ["node", str(directory / "read_all.js")]


@pytest.fixture(scope="module")
def kafka_go(tmp_path_factory):
    directory = tmp_path_factory.mktemp("kafka-go")
    shutil.copy(_HERE / "go" / "read_all.go", directory)
    for command in (
        ["go", "mod", "init", "readall"],
        ["go", "get", "github.com/segmentio/kafka-go@v0.4.47"],
        ["go", "build", "-o", "read_all", "."],
    ):
        run_or_skip("go", command, directory)
    return [str(directory / "read_all")]


def run_or_skip(needed: str, command: list[str], directory: Path) -> None:
    if shutil.which(needed) is None:
        pytest.skip(f"{needed} is not installed")
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode:
        pytest.skip(f"{' '.join(command)} failed: {done.stderr.strip()[-200:]}")


@pytest.fixture(params=["kafkajs", "kafka_go"])
def reader(request):
    return request.getfixturevalue(request.param)


def read_by(reader: list[str], cluster, wanted: int) -> list[int]:
    arguments = [cluster.bootstrap_servers, TOPIC, str(wanted), str(_READ_WITHIN_S)]
    done = subprocess.run([*reader, *arguments], capture_output=True, text=True, timeout=120, check=True)
    return json.loads(done.stdout)


def test_a_cleaned_topic_is_read_whole(cluster, topic, reader):
    offsets = left(cluster)
    assert read_by(reader, cluster, len(offsets)) == offsets


def test_a_topic_with_the_end_marks_of_an_earlier_version_is_read_whole(cluster, topic, reader):
    """A segment without records was left with one batch that said how far it reaches."""
    cluster.stop_brokers()
    begin_with_end_mark(segments(cluster)[0])
    for broker in cluster.brokers:
        broker.start()
        broker.await_healthy()
    offsets = left(cluster)
    assert offsets == topic
    assert read_by(reader, cluster, len(offsets)) == offsets


def begin_with_end_mark(first: Path) -> None:
    """Let the log begin with a segment that holds nothing but an end mark, if it does not do so yet."""
    following = min(path for path in first.parent.glob("*.log") if path.stat().st_size)
    header = parse_batch_header(following.read_bytes())
    if not header.records_count:
        return
    assert header.base_offset, "the first record is superseded"
    if following == first:
        first.rename(first.with_stem(f"{header.base_offset:020d}"))
        for index in first.parent.glob(f"{first.stem}.*"):
            index.unlink()
    first.write_bytes(mark(int(first.stem), header.base_offset))


def mark(base_offset: int, next_offset: int) -> bytes:
    batch = build_batch([Record(0, 1_000, b"k", b"v")])
    header = parse_batch_header(batch)._replace(
        base_offset=base_offset, last_offset_delta=next_offset - base_offset - 1
    )
    return end_mark(header)

"""`retention-preview` on a real cluster: what it tells is what then happens; other clients are not disturbed by it."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from tests.barnabas_cluster import await_true, running_cluster
from tests.interop.test_administration import change
from tests.interop.test_retention import files, first_offset

ROOT = Path(__file__).parents[2]
DAY_MS = 86_400_000
RARE = {"log.retention.check.interval.ms": "500", "log.initial.task.delay.ms": "100", "log.cleaner.backoff.ms": "200"}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory, zookeeper):
    with running_cluster(tmp_path_factory.mktemp("preview"), overrides=RARE, zookeeper=zookeeper) as running:
        yield running


@pytest.fixture
def topic(cluster, name):
    """40 records of three days ago, some to a segment, that are kept for ever."""
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    config = {"segment.bytes": "1000", "retention.ms": "-1", "file.delete.delay.ms": "0"}
    admin.create_topics([NewTopic(name, 1, 1, config=config)])[name].result(30)
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "batch.num.messages": 1, "linger.ms": 0})
    old_ms = int(time.time() * 1000) - 3 * DAY_MS
    for number in range(40):
        producer.produce(name, b"x" * 200, b"k%d" % (number % 4), timestamp=old_ms + number)
    assert producer.flush(30) == 0
    return name


def run(cluster, *arguments: str) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "broker", "retention-preview", "--bootstrap-server", cluster.bootstrap_servers]
    command += ["--zookeeper", cluster.zookeeper.connect]
    return subprocess.run([*command, *arguments], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)


def preview(cluster, topic, *configs: str) -> dict:
    arguments = [part for config in configs for part in ("--config", config)]
    done = run(cluster, "--topic", topic, "--json", *arguments)
    assert done.returncode == 0, done.stderr
    (partition,) = json.loads(done.stdout)["partitions"]
    return partition


def test_what_is_told_is_what_then_goes(cluster, topic):
    assert preview(cluster, topic)["deleted_records"] == 0
    forecast = preview(cluster, topic, "retention.bytes=4000")
    assert 0 < forecast["new_log_start_offset"] < 40
    assert forecast["deleted_records"] == forecast["new_log_start_offset"]
    assert first_offset(cluster, topic) == 0, "nothing goes by asking"
    size_before = sum(path.stat().st_size for path in files(cluster, topic))
    change(AdminClient({"bootstrap.servers": cluster.bootstrap_servers}), topic, "retention.bytes", "4000")
    await_true(lambda: first_offset(cluster, topic) == forecast["new_log_start_offset"], "as much goes as was told")
    await_true(
        lambda: sum(path.stat().st_size for path in files(cluster, topic)) == size_before - forecast["deleted_bytes"],
        "as many bytes freed as were told",
    )


def size_of(cluster, topic) -> int | None:
    """None while files go."""
    try:
        return sum(path.stat().st_size for path in files(cluster, topic))
    except FileNotFoundError:
        return None


def test_compaction_is_told_as_it_then_happens(cluster, topic):
    compaction = preview(cluster, topic, "cleanup.policy=compact", "min.cleanable.dirty.ratio=0.01")["compaction"]
    assert compaction["is_due"]
    assert compaction["records_kept"] == 4
    left = sum(path.stat().st_size for path in files(cluster, topic)) - compaction["bytes_before"]
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    change(admin, topic, "min.cleanable.dirty.ratio", "0.01")
    change(admin, topic, "cleanup.policy", "compact")
    await_true(
        lambda: size_of(cluster, topic) == left + compaction["bytes_after"],
        "compacted to what was told",
    )


def test_a_person_reads_a_table(cluster, topic):
    done = run(cluster, "--topic", topic, "--config", "retention.ms=1000", "--segments")
    assert done.returncode == 0, done.stderr
    assert "retention.ms 1000 (1 s)" in done.stdout
    assert "0 -> 40" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--topic", "missing"), "there is no topic 'missing'"),
        (
            ("--topic", "{topic}", "--config", "retention.ms=soon"),
            "Invalid value soon for configuration retention.ms: Not a number of type LONG",
        ),
    ],
)
def test_what_cannot_be_asked_is_one_sentence(cluster, topic, arguments, words):
    done = run(cluster, *(argument.format(topic=topic) for argument in arguments))
    assert (done.returncode, done.stdout) == (78, "")
    assert done.stderr.startswith("retention-preview: ")
    assert words in done.stderr

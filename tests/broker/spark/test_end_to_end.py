"""Jobs over real brokers: a real text and an access log counted as `sort | uniq -c` counts them, and more."""

import contextlib
import json
import random
import subprocess
from pathlib import Path

import pytest
from confluent_kafka import Producer

from broker.spark.config import read_stream_config
from broker.spark.job import make_topics
from broker.spark.query import NothingToRead, start_query
from tests.barnabas_cluster import await_true, running_cluster
from tests.broker.connect.mock_cluster import all_records, produce_all
from tests.broker.spark.driver import write_config
from tests.broker.spark.table_of import table_of

pytestmark = [pytest.mark.long, pytest.mark.spark, pytest.mark.timeout(600)]
LICENCE = Path("/usr/share/common-licenses/GPL-3")
_DEADLINE_S = 240


@pytest.fixture(scope="module")
def cluster(tmp_path_factory, zookeeper):
    with running_cluster(tmp_path_factory.mktemp("cluster"), zookeeper=zookeeper) as cluster:
        yield cluster


@pytest.fixture
def start_job(spark, cluster, tmp_path):
    """The query of a job as its driver starts it, in the session that all tests share."""
    started = []

    def start(job: str, **settings: str) -> None:
        config = read_stream_config(
            write_config(tmp_path / job, job, cluster.bootstrap_servers, **settings).read_text()
        )
        make_topics(config)
        started.append(start_query(spark, config))

    yield start
    for query in started:
        failure = query.exception()
        query.stop()
        assert failure is None


def counted_by_uniq(command: str, text: bytes) -> dict[str, int]:
    """What a shell counts: `command` makes one line of each thing that is counted."""
    shell = f"{command} | LC_ALL=C sort | uniq -c"
    lines = (
        subprocess.run(["sh", "-c", shell], input=text, capture_output=True, check=True).stdout.decode().splitlines()
    )
    return {key: int(count) for count, _, key in (line.strip().partition(" ") for line in lines)}


def counts_of(cluster, topic: str) -> dict[str, int]:
    return {key: value["count"] for key, value in table_of(cluster.bootstrap_servers, topic).items()}


@pytest.mark.skipif(not LICENCE.exists(), reason=f"there is no {LICENCE}: not a Debian")
def test_words_of_a_real_text_are_counted_as_a_shell_counts_them(cluster, start_job):
    text = LICENCE.read_bytes()
    truth = counted_by_uniq("tr -s '[:space:]' '\\n' | grep .", text)
    produce_all(cluster.bootstrap_servers, "licence", text.splitlines())
    start_job("count_table", input_topic="licence", output_topic="licence.words", count="words")
    total = sum(truth.values())
    await_true(lambda: sum(counts_of(cluster, "licence.words").values()) >= total, "every word counted", _DEADLINE_S)
    assert counts_of(cluster, "licence.words") == truth


def access_log(lines: int) -> bytes:
    """As a web server writes it."""
    chosen = random.Random(11)
    written = [
        f"10.0.0.{chosen.randrange(40)} - - [21/Nov/2026:10:{chosen.randrange(60):02}:{chosen.randrange(60):02} +0000] "
        f'"GET /page/{int(chosen.paretovariate(1.2))} HTTP/1.1" {chosen.choice([200, 200, 304, 404])} 512'
        for _ in range(lines)
    ]
    return "\n".join(written).encode()


def test_access_log_is_counted_as_a_shell_counts_it(cluster, start_job):
    log = access_log(20_000)
    truth = counted_by_uniq("awk '{print $7 \"|\" $9}'", log)
    produce_all(cluster.bootstrap_servers, "access", log.splitlines())
    fields = 'path:/"[A-Z]+ ([^ ]+) /, status:/" ([0-9]+) /'
    start_job("count_table", input_topic="access", output_topic="access.table", group_by=fields)
    await_true(lambda: sum(counts_of(cluster, "access.table").values()) >= 20_000, "every line counted", _DEADLINE_S)
    assert counts_of(cluster, "access.table") == truth


def test_unsound_records_come_apart_and_sound_ones_become_files_and_a_topic_again(cluster, start_job, tmp_path):
    orders = [{"id": number, "amount": number % 7 - 1} for number in range(700)]
    produce_all(cluster.bootstrap_servers, "orders", [*(json.dumps(order).encode() for order in orders), b"no json"])
    topics = {"input_topic": "orders", "output_topic": "sound", "dead_letter_topic": "dead"}
    start_job("quality_filter", **topics, rules="$.amount >= 0; $.id is present")
    files = {"files_dir": str(tmp_path / "files"), "path": "kept/orders"}
    start_job("topic_to_parquet", input_topic="sound", **files)
    sound = [order for order in orders if order["amount"] >= 0]

    def reads_files() -> bool:
        with contextlib.suppress(NothingToRead):
            start_job("parquet_to_topic", output_topic="again", **files)
            return True
        return False

    await_true(reads_files, "records are in files", _DEADLINE_S)
    await_true(lambda: len(all_records(cluster.bootstrap_servers, "again")) >= len(sound), "all again", _DEADLINE_S)

    values = [json.loads(record.value()) for record in all_records(cluster.bootstrap_servers, "again")]
    assert sorted(value["id"] for value in values) == [order["id"] for order in sound]
    dead = all_records(cluster.bootstrap_servers, "dead")
    reasons = [dict(record.headers())["barnabas.dead.reason"].decode() for record in dead]
    assert len(dead) == 101
    assert reasons.count("$.amount >= 0; $.id is present") == 1


def test_one_record_without_a_time_costs_a_replay_no_window(cluster, start_job):
    """Records of long ago, read now: 500 seconds of them, of which the last 60 wait for the watermark."""
    records = [json.dumps({"k": "a", "t": 1_700_000_000_000 + number * 1_000}).encode() for number in range(500)]
    records.insert(100, b'{"k": "a", "note": "no time"}')
    produce_all(cluster.bootstrap_servers, "replayed", records)
    start_job(
        "windowed_counts",
        input_topic="replayed",
        output_topic="replayed.counts",
        dead_letter_topic="replayed.dead",
        group_by="$.k",
        time_field="$.t",
        window_ms="10000",
        watermark_ms="60000",
        emit="closed",
        max_offsets_per_trigger="100",
    )
    await_true(lambda: len(all_records(cluster.bootstrap_servers, "replayed.counts")) >= 43, "closed", _DEADLINE_S)
    counts = [
        json.loads(record.value())["count"] for record in all_records(cluster.bootstrap_servers, "replayed.counts")
    ]
    assert counts == [10] * 43
    (dead,) = all_records(cluster.bootstrap_servers, "replayed.dead")
    assert dict(dead.headers())["barnabas.dead.record"] == b"replayed-0-100"


def test_orders_find_their_payments(cluster, start_job):
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers})
    for number in range(300):
        producer.produce("bought", json.dumps({"n": number}), key=f"o{number}")
        if number % 3:
            producer.produce("paid", json.dumps({"order": f"o{number}"}), key=f"p{number}")
    assert producer.flush(20) == 0
    sides = {"left_topic": "bought", "right_topic": "paid", "right_key": "$.order", "before_ms": "60000"}
    start_job("stream_join", **sides, output_topic="pairs")
    await_true(lambda: len(all_records(cluster.bootstrap_servers, "pairs")) >= 200, "all pairs", _DEADLINE_S)
    pairs = all_records(cluster.bootstrap_servers, "pairs")
    assert sorted(pair.key() for pair in pairs) == sorted(f"o{number}".encode() for number in range(300) if number % 3)
    first = json.loads(pairs[0].value())
    assert first["right"] == {"order": first["key"]}

"""The documents' worker on a real cluster: lines of a file into a topic and out again, asked over REST."""

from collections import Counter
from pathlib import Path
from urllib.parse import quote

import pytest

from broker.audit.increment import DEAD, FILTERED, AuditTier
from broker.audit.topic import ensure_topic
from tests.audit_ledger import ledger_of, merged
from tests.barnabas_cluster import await_true
from tests.broker.connect.mock_cluster import produce_all
from tests.broker.connect.workers import start_worker

PROVIDERS = {
    "config.providers": "dir",
    "config.providers.dir.class": "org.apache.kafka.common.config.provider.DirectoryConfigProvider",
}


@pytest.fixture
def worker(cluster, tmp_path):
    started = start_worker(
        tmp_path / "worker",
        "standalone",
        {
            "bootstrap.servers": cluster.bootstrap_servers,
            "offset.storage.file.filename": str(tmp_path / "offsets"),
            **PROVIDERS,
        },
    )
    try:
        await_true(started.answers, "REST answers")
        yield started
    finally:
        assert started.stop() == 0
        assert "Traceback" not in started.log.read_text()


def source(tmp_path: Path, topic: str) -> dict[str, str]:
    return {"connector.class": "FileStreamSource", "file": str(tmp_path / "in.txt"), "topic": topic}


def sink(tmp_path: Path, topic: str, **more: str) -> dict[str, str]:
    return {"connector.class": "FileStreamSink", "file": str(tmp_path / "out.txt"), "topics": topic, **more}


def test_lines_of_a_file_arrive_in_another_and_go_on_after_a_pause(worker, tmp_path):
    (tmp_path / "in.txt").write_text("foo\nbar\n")
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    worker.ask("POST", "/connectors", {"name": "in", "config": source(tmp_path, "lines")}, status=415, headers=form)
    made = worker.ask("POST", "/connectors", {"name": "in", "config": source(tmp_path, "lines")}, status=201)
    assert (made["name"], made["type"]) == ("in", "source")
    worker.ask("PUT", "/connectors/out/config", sink(tmp_path, "lines"), status=201)
    out = tmp_path / "out.txt"
    await_true(lambda: out.exists() and out.read_text() == "foo\nbar\n", "both lines")
    await_true(lambda: worker.is_running("in") and worker.is_running("out"), "both run")
    worker.ask("PUT", "/connectors/in/pause", status=202)
    await_true(lambda: worker.task_state("in") == worker.state("in") == "PAUSED", "paused, the connector as its task")
    with (tmp_path / "in.txt").open("a") as file:
        file.write("baz\n")
    worker.ask("PUT", "/connectors/in/resume", status=202)
    await_true(lambda: out.read_text() == "foo\nbar\nbaz\n", "the third line, once")
    await_true(lambda: worker.state("in") == "RUNNING", "runs again")
    assert worker.ask("GET", "/connectors/in/topics") == {"in": {"topics": ["lines"]}}


def test_offsets_are_told_altered_and_reset_while_it_is_stopped(worker, tmp_path):
    (tmp_path / "in.txt").write_text("foo\nbar\n")
    worker.ask("PUT", "/connectors/in2/config", source(tmp_path, "offsets"), status=201)
    await_true(lambda: worker.ask("GET", "/connectors/in2/offsets")["offsets"], "an offset")
    worker.ask("DELETE", "/connectors/in2/offsets", status=400)
    worker.ask("PUT", "/connectors/in2/stop", status=204)
    await_true(lambda: worker.ask("GET", "/connectors/in2/status")["connector"]["state"] == "STOPPED", "stopped")
    (entry,) = worker.ask("GET", "/connectors/in2/offsets", status=200)["offsets"]
    assert entry["offset"]["position"] == 8
    changed = {"offsets": [{"partition": entry["partition"], "offset": {**entry["offset"], "position": 4}}]}
    worker.ask("PATCH", "/connectors/in2/offsets", changed, status=200)
    assert worker.ask("GET", "/connectors/in2/offsets") == changed
    worker.ask("DELETE", "/connectors/in2/offsets", status=200)
    assert worker.ask("GET", "/connectors/in2/offsets") == {"offsets": []}


def test_a_name_in_any_script_is_a_name_and_the_answer_says_where_it_is(worker, tmp_path):
    (tmp_path / "in.txt").write_text("foo\n")
    for name in ("日本 ☃", "../x", "<script>", "é" * 100):
        path = f"/connectors/{quote(name, safe='')}"
        worker.ask("POST", "/connectors", {"name": name, "config": source(tmp_path, "named")}, status=201)
        assert worker.ask("GET", path, status=200)["name"] == name
        worker.ask("DELETE", path, status=204)
        worker.ask("PUT", f"{path}/config", source(tmp_path, "named"), status=201)
        worker.ask("DELETE", path, status=204)


def test_what_no_answer_could_hold_is_taken_by_nothing(worker, tmp_path):
    """Half a character, or a number that is none: kept, it would make an answer of every list it is in impossible."""
    (tmp_path / "in.txt").write_text("foo\n")
    config = source(tmp_path, "halves")
    worker.ask("PUT", "/connectors/half/config", config | {"note": "\ud800"}, status=400)
    worker.ask("POST", "/connectors", {"name": "\ud800", "config": config}, status=400)
    worker.ask("PUT", "/connectors/half/config", config, status=201)
    await_true(lambda: worker.ask("GET", "/connectors/half/offsets")["offsets"], "an offset")
    worker.ask("PUT", "/connectors/half/stop", status=204)
    await_true(lambda: worker.state("half") == "STOPPED", "stopped")
    (entry,) = worker.ask("GET", "/connectors/half/offsets", status=200)["offsets"]
    for value in (float("nan"), float("inf"), "\ud800"):
        wrong = {"offsets": [{"partition": entry["partition"], "offset": {**entry["offset"], "n": value}}]}
        worker.ask("PATCH", "/connectors/half/offsets", wrong, status=400)
    worker.ask("GET", "/connectors/half/offsets", status=200)
    worker.ask("GET", "/connectors?expand=info&expand=status", status=200)


def test_a_poison_record_goes_to_the_dead_letters_with_its_place(worker, cluster, tmp_path):
    from confluent_kafka import Consumer, Producer

    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers})
    for value in (b'{"schema":{"type":"string","optional":false},"payload":"good"}', b"poison"):
        producer.produce("poisoned", value)
    producer.flush(30)
    dead = {
        "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": "dead",
        "errors.deadletterqueue.topic.replication.factor": "1",
        "errors.deadletterqueue.context.headers.enable": "true",
    }
    worker.ask("PUT", "/connectors/poisoned/config", sink(tmp_path, "poisoned", **dead), status=201)
    consumer = Consumer(
        {"bootstrap.servers": cluster.bootstrap_servers, "group.id": "reads-dead", "auto.offset.reset": "earliest"}
    )
    consumer.subscribe(["dead"])
    results = []
    await_true(lambda: results or results.extend(m for m in consumer.consume(1, 0.5) if not m.error()), "a dead letter")
    consumer.close()
    (letter,) = results
    headers = dict(letter.headers())
    assert letter.value() == b"poison"
    assert headers["__connect.errors.stage"] == b"VALUE_CONVERTER"
    assert headers["__connect.errors.offset"] == b"1"
    assert worker.is_running("poisoned")


def test_records_read_together_leave_out_the_poison_among_them_and_report_a_tombstone(worker, cluster, tmp_path):
    import pyarrow.parquet
    from confluent_kafka import Producer

    schema = '{"type":"struct","fields":[{"field":"n","type":"int32"}]}'
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers})
    for n in range(8):
        value = {3: "poison", 5: None}.get(n, f'{{"schema":{schema},"payload":{{"n":{n}}}}}')
        producer.produce("together", value, partition=0)
    producer.flush(30)
    dead = {
        "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": "dead-together",
        "errors.deadletterqueue.topic.replication.factor": "1",
    }
    config = {
        "connector.class": "ObjectSink", "topics": "together", "path": str(tmp_path / "files"), "file.max.records": "2",
        "partition.duration.ms": str(10**13),
    }  # fmt: skip
    worker.ask("PUT", "/connectors/together/config", config | dead, status=201)
    await_true(lambda: len(list(tmp_path.rglob("*.parquet"))) >= 2, "two files; the third waits for another record")
    files = sorted(tmp_path.rglob("*.parquet"))
    assert [pyarrow.parquet.ParquetFile(file).read().to_pydict()["n"] for file in files[:2]] == [[0, 1], [2, 4]]
    assert [file.name[-13:] for file in files[:2]] == ["00000.parquet", "00002.parquet"]
    ends = cluster_ends(cluster.bootstrap_servers, "dead-together")
    await_true(lambda: ends() == 2, "two dead letters")
    assert worker.is_running("together")


def cluster_ends(bootstrap_servers, topic):
    from confluent_kafka import Consumer, TopicPartition

    consumer = Consumer({"bootstrap.servers": bootstrap_servers, "group.id": "ends"})
    return lambda: consumer.get_watermark_offsets(TopicPartition(topic, 0), 30)[1]


def test_a_poison_record_without_tolerance_ends_its_task_and_names_the_place(worker, cluster, tmp_path):
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers})
    producer.produce("fatal", b"poison")
    producer.flush(30)
    worker.ask("PUT", "/connectors/fatal/config", sink(tmp_path, "fatal"), status=201)
    await_true(lambda: worker.task_state("fatal") == "FAILED", "failed")
    assert "fatal-0@0" in worker.ask("GET", "/connectors/fatal/tasks/0/status")["trace"]
    worker.log.write_text("")  # its traceback was told, as it should be


def test_a_sink_reads_the_topics_that_a_pattern_of_javas_names(worker, cluster, tmp_path):
    for topic in ("java-1", "java-x"):
        produce_all(cluster.bootstrap_servers, topic, [f'"{topic}"'.encode()])
    config = {"connector.class": "FileStreamSink", "file": str(tmp_path / "out.txt"), "topics.regex": r"java-\d"}
    plain = {"value.converter": "JsonConverter", "value.converter.schemas.enable": "false"}
    worker.ask("PUT", "/connectors/java/config", config | plain, status=201)
    await_true(lambda: (tmp_path / "out.txt").exists() and (tmp_path / "out.txt").read_text() == "java-1\n", "read", 60)


def test_what_cannot_be_is_refused_in_kafkas_shapes(worker, tmp_path):
    for method, path, body, status in (
        ("GET", "/connectors/none", None, 404),
        ("DELETE", "/connectors/none", None, 404),
        ("POST", "/connectors", {"name": "x", "config": {"connector.class": "Nothing"}}, 400),
        ("POST", "/connectors", {"name": "x", "config": {"connector.class": "FileStreamSource", "name": "y"}}, 400),
        ("PUT", "/connectors", None, 405),
        ("GET", "/nothing", None, 404),
        ("PUT", "/admin/loggers/root", {"level": "LOUD"}, 404),
        ("PUT", "/admin/loggers/root", {}, 400),
        ("PUT", "/connector-plugins/Other/config/validate", {"connector.class": "FileStreamSource"}, 400),
    ):
        response = worker.ask(method, path, body, status=status)
        assert response["error_code"] == status
        assert response["message"]
    worker.ask("POST", "/connectors", {"name": "twice", "config": source(tmp_path, "twice")}, status=201)
    worker.ask("POST", "/connectors", {"name": "twice", "config": source(tmp_path, "twice")}, status=409)
    worker.ask("DELETE", "/connectors/twice", status=204)
    result = worker.ask(
        "PUT", "/connector-plugins/FileStreamSource/config/validate",
        {"connector.class": "FileStreamSource", "tasks.max": "0"}, status=200,
    )  # fmt: skip
    assert result["error_count"] >= 1
    wrong = {config["value"]["name"] for config in result["configs"] if config["value"]["errors"]}
    assert "tasks.max" in wrong


def test_a_topic_is_made_as_the_source_says_and_a_secret_stays_a_reference(worker, cluster, tmp_path):
    from confluent_kafka.admin import AdminClient

    (tmp_path / "topic").write_text("made-from-a-file")
    (tmp_path / "in.txt").write_text("foo\n")
    rules = {"topic.creation.default.partitions": "7", "topic.creation.default.replication.factor": "1"}
    reference = f"${{dir:{tmp_path}:topic}}"
    worker.ask("PUT", "/connectors/made/config", source(tmp_path, reference) | rules, status=201)
    await_true(lambda: worker.ask("GET", "/connectors/made/topics")["made"]["topics"] == ["made-from-a-file"], "used")
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    assert len(admin.list_topics("made-from-a-file", timeout=30).topics["made-from-a-file"].partitions) == 7
    assert worker.ask("GET", "/connectors/made/config")["topic"] == reference
    (task,) = worker.ask("GET", "/connectors/made/tasks")
    assert task["config"]["topic"] == reference
    wrong = worker.ask(
        "PUT", "/connector-plugins/FileStreamSource/config/validate",
        source(tmp_path, reference) | rules | {"topic.creation.default.partitions": "0"}, status=200,
    )  # fmt: skip
    values = {config["value"]["name"]: config["value"] for config in wrong["configs"]}
    assert values["topic.creation.default.partitions"]["errors"]
    assert values["topic"]["value"] == reference


def test_a_sink_tells_the_audit_what_became_of_each_record_that_it_flushed(worker, cluster, tmp_path):
    """Sunk, dead-lettered and filtered are all there was, in ranges without a gap, also behind a stop."""
    from confluent_kafka import Producer

    where = {"bootstrap.servers": cluster.bootstrap_servers}
    ensure_topic(where)
    producer = Producer(where)
    good = b'{"schema":{"type":"string","optional":false},"payload":"good"}'
    filtering = {
        "transforms": "drop",
        "transforms.drop.type": "Filter",
        "transforms.drop.predicate": "empty",
        "predicates": "empty",
        "predicates.empty.type": "RecordIsTombstone",
    }
    dead = {
        "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": "dead-audited",
        "errors.deadletterqueue.topic.replication.factor": "1",
    }

    def produce():
        for value in (good, b"poison", None, good, good):
            producer.produce("audited", value)
        assert producer.flush(30) == 0

    def story():
        stories = ledger_of(where["bootstrap.servers"]).of("audited", AuditTier.SUNK)
        return next(iter(stories.values()), None)

    produce()
    config = sink(tmp_path, "audited", **filtering, **dead, **{"audit.enable": "true"})
    worker.ask("PUT", "/connectors/audited/config", config, status=201)
    await_true(lambda: story() is not None and story().end == 5, "the first five are told")
    worker.ask("PUT", "/connectors/audited/stop", status=204)
    produce()
    worker.ask("PUT", "/connectors/audited/resume", status=202)
    await_true(lambda: story().end == 10, "all ten are told")
    counted = story()
    assert (counted.start, counted.gaps, counted.is_doubtful, counted.repeated) == (0, [], False, 0)
    counts = Counter()
    for increment in counted.increments:
        counts["sunk"] += sum(tally.count for tally in increment.windows.values())
        for kind, windows in increment.aside.items():
            counts[kind] += sum(tally.count for tally in windows.values())
    assert counts == {"sunk": 6, DEAD: 2, FILTERED: 2}
    assert sum(merged(increment.latencies.values()).ages.count for increment in counted.increments) == 6
    worker.log.write_text("")  # what is given up is said there, as it should be

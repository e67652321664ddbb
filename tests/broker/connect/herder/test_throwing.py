"""A connector that throws ends itself alone, says where and why, and runs again when it is asked to."""

import os
import re

import pytest
from confluent_kafka import Producer

from tests.barnabas_cluster import await_true
from tests.broker.connect.herder.awkward import entry_points_below
from tests.broker.connect.mock_cluster import all_records
from tests.broker.connect.workers import start_worker


@pytest.fixture
def worker(cluster, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([entry_points_below(tmp_path / "plugins"), os.getcwd()]))
    own = {"bootstrap.servers": cluster.bootstrap_servers, "offset.storage.file.filename": str(tmp_path / "offsets")}
    text = {"key.converter": "StringConverter", "value.converter": "StringConverter"}
    started = start_worker(tmp_path / "worker", "standalone", own | text)
    try:
        await_true(started.answers, "REST answers")
        yield started
    finally:
        assert started.stop() == 0


@pytest.mark.parametrize("where", ["start", "task.start", "poll"])
def test_a_source_that_throws_is_failed_with_its_trace_and_nobody_else(worker, cluster, tmp_path, where):
    switch, topic = tmp_path / "told", f"thrown-{where}"
    switch.touch()
    beside = {"connector.class": "ThrowingSource", "topic": f"beside-{where}"}
    worker.ask("PUT", "/connectors/beside/config", beside, status=201)
    thrown = {"connector.class": "ThrowingSource", "topic": topic, "throws.in": where, "while": str(switch)}
    worker.ask("PUT", "/connectors/thrown/config", thrown, status=201)
    state = worker.state if where == "start" else worker.task_state
    await_true(lambda: state("thrown") == "FAILED", "failed")
    status = worker.ask("GET", "/connectors/thrown/status", status=200)
    at_fault = status["connector"] if where == "start" else status["tasks"][0]
    assert f"LookupError: thrown in {where}" in at_fault["trace"]
    assert at_fault["worker_id"] == f"127.0.0.1:{worker.port}"
    await_true(lambda: worker.is_running("beside"), "the other runs")
    await_true(lambda: len(all_records(cluster.bootstrap_servers, beside["topic"])) == 3, "and writes")
    switch.unlink()
    worker.ask("POST", "/connectors/thrown/restart?includeTasks=true&onlyFailed=true", status=202)
    await_true(lambda: worker.is_running("thrown"), "runs again")
    assert "trace" not in str(worker.ask("GET", "/connectors/thrown/status"))
    await_true(lambda: len(all_records(cluster.bootstrap_servers, topic)) == 3, "everything, once")


def test_a_sink_that_throws_names_the_records_and_is_given_it_again(worker, cluster, tmp_path):
    path = tmp_path / "told"
    path.touch()
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers})
    for value in (b"first", b"second"):
        producer.produce("thrown-put", value, partition=0)
    assert producer.flush(30) == 0
    config = {"connector.class": "ThrowingSink", "topics": "thrown-put", "throws.in": "put", "while": str(path)}
    worker.ask("PUT", "/connectors/thrown-put/config", config, status=201)
    await_true(lambda: worker.task_state("thrown-put") == "FAILED", "failed")
    trace = worker.ask("GET", "/connectors/thrown-put/tasks/0/status")["trace"]
    assert "LookupError: thrown in put" in trace
    first, last = "the record at thrown-put-0@0", "the record at thrown-put-0@1"
    assert re.search(f"put failed (at {first}|between {first} and {last})\n", trace)
    assert worker.ask("GET", "/connectors/thrown-put/offsets") == {"offsets": []}
    path.unlink()
    worker.ask("POST", "/connectors/thrown-put/tasks/0/restart", status=204)
    place = {"kafka_partition": 0, "kafka_topic": "thrown-put"}
    taken = {"offsets": [{"partition": place, "offset": {"kafka_offset": 2}}]}
    await_true(lambda: worker.ask("GET", "/connectors/thrown-put/offsets") == taken, "taken, and committed", 60)


def test_a_sink_whose_records_are_never_safe_says_so_until_they_are(worker, cluster, tmp_path):
    path = tmp_path / "told"
    path.touch()
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers})
    producer.produce("thrown-flush", b"first", partition=0)
    assert producer.flush(30) == 0
    config = {"connector.class": "ThrowingSink", "topics": "thrown-flush", "throws.in": "flush", "while": str(path)}
    worker.ask("PUT", "/connectors/thrown-flush/config", config, status=201)

    def trace():
        return worker.ask("GET", "/connectors/thrown-flush/tasks/0/status").get("trace", "")

    await_true(lambda: "LookupError: thrown in flush" in trace(), "it is said")
    assert worker.task_state("thrown-flush") == "RUNNING"
    path.unlink()
    await_true(lambda: not trace(), "it is safe", 60)
    assert worker.log.read_text().count('level=error event="pre_commit failed"') == 1

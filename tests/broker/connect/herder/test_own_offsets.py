"""A source with a topic of its own for offsets (KIP-618): it goes on from there, and REST shows and changes it."""

import json

import pytest
from confluent_kafka import KafkaException, Producer

from tests.barnabas_cluster import await_true
from tests.broker.connect.herder.test_distributed import Workers, everything, properties, put, source
from tests.broker.connect.mock_cluster import all_records

_TEXT = {"value.converter": "org.apache.kafka.connect.storage.StringConverter"}


@pytest.fixture(params=[pytest.param(False, marks=pytest.mark.long), True], ids=["at-least-once", "exactly-once"])
def workers(cluster, tmp_path, request):
    group = "own-offsets-exact" if request.param else "own-offsets"
    once = {"exactly.once.source.support": "enabled"} if request.param else {}
    started = Workers(cluster, tmp_path, group, properties(cluster, group) | once)
    yield started
    for worker in started.all:
        worker.stop()


def kept(cluster, topic):
    """The last position each key has, as whoever reads what is committed sees it."""
    last = {}
    for record in all_records(cluster.bootstrap_servers, topic):
        value = record.value()
        last[record.key()] = None if value is None else json.loads(value)["position"]
    return list(last.values())


def test_a_source_goes_on_by_its_own_topic_and_rest_answers_from_it(workers, tmp_path):
    cluster, topic, own = workers.cluster, workers.group, f"{workers.group}-own"
    file = tmp_path / "lines.txt"
    file.write_text("one\ntwo\n")
    config = source(tmp_path, "lines", topic) | _TEXT | {"offsets.storage.topic": own}
    first = workers.start()
    put(first, "lines", config)

    def positions(worker):
        return [e["offset"]["position"] for e in worker.ask("GET", "/connectors/lines/offsets").get("offsets", [])]

    await_true(lambda: positions(first) == [8], "an offset", 60)
    assert kept(cluster, own) == [8]
    await_true(lambda: kept(cluster, f"{topic}-offset") == [8], "the worker's topic is told")
    assert first.stop() == 0
    with file.open("a") as more:
        more.write("three\n")
    second = workers.start()
    await_true(lambda: positions(second) == [14], "it goes on", 60)
    assert sorted(everything(cluster, topic)) == [b"one", b"three", b"two"]

    second.ask("PUT", "/connectors/lines/stop", status=204)
    await_true(lambda: second.state("lines") == "STOPPED", "stopped", 60)
    (entry,) = second.ask("GET", "/connectors/lines/offsets", status=200)["offsets"]
    changed = {"offsets": [{"partition": entry["partition"], "offset": {**entry["offset"], "position": 4}}]}
    await_true(
        lambda: "successfully" in second.ask("PATCH", "/connectors/lines/offsets", changed).get("message", ""),
        "altered",
    )
    assert (kept(cluster, own), positions(second)) == ([4], [4])
    second.ask("DELETE", "/connectors/lines/offsets", status=200)
    assert positions(second) == []
    assert kept(cluster, own) == kept(cluster, f"{topic}-offset") == [None]


def test_a_task_that_was_cut_off_writes_no_offset_over_one_that_was_altered(cluster, tmp_path):
    once = {"exactly.once.source.support": "enabled"}
    workers = Workers(cluster, tmp_path, "cut-off", properties(cluster, "cut-off") | once)
    (tmp_path / "lines.txt").write_text("one\ntwo\n")
    try:
        worker = workers.start()
        put(worker, "lines", source(tmp_path, "lines", "cut-off") | _TEXT)
        await_true(lambda: worker.ask("GET", "/connectors/lines/offsets").get("offsets"), "an offset", 60)
        worker.ask("PUT", "/connectors/lines/stop", status=204)
        await_true(lambda: worker.state("lines") == "STOPPED", "stopped", 60)
        cut_off = Producer({"bootstrap.servers": cluster.bootstrap_servers, "transactional.id": "cut-off-lines-0"})
        cut_off.init_transactions(30)
        cut_off.begin_transaction()
        cut_off.produce("cut-off", b"late")
        cut_off.flush(30)
        (entry,) = worker.ask("GET", "/connectors/lines/offsets", status=200)["offsets"]
        changed = {"offsets": [{"partition": entry["partition"], "offset": {**entry["offset"], "position": 4}}]}
        worker.ask("PATCH", "/connectors/lines/offsets", changed, status=200)
        with pytest.raises(KafkaException, match=r"(?i)fenced"):
            cut_off.commit_transaction(30)
        assert everything(cluster, "cut-off") == [b"one", b"two"]
    finally:
        for item in workers.all:
            item.stop()


@pytest.mark.long
def test_a_topic_that_would_lose_offsets_or_is_the_workers_is_refused(cluster, tmp_path):
    from confluent_kafka.admin import AdminClient, NewTopic

    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    admin.create_topics([NewTopic("kept-for-a-week", 1, 1)])["kept-for-a-week"].result(30)
    workers = Workers(cluster, tmp_path, "refusing", properties(cluster, "refusing"))
    (tmp_path / "lines.txt").write_text("one\n")
    try:
        worker = workers.start()
        config = source(tmp_path, "lines", "refused")
        for topic in ("refusing-config", "refusing-status", "no topic"):
            wrong = config | {"offsets.storage.topic": topic}
            assert topic in worker.ask("PUT", "/connectors/lines/config", wrong, status=400)["message"]
        put(worker, "lines", config | {"offsets.storage.topic": "kept-for-a-week"})
        await_true(lambda: worker.ask("GET", "/connectors/lines/status").get("tasks"), "a task", 60)
        await_true(lambda: worker.task_state("lines") == "FAILED", "its task fails", 60)
        assert "cleanup.policy=compact" in worker.ask("GET", "/connectors/lines/tasks/0/status")["trace"]
        assert "cleanup.policy" in worker.ask("GET", "/connectors/lines/offsets", status=500)["message"]
    finally:
        for item in workers.all:
            item.stop()

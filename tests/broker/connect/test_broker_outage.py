"""Brokers are killed and suspended while workers read and write: the workers wait, say so once and go on, no task of
theirs is FAILED, and every line is there."""

import contextlib
import json
import os
import signal
import subprocess
import sys

import pytest
from confluent_kafka.admin import AdminClient

from tests.barnabas_cluster import await_true, running_cluster
from tests.broker.connect.herder.test_distributed import Workers, all_running, everything, properties, put, source
from tests.broker.connect.herder.test_kills import Load
from tests.broker.connect.mock_cluster import all_records
from tests.broker.connect.workers import start_worker
from tests.registry_process import running_registries

_LINES = 4_000
_TEXT = "org.apache.kafka.connect.storage.StringConverter"


@pytest.fixture
def start_cluster(tmp_path, zookeeper):
    """start_cluster(brokers): one of so many."""
    with contextlib.ExitStack() as stack:
        yield lambda brokers: stack.enter_context(
            running_cluster(tmp_path / "cluster", brokers=brokers, zookeeper=zookeeper)
        )


def lines(numbers: range) -> str:
    return "".join(f"line {number}\n" for number in numbers)


def test_no_line_is_lost_while_the_broker_is_away_and_the_outage_is_told_once(tmp_path, start_cluster):
    file = tmp_path / "lines.txt"
    storage = {f"{kind}.storage.topic": f"worker-{kind}" for kind in ("config", "offset", "status")}
    storage |= {f"{kind}.storage.replication.factor": "1" for kind in ("config", "offset", "status")}
    made = {"connector.class": "FileStreamSource", "file": str(file), "topic": "lines", "value.converter": _TEXT}
    copied = tmp_path / "copied.txt"
    sink = {"connector.class": "FileStreamSink", "file": str(copied), "topics": "lines", "value.converter": _TEXT}

    cluster = start_cluster(1)
    with running_registries(tmp_path / "registry", cluster.bootstrap_servers) as (registry,):
        broker = cluster.broker(1)
        properties = {"bootstrap.servers": cluster.bootstrap_servers, "group.id": "workers", **storage}
        worker = start_worker(tmp_path / "worker", "distributed", properties)

        def position() -> int:
            """0 also while no broker can be asked."""
            offsets = worker.ask("GET", "/connectors/lines/offsets").get("offsets")
            return offsets[0]["offset"]["position"] if offsets else 0

        def is_whole() -> bool:
            return copied.exists() and len(set(copied.read_text().splitlines())) == _LINES

        def times_logged(event: str) -> list[int]:
            return [log.count(f'event="{event}"') for log in (worker.log.read_text(), registry.log())]

        try:
            await_true(worker.answers, "the worker answers")
            file.write_text(lines(range(_LINES // 2)))
            await_true(lambda: "name" in worker.ask("PUT", "/connectors/lines/config", made), "made", 60)
            await_true(lambda: position() > 0, "something stored", 60)
            await_true(lambda: "name" in worker.ask("PUT", "/connectors/copied/config", sink), "made", 60)
            await_true(lambda: copied.exists() and copied.stat().st_size, "something copied", 60)
            broker.kill()
            with file.open("a") as more:
                more.write(lines(range(_LINES // 2, _LINES)))
            await_true(lambda: times_logged("no broker is reached") == [1, 1], "worker and registry have heard", 60)
            broker.start()
            await_true(lambda: position() == file.stat().st_size, "every line stored", 90)
            await_true(lambda: times_logged("brokers are reached again") == [1, 1], "and that it is over")
            await_true(is_whole, "every line copied", 60)
            assert worker.is_running("lines")
            assert worker.is_running("copied")
            assert times_logged("no broker is reached") == [1, 1]
            assert "%3|" not in worker.log.read_text() + registry.log()
            assert times_logged("group not reached")[0] <= 1
            assert times_logged("group says no")[0] <= 3
        finally:
            assert worker.stop() == 0
        records = all_records(cluster.bootstrap_servers, "lines")
    assert {record.value().decode() for record in records} == {f"line {number}" for number in range(_LINES)}


_BROKERS = 3
_LINES_AS_TEXT = {"value.converter": _TEXT}
_COPIES = {f"{kind}.storage.replication.factor": "3" for kind in ("config", "offset", "status")}
_NEW_TOPICS = {"topic.creation.default.partitions": "1", "topic.creation.default.replication.factor": "3"}


@contextlib.contextmanager
def busy_machine(processes):
    """As many processes as cores, and more, that do nothing but keep them busy."""
    burning = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
    try:
        yield
    finally:
        for item in burning:
            item.kill()
            item.wait()


def leads_nothing(cluster, broker_id) -> bool:
    others = ",".join(f"{broker.host}:{broker.port}" for broker in cluster.brokers if broker.broker_id != broker_id)
    topics = AdminClient({"bootstrap.servers": others, "log_level": 2}).list_topics(timeout=20).topics.values()
    return all(part.leader != broker_id for topic in topics for part in topic.partitions.values())


def strike(cluster, number):
    """Kill a broker, or suspend it until the others lead: then its clients wait for responses that do not come."""
    victim = cluster.brokers[number % _BROKERS]
    if number % 2:
        victim.process.send_signal(signal.SIGSTOP)
        try:
            await_true(lambda: leads_nothing(cluster, victim.broker_id), "the others lead", 120)
        finally:
            victim.process.send_signal(signal.SIGCONT)
    else:
        victim.kill()
        await_true(lambda: leads_nothing(cluster, victim.broker_id), "the others lead", 120)
        victim.start()
    victim.await_healthy()


def rows(directory) -> set[str]:
    return {json.loads(line) for path in directory.rglob("*.jsonl") for line in path.read_text().splitlines()}


def connectors_outlive(tmp_path, cluster, rounds, burning):
    once = {"exactly.once.source.support": "enabled", "offset.flush.interval.ms": "500"}
    sink = {"connector.class": "ObjectSink", "topics": "lines", "path": str(tmp_path / "found"), "format": "json"}
    with contextlib.ExitStack() as stack:
        plain = Workers(cluster, tmp_path, "plain", properties(cluster, "plain") | _COPIES)
        exact = Workers(cluster, tmp_path / "exact", "exact", properties(cluster, "exact") | _COPIES | once)
        (tmp_path / "exact").mkdir()
        stack.callback(lambda: [worker.stop() for group in (plain, exact) for worker in group.all])
        worker, exact_worker = plain.start(), exact.start()
        load = stack.enter_context(Load(tmp_path))
        names = load.names
        for name in names[:2]:
            put(worker, name, source(tmp_path, name, "lines") | _NEW_TOPICS | _LINES_AS_TEXT)
        put(worker, "sink", sink | _LINES_AS_TEXT | {"file.max.records": "50", "partition.duration.ms": str(10**13)})
        for name in names[2:]:
            put(exact_worker, name, source(tmp_path, name, "exact-lines") | _NEW_TOPICS | _LINES_AS_TEXT)
        await_true(lambda: all_running(worker, [*names[:2], "sink"]), "all run", 90)
        await_true(lambda: all_running(exact_worker, names[2:]), "all run exactly once", 90)
        with busy_machine(burning):
            for number in range(rounds):
                before = len(rows(tmp_path / "found"))
                strike(cluster, number)
                await_true(lambda: len(rows(tmp_path / "found")) > before, f"rows go on, {number}", 180)  # noqa: B023
        load.__exit__()
        await_true(lambda: all_running(worker, [*names[:2], "sink"]), "all run at the end", 120)
        await_true(lambda: all_running(exact_worker, names[2:]), "all run exactly once at the end", 120)
        lines = load.lines()
        plain_lines = {line for line in lines if line.startswith(tuple(names[:2]))}
        exact_lines = [line for line in lines if line.startswith(tuple(names[2:]))]

        def written(topic):
            return [value.decode() for value in everything(cluster, topic)]

        await_true(lambda: plain_lines == set(written("lines")), "each line at least once", 120)
        await_true(lambda: len(written("exact-lines")) >= len(exact_lines), "each line", 120)
        assert sorted(written("exact-lines")) == exact_lines
        logs = worker.log.read_text() + exact_worker.log.read_text()
        assert "event=failed" not in logs


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_connectors_outlive_ten_rounds_of_brokers_that_die_or_hang(tmp_path, start_cluster):
    connectors_outlive(tmp_path, start_cluster(_BROKERS), 10, 2 * (os.cpu_count() or 1))


@pytest.mark.long
@pytest.mark.timeout(600)
def test_connectors_outlive_a_broker_that_dies_and_one_that_hangs(tmp_path, start_cluster):
    connectors_outlive(tmp_path, start_cluster(_BROKERS), 2, 2)

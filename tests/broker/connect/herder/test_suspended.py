"""Workers suspended under load: what a sleeper had begun to write is not seen beside what its successor wrote."""

import os
import signal

import pytest

from tests.barnabas_cluster import await_true, running_cluster
from tests.broker.connect.herder.test_distributed import (
    Workers,
    all_running,
    everything,
    owners,
    properties,
    put,
    source,
)
from tests.broker.connect.herder.test_kills import Load

_TEXT = {"value.converter": "org.apache.kafka.connect.storage.StringConverter"}


@pytest.fixture
def brokers(tmp_path, zookeeper):
    """Three: coordinators of the group and of transactions, and leaders of the topics, are on different ones."""
    with running_cluster(tmp_path / "brokers", brokers=3, zookeeper=zookeeper) as running:
        yield running


@pytest.mark.long
@pytest.mark.timeout(900)
def test_an_exactly_once_source_that_sleeps_writes_nothing_its_successor_writes(brokers, tmp_path):
    topic = "asleep-once"
    once = {"exactly.once.source.support": "enabled", "offset.flush.interval.ms": "500"}
    copies = {f"{kind}.storage.replication.factor": "3" for kind in ("config", "offset", "status")}
    workers = Workers(brokers, tmp_path, topic, properties(brokers, topic) | once | copies)
    # A transaction is open most of the time, so that the sleeper is caught within one.
    more = {"exactly.once.support": "required", "transaction.boundary": "interval", **_TEXT}
    made = {"topic.creation.default.partitions": "3", "topic.creation.default.replication.factor": "3"}
    try:
        first, *_ = (workers.start() for _ in range(3))
        with Load(tmp_path) as load:
            for name in load.names:
                put(first, name, source(tmp_path, name, topic) | more | made)

            def is_shared() -> bool:
                return all_running(first, load.names) and len(owners(first, load.names)) == 3

            await_true(is_shared, "all run some", 120)
            for sleeper in workers.all + workers.all[1:]:
                sleep_and_wake(workers, sleeper, load.names, topic)
                await_true(is_shared, "all run some again", 120)
        lines = load.lines()
        await_true(lambda: len(everything(brokers, topic)) >= len(lines), f"{len(lines)} lines", 120)
        assert sorted(value.decode() for value in everything(brokers, topic)) == lines
    finally:
        for worker in workers.all:
            if worker.process.poll() is None:
                worker.process.send_signal(signal.SIGCONT)
            worker.stop()


def sleep_and_wake(workers, sleeper, names, topic):
    """Longer than its session, until others run all and have written; then it says that it was given up, and what it
    had begun is no failure of a task."""
    awake = next(item for item in workers.all if item is not sleeper)
    log_length = len(sleeper.log.read_text())
    os.kill(sleeper.process.pid, signal.SIGSTOP)
    own = f"127.0.0.1:{sleeper.port}"
    await_true(lambda: own not in owners(awake, names) and all_running(awake, names), "others run all", 120)
    before = len(everything(workers.cluster, topic))
    await_true(lambda: len(everything(workers.cluster, topic)) > before, "lines go on", 120)
    os.kill(sleeper.process.pid, signal.SIGCONT)

    def log_since() -> str:
        return sleeper.log.read_text()[log_length:]

    await_true(lambda: "out of the group, all work stops" in log_since(), "the sleeper says what it missed", 60)
    assert "event=failed" not in log_since()

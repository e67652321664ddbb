"""Workers suspended under load: what a sleeper had begun to write is not seen beside what its successor wrote."""

import os
import signal

import pytest

from tests.barnabas_cluster import await_true
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


@pytest.mark.long
@pytest.mark.timeout(900)
def test_an_exactly_once_source_that_sleeps_writes_nothing_its_successor_writes(cluster, tmp_path):
    topic = "asleep-once"
    once = {"exactly.once.source.support": "enabled", "offset.flush.interval.ms": "500"}
    workers = Workers(cluster, tmp_path, topic, properties(cluster, topic) | once)
    # A transaction is open most of the time, so that the sleeper is caught within one.
    more = {"exactly.once.support": "required", "transaction.boundary": "interval", **_TEXT}
    one = {"topic.creation.default.partitions": "1", "topic.creation.default.replication.factor": "1"}
    try:
        first, second = workers.start(), workers.start()
        with Load(tmp_path) as load:
            for name in load.names:
                put(first, name, source(tmp_path, name, topic) | more | one)

            def is_shared() -> bool:
                return all_running(first, load.names) and len(owners(first, load.names)) == 2

            await_true(is_shared, "both run some", 120)
            for sleeper, awake in ((second, first), (first, second)) * 2:
                os.kill(sleeper.process.pid, signal.SIGSTOP)
                await_true(lambda: len(owners(awake, load.names)) == 1, "one has all", 120)  # noqa: B023 (called at once)
                await_true(lambda: all_running(awake, load.names), "one runs all", 120)  # noqa: B023
                before = len(everything(cluster, topic))
                await_true(lambda: len(everything(cluster, topic)) > before, "lines go on", 120)  # noqa: B023
                os.kill(sleeper.process.pid, signal.SIGCONT)
                await_true(is_shared, "both run some again", 120)
        lines = load.lines()
        await_true(lambda: len(everything(cluster, topic)) >= len(lines), f"{len(lines)} lines", 120)
        assert sorted(value.decode() for value in everything(cluster, topic)) == lines
    finally:
        for worker in workers.all:
            if worker.process.poll() is None:
                worker.process.send_signal(signal.SIGCONT)
            worker.stop()

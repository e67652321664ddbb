"""Workers killed under load: every line of the sources is in the topic once, and in the files of the sink once."""

import itertools
import json
import os
import random
import signal
import threading

import pytest

from tests.barnabas_cluster import await_true
from tests.broker.connect.herder.test_distributed import Workers, all_running, everything, properties, put, source

_SOURCES = 4
_FILE_RECORDS = 50
_TEXT = {"value.converter": "org.apache.kafka.connect.storage.StringConverter"}


class Load:
    """Files that grow, each line once, until it is left."""

    def __init__(self, directory):
        self.names = [f"load{n}" for n in range(_SOURCES)]
        self._files = [directory / f"{name}.txt" for name in self.names]
        self._enough = threading.Event()
        self._thread = threading.Thread(target=self._grow)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_error):
        self._enough.set()
        self._thread.join()

    def _grow(self):
        for round_ in itertools.count():
            for path in self._files:
                with path.open("a") as file:
                    file.write("".join(f"{path.stem} {round_} {n}\n" for n in range(_FILE_RECORDS)))
            if self._enough.wait(0.2):
                return

    def lines(self) -> list[str]:
        return sorted(line for path in self._files for line in path.read_text().splitlines())


def files_of_the_sink(directory) -> list[str]:
    return sorted(json.loads(line) for path in directory.rglob("*.jsonl") for line in path.read_text().splitlines())


def kill_under_load(workers, tmp_path, kills, drawn):
    topic, objects = workers.group, tmp_path / "found"
    first = workers.start()
    workers.start()
    sink = {
        "connector.class": "ObjectSink", "topics": topic, "path": str(objects), "format": "json",
        "file.max.records": str(_FILE_RECORDS), "partition.duration.ms": str(10**13),
        "consumer.override.session.timeout.ms": "6000", "consumer.override.heartbeat.interval.ms": "500",
    }  # fmt: skip
    one = {"topic.creation.default.partitions": "1", "topic.creation.default.replication.factor": "1"}
    with Load(tmp_path) as load:
        names = [*load.names, "sink"]
        for name in load.names:
            put(first, name, source(tmp_path, name, topic) | one | _TEXT | {"exactly.once.support": "required"})
        put(first, "sink", sink | _TEXT)
        await_true(lambda: all_running(first, names), "all run", 90)
        for _ in range(kills):
            alive = [item for item in workers.all if item.process.poll() is None]
            victim = drawn.choice(alive)
            before = len(files_of_the_sink(objects))
            os.kill(victim.process.pid, signal.SIGKILL)
            victim.process.wait()
            judge = next(item for item in alive if item is not victim)
            workers.start()
            await_true(lambda: all_running(judge, names), "all run again", 120)  # noqa: B023 (called at once)
            await_true(lambda: len(files_of_the_sink(objects)) > before, "rows go on", 120)  # noqa: B023
    lines = load.lines()
    await_true(lambda: len(files_of_the_sink(objects)) >= len(lines), f"{len(lines)} rows in files", 120)
    assert sorted(value.decode() for value in everything(workers.cluster, topic)) == lines
    assert files_of_the_sink(objects) == lines


@pytest.fixture
def workers(cluster, tmp_path, request):
    group = request.node.name.replace("_", "-")[:40]
    once = {"exactly.once.source.support": "enabled", "offset.flush.interval.ms": "500"}
    started = Workers(cluster, tmp_path, group, properties(cluster, group) | once)
    yield started
    for worker in started.all:
        worker.stop()


@pytest.mark.timeout(400)
def test_two_kills_under_load_lose_and_double_nothing(workers, tmp_path):
    kill_under_load(workers, tmp_path, 2, random.Random(2))


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_twenty_kills_under_load_lose_and_double_nothing(workers, tmp_path):
    kill_under_load(workers, tmp_path, 20, random.Random())

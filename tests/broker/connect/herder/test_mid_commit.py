"""A worker killed while it writes source offsets: nothing is lost, and nothing doubled where that is promised."""

import os
from collections import Counter

import pytest

from tests.barnabas_cluster import await_true
from tests.broker.connect.herder.awkward import entry_points_below
from tests.broker.connect.herder.test_distributed import Workers, everything, properties, put

_TEXT = {"value.converter": "org.apache.kafka.connect.storage.StringConverter"}
_ALL = {f"{name}{number}" for name in "ab" for number in range(1, 11)}


@pytest.fixture(params=[pytest.param(False, marks=pytest.mark.long), True], ids=["at-least-once", "exactly-once"])
def is_exact(request):
    return request.param


@pytest.fixture
def workers(cluster, tmp_path, monkeypatch, is_exact):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([entry_points_below(tmp_path / "plugins"), os.getcwd()]))
    group = "mid-commit-exact" if is_exact else "mid-commit"
    once = {"exactly.once.source.support": "enabled"} if is_exact else {}
    started = Workers(cluster, tmp_path, group, properties(cluster, group) | once)
    yield started
    for worker in started.all:
        worker.stop()


def test_who_dies_between_the_offsets_of_two_partitions_loses_nothing(workers, tmp_path, is_exact):
    marker, topic = tmp_path / "marker", workers.group
    marker.touch()
    first = workers.start()
    more = {"exactly.once.support": "required"} if is_exact else {}
    put(first, "dying", {"connector.class": "DyingSource", "topic": topic, "while": str(marker)} | _TEXT | more)
    first.process.wait(60)
    assert not marker.exists(), "it died of something else"
    second = workers.start()

    def counts():
        offset_lines = second.ask("GET", "/connectors/dying/offsets").get("offsets", [])
        return sorted(line["offset"]["count"] for line in offset_lines)

    await_true(lambda: counts() == [10, 10], "all of both partitions", 90)
    counted = Counter(value.decode() for value in everything(workers.cluster, topic))
    assert set(counted) == _ALL
    if is_exact:
        assert max(counted.values()) == 1

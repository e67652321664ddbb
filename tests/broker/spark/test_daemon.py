"""Daemons for Python workers end while nothing is to do, and Spark goes on with others."""

import os
import subprocess
import sys
from contextlib import suppress

import psutil
import pytest
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from broker.spark import daemon
from broker.spark.daemon import RestlessPoll, frugal_python, has_children
from tests.barnabas_cluster import await_true


def test_whoever_has_waited_long_enough_for_nothing_ends(monkeypatch):
    monkeypatch.setattr(daemon, "has_children", lambda: False)  # this process has those of other tests
    with pytest.raises(SystemExit):
        RestlessPoll(idle_s=0).poll(0)


def test_whoever_has_a_worker_waits_on():
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE):
        assert has_children()
        assert RestlessPoll(idle_s=0).poll(0) == []


def test_whoever_is_asked_answers():
    read, write = os.pipe()
    try:
        poll = RestlessPoll(idle_s=0)
        poll.register(read)
        os.write(write, b"x")
        assert [fd for fd, _event in poll.poll(0)] == [read]
    finally:
        os.close(read)
        os.close(write)


def test_python_is_what_it_was_but_for_the_daemon(tmp_path):
    place = tmp_path / "a 'quoted' place"
    place.mkdir()
    program = frugal_python(place)
    frugal_python(place)  # as the next driver does
    output = subprocess.run(
        [program, "-c", "import sys; print(sys.argv[1:], sys.prefix)", "a b", "*"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert output == f"{['a b', '*']} {sys.prefix}\n"
    assert program.stat().st_mode & 0o777 == 0o700


def numbers_source() -> type[DataSource]:
    """Asked in Python for each thing that Spark asks sources; made here, for workers cannot import tests."""

    class Reader(DataSourceReader):
        def partitions(self):
            return [InputPartition(0), InputPartition(1)]

        def read(self, partition):
            yield (partition.value,)

    class Numbers(DataSource):
        @classmethod
        def name(cls):
            return "numbers_of_a_test"

        def schema(self):
            return "number int"

        def reader(self, schema):
            return Reader()

    return Numbers


@pytest.mark.spark
@pytest.mark.long
@pytest.mark.timeout(400)
def test_a_query_after_all_daemons_have_ended_is_answered(spark):
    """Spark lets go of workers after a minute; a daemon without one may end at any time."""
    spark.dataSource.register(numbers_source())

    def numbers():
        return sorted(row.number for row in spark.read.format("numbers_of_a_test").load().collect())

    assert numbers() == [0, 1]
    ended = daemons()
    assert len(ended) >= 3
    await_true(lambda: not any(has_workers(item) for item in ended), "Spark keeps no worker any more", 200)
    for item in ended:
        item.terminate()
    await_true(lambda: not any(lives(item) for item in ended), "all have ended", 60)
    assert numbers() == [0, 1]
    assert daemons()


def has_workers(daemon: psutil.Process) -> bool:
    return any(lives(child) for child in daemon.children())


def lives(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def daemons() -> list[psutil.Process]:
    """Not their workers, which are forks of them and have the same command line."""
    results = {}
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):  # Java's children end as they like
            command = child.cmdline()
            assert "pyspark.daemon" not in command
            if "broker.spark.daemon" in command:
                results[child.pid] = child, child.ppid()
    return [item for item, parent in results.values() if parent not in results]

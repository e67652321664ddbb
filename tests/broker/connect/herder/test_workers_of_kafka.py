"""A worker of Kafka's and one of ours in one group: they share what runs, whichever leads, and lose nothing."""

import contextlib
import itertools
import os
import signal
import urllib.request
from collections.abc import Iterator

import pytest

from tests.apache_kafka import connect_worker, log_of
from tests.barnabas_cluster import await_true
from tests.broker.connect.herder.test_distributed import all_running, everything, owners, properties, put, source
from tests.broker.connect.workers import Worker, start_worker
from tests.zookeeper_server import free_ports

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]
_LINES = 200
_CONVERTERS = {f"{name}.converter": "org.apache.kafka.connect.storage.StringConverter" for name in ("key", "value")}


class WorkerOfKafka(Worker):
    def answers(self) -> bool:
        """Its server listens before it has anything to serve, and says 404 with a page."""
        assert self.process.poll() is None, self.log.read_text()[-4000:]
        with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{self.port}/connectors"):
            return True
        return False


@contextlib.contextmanager
def of_kafka(directory, settings) -> Iterator[Worker]:
    (port,) = free_ports(1)
    listening = {"listeners": f"http://127.0.0.1:{port}", "offset.flush.interval.ms": "200"}
    with connect_worker(directory, settings | listening) as process:
        yield WorkerOfKafka(process, port, log_of(directory))


@contextlib.contextmanager
def of_ours(directory, settings) -> Iterator[Worker]:
    worker = start_worker(directory, "distributed", settings)
    try:
        yield worker
    finally:
        worker.stop()


_KINDS = {"kafka": of_kafka, "ours": of_ours}


@pytest.fixture
def start(cluster, tmp_path, request):
    """Starts a worker of one kind or the other, in the group of this test."""
    exactly_once = {"exactly.once.source.support": "enabled"}
    settings = properties(cluster, f"led-by-{request.node.callspec.params['leads']}") | _CONVERTERS | exactly_once
    numbers = itertools.count()
    with contextlib.ExitStack() as running:

        def started(kind):
            worker = running.enter_context(_KINDS[kind](tmp_path / f"worker-{next(numbers)}", settings))
            await_true(worker.answers, f"REST of {kind}'s answers", 120)
            return worker

        yield started


def lines(tmp_path, name, which) -> None:
    with (tmp_path / f"{name}.txt").open("a") as file:
        file.write("".join(f"{name}-{which}-{n}\n" for n in range(_LINES)))


@pytest.mark.parametrize(("leads", "follows"), [("kafka", "ours"), ("ours", "kafka")])
def test_each_leads_the_other_and_takes_over_from_it(cluster, tmp_path, start, leads, follows):
    topic = f"led-by-{leads}"
    names = [f"{topic}-{n}" for n in range(4)]
    first = start(leads)
    second = start(follows)
    for n, name in enumerate(names):
        lines(tmp_path, name, "before")
        put((first, second)[n % 2], name, source(tmp_path, name, topic))
    await_true(lambda: all_running(first, names) and all_running(second, names), "all run", 120)
    await_true(lambda: len(owners(first, names)) == 2, "both have some", 120)
    os.kill(first.process.pid, signal.SIGKILL)
    first.process.wait()
    for name in names:
        lines(tmp_path, name, "while-one-is-gone")
    await_true(lambda: all_running(second, names) and len(owners(second, names)) == 1, "one has all", 120)
    again = start(leads)
    await_true(lambda: all_running(again, names) and len(owners(again, names)) == 2, "both have some again", 120)
    for name in names:
        lines(tmp_path, name, "after")
    expected = 3 * _LINES * len(names)
    await_true(lambda: len(everything(cluster, topic)) >= expected, "all lines are there", 120)
    result = everything(cluster, topic)
    assert (len(result), len(set(result))) == (expected, expected)

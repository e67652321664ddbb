"""Exactly once on Spark: a query copies or counts a topic while its driver or its JVM is killed at random moments.

A feeder writes until the last kill. Then the query reads to the end, and a reader of committed records, which is
librdkafka and knows nothing of the query, must find just what the input comes to: nothing lost, nothing twice.
"""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread

import psutil
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from broker.client.cluster import ClusterConnections, parse_bootstrap_servers
from broker.client.transactions import open_transactions
from broker.spark.ledger_names import LEDGER_PREFIX
from tests.barnabas_cluster import await_true, running_cluster
from tests.broker.connect.mock_cluster import all_records
from tests.faults.streams.queries import LATENESS_S, QUERIES, Written

PARTITIONS = 3
_ROOT = Path(__file__).resolve().parents[3]
_PER_SECOND = 100
#: A Spark that starts on a busy machine takes this long to its first batch.
_BATCH_DEADLINE_S = 300
_DRAINED_WITHIN_S = 400
#: How often a driver may end that nobody killed.
_ENDS_MAX = 5


@dataclass
class StreamRun:
    """What a run came to."""

    query: str
    seed: int
    kills: Counter[str] = field(default_factory=Counter)
    records: int = 0
    violations: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        killed = ", ".join(f"{count} × {victim}" for victim, count in sorted(self.kills.items()))
        facts = f"{self.query}, seed {self.seed}: {self.records:,} records read; killed {killed}"
        return "\n".join([facts, *self.violations]) if self.violations else f"{facts}; each is there exactly once"


class KilledDriver:
    """The driver's process and all it starts."""

    def __init__(self, directory: Path, servers: str, query: str):
        self._command = [sys.executable, "-m", "tests.faults.streams.driver", str(directory), servers, query]
        self._log = directory / "driver.log"
        self._process: subprocess.Popen | None = None
        self._family: list[psutil.Process] = []
        self.ends_by_itself = 0

    def start(self) -> None:
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command, cwd=_ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )

    def keep_running(self) -> None:
        """Starts it again as an operator would: Spark itself gives up where a machine is too slow for its timeouts."""
        if self._process.poll() is None:
            return
        self.ends_by_itself += 1
        assert self.ends_by_itself <= _ENDS_MAX, f"the driver ends again and again:\n{self._log.read_text()[-4_000:]}"
        self.start()

    def kill(self, victim: str) -> None:
        """As kill -9 of the driver or of its JVM; the driver has ended when this returns, its workers perhaps not."""
        if self._process.poll() is not None:
            return
        family = psutil.Process(self._process.pid).children(recursive=True)
        self._family += family
        jvms = [member for member in family if "java" in _name_of(member)]
        doomed = jvms[0].pid if victim == "JVM" and jvms else self._process.pid
        os.kill(doomed, signal.SIGKILL)
        self._process.wait(30)

    def end(self) -> None:
        """Nothing of any start is left."""
        if self._process is not None:
            self.kill("driver")
        for member in self._family:
            with contextlib.suppress(psutil.NoSuchProcess):
                member.kill()


def _name_of(process: psutil.Process) -> str:
    """Empty for one that has ended meanwhile."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return process.name()
    return ""


class Feeder:
    """Numbers under ten keys at a steady pace; every one is acknowledged when the block is left."""

    def __init__(self, servers: str):
        self._producer = Producer({"bootstrap.servers": servers, "enable.idempotence": True, "log_level": 2})
        self._enough = Event()
        self._thread = Thread(target=self._flow)

    def __enter__(self) -> "Feeder":
        self._thread.start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self._enough.set()
        self._thread.join()
        assert self._producer.flush(60) == 0

    def end_time(self) -> None:
        """A record of later in each partition: all windows before are closed."""
        later_ms = int(time.time() * 1000) + 2 * LATENESS_S * 1_000
        for partition in range(PARTITIONS):
            self._producer.produce("input", b"last", b"last", partition=partition, timestamp=later_ms)
        assert self._producer.flush(60) == 0

    def _flow(self) -> None:
        number = 0
        while not self._enough.wait(0.02):
            for _ in range(_PER_SECOND // 50):
                self._producer.produce("input", b"%d" % number, b"%d" % (number % 10))
                number += 1
            self._producer.poll(0)


def run_stream_kills(directory: Path, query: str, kills: int, seed: int) -> StreamRun:
    """`kills` deaths at moments drawn from the seed; what they hit is up to the machine."""
    run = StreamRun(query, seed)
    chance = random.Random(seed)
    with running_cluster(directory / "cluster") as cluster, _topics(cluster.bootstrap_servers) as servers:
        driver = KilledDriver(directory, servers, query)
        try:
            with Feeder(servers) as feeder:
                for _ in range(kills):
                    driver.start()
                    _await_new_batch(driver, directory)
                    time.sleep(chance.uniform(0, 1.5))
                    victim = chance.choice(["driver", "JVM"])
                    driver.kill(victim)
                    run.kills[victim] += 1
            feeder.end_time()
            driver.start()
            _compare(run, servers, driver)
        finally:
            driver.end()
    return run


@contextlib.contextmanager
def _topics(servers: str) -> Iterator[str]:
    admin = AdminClient({"bootstrap.servers": servers})
    for topic in ("input", "output"):
        admin.create_topics([NewTopic(topic, PARTITIONS)])[topic].result(30)
    yield servers


def _await_new_batch(driver: KilledDriver, directory: Path) -> None:
    """A batch that this start has committed: from here on each moment is as good as any other to die at."""
    before = _committed_batches(directory)

    def is_new() -> bool:
        driver.keep_running()
        return _committed_batches(directory) > before

    await_true(is_new, "a batch of the driver just started", _BATCH_DEADLINE_S)


def _committed_batches(directory: Path) -> int:
    """The newest batch in Spark's own log of commits, -1 before the first."""
    files = directory.glob("checkpoints/*/commits/*")
    return max((int(file.name) for file in files if file.name.isdigit()), default=-1)


def _compare(run: StreamRun, servers: str, driver: KilledDriver) -> None:
    went_in = [
        Written(message.partition(), message.key(), message.value(), message.timestamp()[1])
        for message in all_records(servers, "input")
    ]
    run.records = len(went_in)
    expected = QUERIES[run.query].expected(went_in)

    def came_out() -> Counter[tuple[bytes, bytes]]:
        return Counter((message.key(), message.value()) for message in all_records(servers, "output"))

    def is_drained() -> bool:
        driver.keep_running()
        return came_out().total() >= expected.total()

    try:
        await_true(is_drained, "as much out as went in", _DRAINED_WITHIN_S)
    except AssertionError as error:
        run.violations.append(str(error)[-2_000:])
    driver.kill("driver")
    result = came_out()
    run.violations += [f"lost: {pair}" for pair in list(expected - result)[:10]]
    run.violations += [f"more than once, or never in: {pair}" for pair in list(result - expected)[:10]]
    with ClusterConnections(parse_bootstrap_servers(servers)) as cluster:
        left = open_transactions(cluster, LEDGER_PREFIX)
    # What the last kill cut off may be open; a batch is at most as many tasks.
    run.violations += [f"left open: {item}" for item in left[8:]]

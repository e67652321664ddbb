"""Three brokers in memory, whose processes are real ones that count, and a clock that is moved by hand."""

import secrets
import sys
import time

import pytest

from console.automation.drill import actions, queries
from console.automation.drill.advance import advance
from console.automation.drill.models import Drill
from console.kit.common.clock import now_ms
from console.processes import consequences, os_process, tasks
from console.processes.models import ManagedProcess
from console.processes.os_process import ProcessIdentity, look
from tests.manual_clock import ManualClock

COUNT = "import time\nwhile True:\n    time.sleep(0.001)\n"


def await_true(ask, what: str) -> None:
    until = time.monotonic() + 20
    while not ask():
        assert time.monotonic() < until, what
        time.sleep(0.01)


@pytest.fixture
def clock(monkeypatch) -> ManualClock:
    clock = ManualClock(now_ms())
    for module in (actions, queries, consequences):
        monkeypatch.setattr(module, "now_ms", clock.now_ms)
    return clock


@pytest.fixture(autouse=True)
def _no_worker(monkeypatch):
    """The wish stands in the row; nobody carries it out but the test."""
    monkeypatch.setattr(tasks, "enqueue", lambda task, process: None)


class Stage:
    """`stage.process(2)` is the row of broker 2, `stage.target(2)` the process that runs."""

    def __init__(self, cluster, collect, clock, settings, directory):
        self.cluster, self.collect, self.clock = cluster, collect, clock
        settings.DRILLS, settings.RUN_DIR, settings.LOG_DIR = True, directory, directory
        self.host, self.directory = settings.HOST_NAME, directory
        self.targets: dict[int, ProcessIdentity] = {}
        self.tokens: list[str] = []
        for number in (1, 2, 3):
            self.targets[number] = self.run(f"broker-{number}", "broker")
        cluster.create_topic("orders", 3, 3)
        collect()

    def run(self, name: str, kind: str, **values) -> ProcessIdentity:
        """A process that counts, and the row of it."""
        argv, token = [sys.executable, "-c", COUNT], secrets.token_hex(16)
        spawned = os_process.spawn(argv, {}, self.directory, self.directory / "log", token)
        seen = {"observed": "running", "desired": "running", "state": "healthy", "host": self.host}
        identity = {"pid": spawned.pid, "create_time": spawned.create_time, "run_token": spawned.token}
        self.tokens.append(token)
        ManagedProcess.objects.create(name=name, kind=kind, **seen, **identity, **values)
        return spawned

    def process(self, number: int) -> ManagedProcess:
        return ManagedProcess.objects.get(name=f"broker-{number}")

    def is_stopped(self, number: int) -> bool:
        return look(self.targets[number]).suspended

    def beats(self, seconds: int, drill: Drill) -> Drill:
        """Each second the collector looks, and the beat comes."""
        for _ in range(seconds):
            self.clock.advance(1_000)
            self.collect()
            drill.refresh_from_db()
            if drill.is_open:
                advance(drill)
        drill.refresh_from_db()
        return drill


@pytest.fixture
def stage(cluster, collect, clock, settings, tmp_path):
    stage = Stage(cluster, collect, clock, settings, tmp_path)
    yield stage
    for token in [*stage.tokens, *Drill.objects.exclude(holder_token="").values_list("holder_token", flat=True)]:
        os_process.kill_family(token)

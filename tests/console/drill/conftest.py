"""Three brokers in memory, whose processes are real ones that count, and a clock that is moved by hand."""

import secrets
import sys
import time

import pytest

from broker.common.clock import ManualClock
from console.common.clock import now_ms
from console.drill import actions, queries
from console.drill.advance import advance
from console.drill.models import Drill
from console.processes import consequences, os_process, tasks
from console.processes.models import ManagedProcess
from console.processes.os_process import Identity, look

COUNT = "import time\nwhile True:\n    time.sleep(0.001)\n"


def await_true(ask, what: str) -> None:
    until = time.monotonic() + 20
    while not ask():
        assert time.monotonic() < until, what
        time.sleep(0.01)


@pytest.fixture
def clock(monkeypatch) -> ManualClock:
    found = ManualClock(now_ms())
    for module in (actions, queries, consequences):
        monkeypatch.setattr(module, "now_ms", found.now_ms)
    return found


@pytest.fixture(autouse=True)
def _no_worker(monkeypatch):
    """The wish stands in the row; nobody carries it out but the test."""
    monkeypatch.setattr(tasks, "enqueue", lambda task, process: None)


class Stage:
    """`stage.process(2)` is the row of broker 2, `stage.target(2)` the process that runs."""

    def __init__(self, cluster, collect, clock, settings, directory):
        self.cluster, self.collect, self.clock = cluster, collect, clock
        settings.DRILLS, settings.RUN_DIR, settings.LOG_DIR = True, directory, directory
        self.targets: dict[int, Identity] = {}
        for number in (1, 2, 3):
            token = secrets.token_hex(16)
            self.targets[number] = found = os_process.spawn(
                [sys.executable, "-c", COUNT], {}, directory, directory / "log", token
            )
            ManagedProcess.objects.create(
                name=f"broker-{number}",
                kind="broker",
                position=number,
                host=settings.HOST_NAME,
                observed="running",
                desired="running",
                state="healthy",
                pid=found.pid,
                create_time=found.create_time,
                run_token=found.token,
            )
        cluster.create_topic("orders", 3, 3)
        collect()

    def process(self, number: int) -> ManagedProcess:
        return ManagedProcess.objects.get(name=f"broker-{number}")

    def is_stopped(self, number: int) -> bool:
        return look(self.targets[number]).suspended

    def beats(self, seconds: int, drill: Drill) -> Drill:
        """Each second the collector looks, and the beat comes."""
        for _ in range(seconds):
            self.clock.advance(1_000)
            self.collect()
            if drill.is_open:
                advance(drill)
            drill.refresh_from_db()
        return drill


@pytest.fixture
def stage(cluster, collect, clock, settings, tmp_path):
    found = Stage(cluster, collect, clock, settings, tmp_path)
    yield found
    tokens = [each.token for each in found.targets.values()]
    for token in [*tokens, *Drill.objects.exclude(holder_token="").values_list("holder_token", flat=True)]:
        os_process.kill_family(token)

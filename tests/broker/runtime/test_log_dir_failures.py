"""Who hears of a failed log directory."""

import asyncio
from pathlib import Path

from broker.runtime import log_dir_failures
from broker.runtime.log_dir_failures import LogDirFailures
from broker.zookeeper.errors import ConnectionInterrupted, SessionLost
from tests.eventually import eventually


class Store:
    """Fails as often as it is told before it takes an announcement."""

    def __init__(self, *failures: Exception):
        self.session = self
        self.announced: list[int] = []
        self._failures = list(failures)

    async def announce_log_dir_failure(self, broker_id: int) -> None:
        if self._failures:
            raise self._failures.pop(0)
        self.announced.append(broker_id)

    async def wait_connected(self) -> None:
        await asyncio.sleep(0)


async def test_controller_is_told_from_whatever_thread_met_the_error():
    store, was_last = Store(), asyncio.Event()
    failures = LogDirFailures(store, 3, was_last)
    await asyncio.to_thread(failures.report, Path("disk"), False)
    await eventually(lambda: store.announced == [3], "announced")
    assert not was_last.is_set()


async def test_announcement_waits_until_zookeeper_is_back():
    store = Store(ConnectionInterrupted("/x"), SessionLost("/x"))
    LogDirFailures(store, 3, asyncio.Event()).report(Path("disk"), False)
    await eventually(lambda: store.announced == [3], "announced")


async def test_failure_of_the_last_directory_ends_the_broker():
    store, was_last = Store(), asyncio.Event()
    LogDirFailures(store, 3, was_last).report(Path("disk"), True)
    await eventually(was_last.is_set, "given up")
    assert store.announced == []


async def test_what_nobody_foresaw_keeps_the_controller_from_hearing_only_for_a_while(monkeypatch):
    monkeypatch.setattr(log_dir_failures, "_TRY_AGAIN_S", 0)
    store = Store(RuntimeError("a defect"))
    failures = LogDirFailures(store, 3, asyncio.Event())

    def give_up() -> None:
        raise RuntimeError("another defect")

    failures.on_failed = give_up
    failures.report(Path("disk"), False)
    await eventually(lambda: store.announced == [3], "announced")

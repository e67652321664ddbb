"""File work for the loop: order by key, a disk that hangs, an end that is waited for."""

import asyncio
import threading
from pathlib import Path

import pytest

from broker.common.limits import DISK_THREADS_PER_DIRECTORY
from broker.runtime.disk.executor import DiskExecutor

ONE, TWO = Path("/one"), Path("/two")


@pytest.fixture
def gate():
    gate = threading.Event()
    yield gate
    gate.set()


async def test_work_under_one_key_is_done_in_order(gate):
    disk, done = DiskExecutor(), []
    works = [disk.submit(ONE, "t-0", gate.wait)]
    works += [disk.submit(ONE, "t-0", lambda number=number: done.append(number)) for number in range(5)]
    works[1].cancel()
    gate.set()
    await asyncio.gather(*works, return_exceptions=True)
    await disk.idle()
    assert done == [0, 1, 2, 3, 4]


async def test_work_under_another_key_goes_on(gate):
    disk = DiskExecutor()
    hanging = disk.submit(ONE, "t-0", gate.wait)
    assert await disk.submit(ONE, "t-1", lambda: "done") == "done"
    assert not hanging.done()


async def test_no_more_threads_than_agreed_work_for_a_directory(gate):
    disk, at_work = DiskExecutor(), []

    def work() -> None:
        at_work.append(threading.current_thread())
        gate.wait(10)

    works = [disk.submit(ONE, number, work) for number in range(3 * DISK_THREADS_PER_DIRECTORY)]
    assert await disk.submit(TWO, 0, lambda: "done") == "done", "another directory's disk is well"
    assert len(at_work) <= DISK_THREADS_PER_DIRECTORY
    gate.set()
    await asyncio.gather(*works)
    assert len(at_work) == len(works)


async def test_what_work_raises_is_told_and_what_is_behind_it_is_done():
    def fail() -> None:
        raise OSError(5, "Input/output error")

    disk = DiskExecutor()
    failing, behind = disk.submit(ONE, "t-0", fail), disk.submit(ONE, "t-0", lambda: "done")
    with pytest.raises(OSError, match="Input/output"):
        await failing
    assert await behind == "done"


async def test_idle_waits_for_what_is_asked_for_by_who_waited(gate):
    disk, done = DiskExecutor(), []
    first = disk.submit(ONE, "t-0", gate.wait)
    first.add_done_callback(lambda _: disk.submit(ONE, "t-0", lambda: done.append("second")))
    idle = asyncio.ensure_future(disk.idle())
    await asyncio.sleep(0)
    assert not idle.done()
    gate.set()
    await idle
    assert done == ["second"]

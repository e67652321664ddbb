"""What processes ask of their disks: counted where others wait for it, and refused when the disk is in trouble."""

import errno
import os
from random import Random

import pytest

from tests.simulation.disk import Disk
from tests.simulation.loop import HostLoop
from tests.simulation.network import Network
from tests.simulation.sockets import Machine
from tests.simulation.syscalls import BOUNDS, Syscalls
from tests.simulation.timeline import Timeline


class Host:
    """One process on one machine."""

    def __init__(self, directory):
        self.timeline = Timeline()
        self.syscalls = Syscalls(Disk())
        self.excesses: list[str] = []
        self.syscalls.on_excess = self.excesses.append
        self.machine = Machine("broker-1", "10.0.0.1", Network(self.timeline, Random(1)), Random(1), {})
        self.loop = HostLoop(self.timeline, self.machine, "broker-1", self.syscalls)
        self.path = directory / "life-1"
        self.path.mkdir()

    def do(self, work) -> None:
        self.loop.call_soon(work)
        self.run()

    def run(self) -> None:
        with self.syscalls.simulated():
            self.timeline.run(lambda: False, 10_000)

    def sync(self, times: int) -> None:
        fd = os.open(self.path / "log", os.O_RDWR | os.O_CREAT)
        for _ in range(times):
            os.fsync(fd)
        os.close(fd)


@pytest.fixture
def host(tmp_path):
    return Host(tmp_path)


@pytest.mark.parametrize(("fsyncs", "expected"), [(BOUNDS["fsyncs"], 0), (BOUNDS["fsyncs"] + 1, 1)])
def test_a_callback_that_asks_for_too_much_is_found(host, fsyncs, expected):
    host.do(lambda: host.sync(fsyncs))
    assert len(host.excesses) == expected
    assert host.syscalls.worst["fsyncs"].count == fsyncs


def test_many_callbacks_may_ask_for_as_much_together(host):
    for _ in range(2):
        host.loop.call_soon(lambda: host.sync(BOUNDS["fsyncs"]))
    host.run()
    assert host.excesses == []


def test_what_a_thread_asks_for_keeps_nobody_waiting(host):
    host.do(lambda: host.loop.run_in_executor(None, host.sync, BOUNDS["fsyncs"] + 1))
    assert host.excesses == []


def test_what_a_thread_hands_over_counts_as_a_callback(host):
    def hand_over() -> None:
        host.loop.call_soon_threadsafe(host.sync, BOUNDS["fsyncs"] + 1)

    host.do(lambda: host.loop.run_in_executor(None, hand_over))
    assert len(host.excesses) == 1


@pytest.mark.parametrize(
    ("trouble", "number"),
    [("no descriptors", errno.EMFILE), ("disk is full", errno.ENOSPC), ("disk fails", errno.EIO)],
)
def test_a_disk_in_trouble_refuses_until_it_is_mended(host, trouble, number):
    refused = []

    def try_to_sync() -> None:
        try:
            host.sync(1)
        except OSError as error:
            refused.append(error.errno)

    host.machine.disk_trouble = trouble
    for _ in range(60):  # of descriptors there may be one now and then
        host.do(try_to_sync)
    assert set(refused) == {number}
    refused.clear()
    host.machine.mend_disk()
    host.do(try_to_sync)
    assert refused == []


def test_a_disk_that_hangs_holds_up_its_process_and_lets_it_go_on(host):
    done = []
    host.machine.disk_trouble = "disk hangs"
    host.loop.call_soon(host.sync, 1)
    host.loop.call_soon(done.append, "next")
    host.run()
    assert done == []
    host.machine.mend_disk()
    host.run()
    assert done == ["next"]


def test_a_disk_that_hangs_lets_callbacks_go_on_that_do_not_need_it(host):
    done = []
    host.machine.disk_trouble = "disk hangs"
    host.do(lambda: host.loop.run_in_executor(None, host.sync, 1))
    host.do(lambda: done.append("next"))
    assert done == ["next"]

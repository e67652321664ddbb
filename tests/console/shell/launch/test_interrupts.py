"""Whoever watches sleeps long, and is woken by what it watches for."""

import os
import signal
import subprocess
import sys

import pytest

from console.shell.launch.interrupts import WATCHED, Interrupts

LONGER_THAN_ANY_TEST_S = 10_000


@pytest.fixture
def interrupts():
    before = {number: signal.getsignal(number) for number in (*WATCHED, signal.SIGCHLD)}
    watching = Interrupts()
    watching.watch()
    yield watching
    os.close(signal.set_wakeup_fd(-1))
    for number, handler in before.items():
        signal.signal(number, handler)


def test_a_pause_ends_when_a_child_dies(interrupts):
    with subprocess.Popen([sys.executable, "-c", ""]):
        interrupts.pause(LONGER_THAN_ANY_TEST_S)

    assert not interrupts.hurry


def test_a_signal_that_came_before_the_pause_ends_it_too(interrupts):
    os.kill(os.getpid(), signal.SIGTERM)
    interrupts.pause(LONGER_THAN_ANY_TEST_S)

    assert interrupts.count == 1


def test_a_pause_that_nobody_interrupts_ends_by_itself(interrupts):
    interrupts.pause(0.01)
    interrupts.pause(0.01)

    assert interrupts.count == 0

"""A process says on its own log why it ends; only one that is killed says nothing."""

import os
import signal
import subprocess
import sys

import pytest

_PROGRAM = """
import os, signal, sys, threading
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # a gate that outlives its terminal ignores it
import broker.__main__ as program
from broker.common.logs import configure_logs
from broker.common.stop_signals import stop_event

class command:
    def main(argv):
        configure_logs(process="test")
        stop = stop_event()
        print("ready", flush=True)
        {body}
        return 0

program.COMMANDS["test"] = "a command of this test"
sys.modules["broker.cli.test"] = command
sys.exit(program.main(["test"]))
"""
_IN_THREAD = "thread = threading.Thread(target=lambda: [][0], name='reader'); thread.start(); thread.join()"


def ended(body: str, number: int | None = None) -> tuple[int, str]:
    """The exit status and the log of a process that runs `body`, told to stop by a signal if one is given."""
    process = subprocess.Popen(
        [sys.executable, "-c", _PROGRAM.format(body=body)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.getcwd()},
    )
    assert process.stdout.readline() == "ready\n"
    if number is not None:
        process.send_signal(number)
    _, log = process.communicate(timeout=60)
    return process.returncode, log


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_process_that_is_told_to_stop_names_the_signal_and_says_that_it_ends(number):
    status, log = ended("stop.wait()", number)
    assert status == 0
    assert f"event=stops signal={number.name}" in log
    assert 'event="process ends"' in log


@pytest.mark.parametrize("name", ["SIGUSR1", "SIGUSR2", "SIGALRM"])
def test_a_signal_that_means_nothing_is_logged_and_ends_no_process(name):
    status, log = ended(f"os.kill(os.getpid(), signal.{name}); print(stop.wait(0.5), file=sys.stderr)")
    assert status == 0
    assert f'event="signal ignored" signal={name}' in log
    assert "False" in log, "nor is it told to stop"
    assert 'event="process ends"' in log


def test_a_crash_in_a_library_leaves_the_stacks_of_its_threads():
    status, log = ended("os.kill(os.getpid(), signal.SIGSEGV)")
    assert status == -signal.SIGSEGV
    assert "Fatal Python error: Segmentation fault" in log
    assert "in main" in log


def test_a_thread_that_ends_by_an_error_has_a_line():
    status, log = ended(_IN_THREAD)
    assert status == 0
    (line,) = [line for line in log.splitlines() if 'event="thread ended by an error"' in line]
    assert "thread=reader" in line
    assert "IndexError" in line


def test_an_error_of_the_command_is_the_last_line():
    status, log = ended("raise ValueError('no such thing')")
    assert status == 1
    assert log.splitlines()[-1] == "ValueError: no such thing"


def test_a_closed_terminal_stops_no_process_that_was_told_to_outlive_it():
    """As nohup does."""
    body = "signal.signal(signal.SIGHUP, signal.SIG_IGN); from broker.common.process_end import stop_signals; "
    status, log = ended(body + "sys.exit(signal.SIGHUP in stop_signals())")
    assert (status, "SIGHUP" in log) == (0, False)

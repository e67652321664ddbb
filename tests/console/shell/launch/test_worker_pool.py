"""Tasks beside one another in threads, and the end of a worker in which one is stuck."""

import subprocess
import sys
import threading

from console.shell.launch.worker_pool import EXIT_STATUS, ThreadPool

#: Ends by itself only if the pool never takes the task for stuck.
_WAITS_FOR_EVER = """
import os, threading, time
from console.shell.launch.worker_pool import ThreadPool

pool = ThreadPool(2)
pool.on_apply(threading.Event().wait, (), timeout={timeout_s})
while {is_watched_for_ever} or not pool._until:
    pool.end_if_stuck()
    time.sleep(0.01)
pool.end_if_stuck()
os._exit(0)
"""


def _end_of(*, timeout_s: float, is_watched_for_ever: bool) -> int:
    code = _WAITS_FOR_EVER.format(timeout_s=timeout_s, is_watched_for_ever=is_watched_for_ever)
    return subprocess.run([sys.executable, "-c", code], timeout=120, check=False).returncode


def test_a_task_that_waits_keeps_no_other_from_beginning():
    meeting, pool = threading.Barrier(2), ThreadPool(2)

    both = [pool.on_apply(meeting.wait, (), callback=lambda _result: None) for _ in range(2)]
    for item in both:
        item.get(timeout=30)

    pool.on_stop()


def test_a_worker_in_which_a_task_is_stuck_ends():
    assert _end_of(timeout_s=0.1, is_watched_for_ever=True) == EXIT_STATUS


def test_a_task_within_its_time_ends_nothing():
    assert _end_of(timeout_s=10_000, is_watched_for_ever=False) == 0


def test_a_task_that_has_ended_is_not_taken_for_stuck():
    pool = ThreadPool(1)
    pool.on_apply(lambda: None, (), callback=lambda _result: None, timeout=1e-9).get(timeout=30)

    pool.end_if_stuck()
    pool.on_stop()

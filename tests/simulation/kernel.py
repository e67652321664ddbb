"""What brokers get from the kernel and not by argument: sockets, fsync, randomness, and how long code took. Simulated
for the length of a run.

A run has its Python process to itself (`python -m tests.simulation`), because this replaces functions of modules.
Hashes of strings decide the order of sets, so that process has a fixed PYTHONHASHSEED.
"""

import contextlib
import os
import random
import socket
from collections.abc import Callable, Iterator
from unittest import mock

from broker.log.compaction.log_cleaner import LogCleaner
from broker.log.log import Log
from broker.net import turns
from broker.runtime.audit import append_audit
from tests.simulation.sockets import SimulatedSocket
from tests.simulation.syscalls import Syscalls

_STEP_S_MAX = 0.001


@contextlib.contextmanager
def simulated_kernel(seed: int, syscalls: Syscalls, appended: Callable, cleaned: Callable) -> Iterator[None]:
    """`appended` is told of what every log takes (`Holdings.appended`), `cleaned` of each pass (`Passes.cleaned`)."""
    if os.environ.get("PYTHONHASHSEED") != "0":
        raise RuntimeError("a run repeats only with PYTHONHASHSEED=0")
    entropy = random.Random(f"entropy {seed}")
    random.seed(f"brokers {seed}")
    with (
        mock.patch.object(socket, "socket", SimulatedSocket),
        mock.patch.object(os, "urandom", entropy.randbytes),
        syscalls.simulated(),
        mock.patch.object(turns, "monotonic", _Stopwatch(seed).read),
        mock.patch.object(append_audit, "thread_time", _Stopwatch(seed).read),
        mock.patch.object(Log, "append", _watched(Log.append, appended, by_leader=True)),
        mock.patch.object(Log, "append_as_follower", _watched(Log.append_as_follower, appended, by_leader=False)),
        mock.patch.object(LogCleaner, "clean", _watched_pass(LogCleaner.clean, cleaned)),
    ):
        yield


def _watched_pass(clean: Callable, cleaned: Callable) -> Callable:
    def watched(cleaner: LogCleaner, target, plan):
        stats = clean(cleaner, target, plan)
        cleaned(target, plan, stats)
        return stats

    return watched


def _watched(append: Callable, appended: Callable, *, by_leader: bool) -> Callable:
    def watched(log: Log, batches, *arguments, **more):
        before = log.log_end_offset
        try:
            return append(log, batches, *arguments, **more)
        finally:  # of a follower's some may be there though the next could not be written
            if log.log_end_offset > before:
                appended(log, before, memoryview(batches), by_leader=by_leader)

    return watched


class _Stopwatch:
    """For who measures how long code takes; in simulated time it takes none."""

    def __init__(self, seed: int):
        self._random = random.Random(f"stopwatch {seed}")
        self._now_s = 0.0

    def read(self) -> float:
        self._now_s += self._random.uniform(0, _STEP_S_MAX)
        return self._now_s

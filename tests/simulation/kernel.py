"""What brokers get from the kernel and not by argument: sockets and randomness, simulated for the length of a run.

A run has its Python process to itself (`python -m tests.simulation`), because this replaces functions of modules.
Hashes of strings decide the order of sets, so that process has a fixed PYTHONHASHSEED.
"""

import contextlib
import os
import random
import socket
from collections.abc import Iterator
from unittest import mock

from broker.net import turns
from tests.simulation.disk import Disk
from tests.simulation.sockets import SimulatedSocket


@contextlib.contextmanager
def simulated_kernel(seed: int, disk: Disk) -> Iterator[None]:
    if os.environ.get("PYTHONHASHSEED") != "0":
        raise RuntimeError("a run repeats only with PYTHONHASHSEED=0")
    entropy = random.Random(f"entropy {seed}")
    random.seed(f"brokers {seed}")
    with (
        mock.patch.object(socket, "socket", SimulatedSocket),
        mock.patch.object(os, "urandom", entropy.randbytes),
        mock.patch.object(turns, "monotonic", _time_within_a_pass),
        mock.patch.object(os, "fsync", disk.synced),
    ):
        yield


def _time_within_a_pass() -> float:
    """How long a pass of a loop takes is the machine's affair; in a run it takes no time."""
    return 0.0

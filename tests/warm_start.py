"""`python -m broker …` without its imports: a process is forked from one that has them (`warm_python.py`).

For tests of what brokers and workers do. Who tests how they begin, or puts them somewhere else, starts them by
`subprocess`; where the environment has meanwhile something to say to Python itself, they begin from nothing as well.
"""

import atexit
import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from tests.warm_python import Request

_ROOT = Path(__file__).parent.parent


class WarmProcess:
    """As much of `subprocess.Popen` as tests use. One that is forgotten is killed."""

    def __init__(self, arguments: Sequence[str], parent: socket.socket):
        self.args = arguments
        self.returncode: int | None = None
        self._parent = parent
        self.pid = int(parent.recv(64))

    def poll(self) -> int | None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self.wait(0)
        return None

    def wait(self, timeout: float | None = None) -> int:
        """Raises subprocess.TimeoutExpired after as many seconds."""
        if self.returncode is None:
            ends = select.poll()
            ends.register(self._parent, select.POLLIN)
            if not ends.poll(None if timeout is None else timeout * 1000):
                raise subprocess.TimeoutExpired(self.args, timeout or 0)
            with self._parent:
                self.returncode = int(self._parent.recv(64))
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


#: Of variables that are read before a process is Python, or while it becomes it.
_READ_EARLY = ("PYTHON", "LD_")
#: Where the one that is warm is asked, if there is one: forks of who began it share it.
_asks: socket.socket | None = None
_begun_with: dict[str, str] = {}


def begin() -> None:
    """From now on what is started is forked. It ends with who began it and all forks of that."""
    global _asks, _begun_with
    asks, listens = socket.socketpair(type=socket.SOCK_SEQPACKET)
    with listens:
        command = [sys.executable, "-m", "tests.warm_python", str(listens.fileno())]
        process = subprocess.Popen(command, cwd=_ROOT, stdin=subprocess.DEVNULL, pass_fds=[listens.fileno()])
    atexit.register(_ended, process, asks)
    _asks, _begun_with = asks, _read_early()


def _ended(process: subprocess.Popen, asks: socket.socket) -> None:
    asks.close()
    process.wait()


def started(arguments: Sequence[str], log: BinaryIO) -> subprocess.Popen | WarmProcess:
    """`python -m broker` and these arguments; what it prints goes to `log`."""
    if _asks is None or _read_early() != _begun_with:
        return start([sys.executable, "-m", "broker", *arguments], log)
    parent, tells = socket.socketpair(type=socket.SOCK_SEQPACKET)
    request = Request(arguments=list(arguments), environment=_environment(), directory=str(_ROOT))
    with tells:
        socket.send_fds(_asks, [json.dumps(request).encode()], [tells.fileno(), log.fileno()])
    return WarmProcess(arguments, parent)


def start(command: Sequence[str], log: BinaryIO) -> subprocess.Popen:
    """Any command, in the directory of the sources."""
    return subprocess.Popen(command, cwd=_ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=_environment())


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}


def _read_early() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name.startswith(_READ_EARLY)}

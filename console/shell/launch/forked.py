"""Asks the fork server for a service. Where it does not answer one is started by itself, and shares no memory."""

import json
import os
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from console.processes.log_files import bound_log
from console.shell.launch.service import Service

#: In the working directory of the services.
SOCKET_NAME = "fork-server"
#: It imports all the console first; a machine with much else to do takes its time.
TIMEOUT_S = 30.0
_RETRY_S = 0.02


@dataclass(frozen=True)
class ForkRequest:
    """A service as the fork server is told of it."""

    argv: list[str]
    log_path: str
    token: str

    @property
    def module(self) -> str:
        return self.argv[self._module_at]

    @property
    def arguments(self) -> list[str]:
        return self.argv[self._module_at + 1 :]

    @property
    def _module_at(self) -> int:
        return self.argv.index("-m") + 1

    def as_json(self) -> bytes:
        return json.dumps(asdict(self)).encode() + b"\n"

    @classmethod
    def from_json(cls, line: bytes) -> Self:
        """Raises ValueError, TypeError."""
        return cls(**json.loads(line))


def fork(service: Service, directory: Path, token: str, is_alive: Callable[[], bool]) -> int | None:
    """Return the pid; None if the fork server of `directory` is not alive, or could not do it."""
    service.log_path.parent.mkdir(parents=True, exist_ok=True)
    bound_log(service.log_path)
    wanted = ForkRequest(service.argv, str(service.log_path), token)
    deadline = time.monotonic() + TIMEOUT_S
    with suppress(OSError, ValueError), _connect(directory, deadline, is_alive) as asking:
        asking.settimeout(max(_RETRY_S, deadline - time.monotonic()))
        asking.sendall(wanted.as_json())
        return int(asking.recv(32))
    return None


def _connect(directory: Path, deadline: float, is_alive: Callable[[], bool]) -> socket.socket:
    """Raises OSError. A path of a socket may have 107 letters, a directory's descriptor makes any short enough."""
    asking = socket.socket(socket.AF_UNIX)
    where = os.open(directory, os.O_PATH | os.O_DIRECTORY)
    try:
        while True:
            try:
                asking.connect(f"/proc/self/fd/{where}/{SOCKET_NAME}")
                return asking
            except (FileNotFoundError, ConnectionRefusedError):  # it has just been started, or is an earlier one's
                if not is_alive() or time.monotonic() > deadline:
                    raise
                time.sleep(_RETRY_S)
    except BaseException:
        asking.close()
        raise
    finally:
        os.close(where)

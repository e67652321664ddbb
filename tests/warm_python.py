"""A Python that has imported what brokers and workers consist of: each that a test starts is a fork of it.

Importing is two thirds of the CPU time that a broker takes up to its first request, and the gate starts hundreds.
Nothing of any test is in here. A fork has arguments, environment, directory and log of its own, and goes on where
`python -m broker` begins; that a process which has imported nothing does the same, `broker/cli/test_server.py` shows.

`warm_start.py` asks: `python -m tests.warm_python DESCRIPTOR`, of a socket by which requests come, each with the socket
by which its process's number is told, then its status. When nobody is left who could ask, who still runs is killed.
"""

import contextlib
import gc
import importlib
import json
import os
import selectors
import signal
import socket
import sys
from typing import TypedDict

from broker.__main__ import main

REQUEST_BYTES_MAX = 1 << 17
#: What processes of a command import sooner or later, besides the command.
_IMPORTED_LATER = {"connect-worker": ("broker.connect.standalone", "broker.connect.distributed")}


class Request(TypedDict):
    """What makes one process another than the next."""

    arguments: list[str]
    environment: dict[str, str]
    directory: str


class WarmPython:
    def __init__(self, requests: socket.socket):
        self._requests = requests
        self._warm: set[str] = set()
        #: By pid: whom its end is told, and whose end is its end.
        self._watched: dict[int, socket.socket] = {}
        self._woken, self._wakes = socket.socketpair()
        self._wakes.setblocking(False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(requests, selectors.EVENT_READ, self._answer)
        self._selector.register(self._woken, selectors.EVENT_READ, self._reap)

    def run(self) -> Request | None:
        """In each fork what it is to be; in itself None, when all is over."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        signal.set_wakeup_fd(self._wakes.fileno())
        while self._requests.fileno() >= 0:
            for key, _ in self._selector.select():
                request = key.data()
                if request is not None:
                    return request
        return None

    def _answer(self) -> Request | None:
        data, descriptors, _, _ = socket.recv_fds(self._requests, REQUEST_BYTES_MAX, 2)
        if not data:
            self._end()
            return None
        request: Request = json.loads(data)
        self._import(request["arguments"][0])
        answers, log = socket.socket(fileno=descriptors[0]), descriptors[1]
        pid = os.fork()
        if pid == 0:
            answers.close()
            self._forget()
            _settle(request, log)
            return request
        os.close(log)
        answers.send(str(pid).encode())
        self._watched[pid] = answers
        self._selector.register(answers, selectors.EVENT_READ, lambda: self._abandon(pid))
        return None

    def _import(self, command: str) -> None:
        if command not in self._warm:
            self._warm.add(command)
            for name in (f"broker.cli.{command.replace('-', '_')}", *_IMPORTED_LATER.get(command, ())):
                importlib.import_module(name)
            gc.freeze()

    def _reap(self) -> None:
        self._woken.recv(4096)
        for pid in list(self._watched):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                self._tell_end(self._watched.pop(pid), os.waitstatus_to_exitcode(status))

    def _tell_end(self, parent: socket.socket, status: int) -> None:
        with contextlib.suppress(KeyError):  # abandoned
            self._selector.unregister(parent)
        with parent, contextlib.suppress(OSError):
            parent.send(str(status).encode())

    def _abandon(self, pid: int) -> None:
        """Nobody waits for its end any more."""
        os.kill(pid, signal.SIGKILL)
        self._selector.unregister(self._watched[pid])

    def _end(self) -> None:
        for pid in self._watched:
            os.kill(pid, signal.SIGKILL)
        self._requests.close()

    def _forget(self) -> None:
        """In a fork, what is not its own."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        self._selector.close()
        for item in (self._requests, self._woken, self._wakes, *self._watched.values()):
            item.close()


def _settle(request: Request, log: int) -> None:
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["directory"])
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.close(log)
    sys.argv[1:] = request["arguments"]


if __name__ == "__main__":
    gc.disable()
    result = WarmPython(socket.socket(fileno=int(sys.argv[1]))).run()
    if result is not None:
        gc.enable()
        sys.exit(main(result["arguments"]))

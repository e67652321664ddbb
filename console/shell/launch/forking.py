"""What a fork server does once it is asked: import what its children have in common, fork them, and rest again.

A child becomes what was asked for, with that service's command line, run token, log and session, so that nobody need
know how it was started. How a child ended is left for whoever looks at it (a zombie), until the next one is forked.
"""

import ctypes
import gc
import importlib.util
import os
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from broker.common.installation import RUN_TOKEN_VARIABLE
from console.shell.launch.forked import ForkRequest

#: With all that they import.
PRELOADED = (
    "console.asgi",
    "console.shell.launch.web",
    "console.shell.launch.worker",
    "console.shell.collector.management.commands.collect",
)
#: After it was last asked. Who starts a console asks thrice within seconds.
REST_AFTER_S = 60.0
#: Who asks says all at once.
_REQUEST_TIMEOUT_S = 5.0
_REQUEST_BYTES_MAX = 64 * 1024


def serve(listening: socket.socket) -> int | None:
    """Serve; return None after a while without requests; in each child return its service's result."""
    for module in PRELOADED:
        import_module(module)
    gc.collect()
    gc.freeze()  # a collection would write to every object, and what is written to is shared no more
    wanted = _child_of(listening)
    return int(entry(wanted.module)() or 0) if wanted else None


def _child_of(listening: socket.socket) -> ForkRequest | None:
    """Return in children what each has become; None in the parent."""
    listening.settimeout(REST_AFTER_S)
    while True:
        try:
            asking, _ = listening.accept()
        except TimeoutError:
            return None
        with asking, suppress(OSError, ValueError, TypeError, KeyError):
            asking.settimeout(_REQUEST_TIMEOUT_S)
            wanted = ForkRequest.from_json(_line_of(asking))
            _reap()
            if os.fork() == 0:
                listening.close()
                return _become(wanted, asking)


def _line_of(asking: socket.socket) -> bytes:
    line = b""
    while not line.endswith(b"\n"):
        part = asking.recv(_REQUEST_BYTES_MAX)
        line += part
        if not part or len(line) > _REQUEST_BYTES_MAX:
            raise ValueError("not a line")
    return line


def _reap() -> None:
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _become(wanted: ForkRequest, asking: socket.socket) -> ForkRequest:
    """Fork a child, which answers when it can be told from its parent. One that fails ends without an answer."""
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        log = os.open(wanted.log_path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        for descriptor in (1, 2):
            os.dup2(log, descriptor)
        os.close(log)
        rewrite_memory(wanted.argv, os.environ[RUN_TOKEN_VARIABLE], wanted.token)
        os.environ[RUN_TOKEN_VARIABLE] = wanted.token
        sys.argv[1:] = wanted.arguments
        asking.sendall(b"%d\n" % os.getpid())
    except BaseException as error:
        print(f"{wanted.module} cannot be forked: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
        os._exit(1)
    return wanted


def rewrite_memory(argv: list[str], old_token: str, token: str) -> None:
    """Rewrite command line and run token where the kernel shows them of this process, in /proc/PID: a fork has its
    parent's.

    A command line longer than the parent's is cut. Raises ValueError where a token has another length.
    """
    numbers = Path("/proc/self/stat").read_bytes().rpartition(b")")[2].split()
    argv_begin, argv_end, environment_begin, environment_end = (int(number) for number in numbers[45:49])  # proc(5)
    environment = ctypes.string_at(environment_begin, environment_end - environment_begin)
    at = environment.index(f"{RUN_TOKEN_VARIABLE}={old_token}\0".encode()) + len(RUN_TOKEN_VARIABLE) + 1
    if len(token) != len(old_token):
        raise ValueError(f"a token of {len(old_token)} letters is needed")
    ctypes.memmove(environment_begin + at, token.encode(), len(token))
    size = argv_end - argv_begin
    line = "\0".join(argv).encode()[: size - 1]
    ctypes.memmove(argv_begin, line.ljust(size, b"\0"), size)


def entry(module: str) -> Callable[[], int]:
    """Return what `python -m` would run: `main` of the module, or of a package's `__main__`."""
    spec = importlib.util.find_spec(module)
    is_package = spec is not None and spec.submodule_search_locations is not None
    main: Callable[[], int] = import_module(f"{module}.__main__" if is_package else module).main
    return main

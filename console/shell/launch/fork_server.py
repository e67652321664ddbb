"""Web, worker and collector are forks of one process that has imported what they have in common.

Each by itself had the same 60 MB of imported code and classes; as forks they share what none of them writes to. What
all of them have written to nobody shares any more, so their parent, which would keep a copy of it for nobody, 12 MB and
twice that once a page was open, rests: it runs its own program anew (exec), pid and children stay, and it imports
everything once more when somebody asks.

`python -m console.shell.launch.fork_server` listens on a socket in its working directory. While it rests it is a Python
that has imported next to nothing, so what it needs only then, and when it first starts, is imported inside of
functions.
"""

import os
import select
import signal
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import socket

#: The listening socket's descriptor, from one program to the next.
_DESCRIPTOR = "BARNABAS_FORK_SERVER_DESCRIPTOR"


def main() -> int:
    """Run until SIGTERM; in a child until the service ends, returning its status."""
    _signal_child_ends(os.getppid())
    descriptor = os.environ.pop(_DESCRIPTOR, "")
    listening = _once_asked(int(descriptor)) if descriptor else _listen()
    from console.shell.launch.forking import serve

    status = serve(listening)
    if status is None:
        os.set_inheritable(listening.fileno(), True)
        os.execve(sys.executable, sys.orig_argv, os.environ | {_DESCRIPTOR: str(listening.fileno())})
    return status


def _once_asked(descriptor: int) -> "socket.socket":
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    poll.poll()
    import socket

    os.set_inheritable(descriptor, False)
    return socket.socket(fileno=descriptor)


def _listen() -> "socket.socket":
    """Listen before anything is imported: early requests wait."""
    import socket
    from contextlib import suppress

    from console.shell.launch.forked import SOCKET_NAME

    with suppress(FileNotFoundError):
        os.unlink(SOCKET_NAME)
    listening = socket.socket(socket.AF_UNIX)
    before = os.umask(0o177)
    listening.bind(SOCKET_NAME)
    os.umask(before)
    listening.listen()
    return listening


def _signal_child_ends(supervisor: int) -> None:
    """Wake the supervisor when a child ends, as its own child would."""

    def tell(_number: int, _frame: object) -> None:
        if os.getppid() == supervisor:
            os.kill(supervisor, signal.SIGCHLD)

    signal.signal(signal.SIGCHLD, tell)


if __name__ == "__main__":
    sys.exit(main())

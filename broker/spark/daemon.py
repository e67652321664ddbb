"""Spark's daemon for Python workers, which ends while there is nothing to do.

Spark starts one for each kind of question it asks in Python (find a source, make it, plan a read, write, commit), and
keeps them all, 37 MB each; a stream job asks some of these once. Spark starts another when it cannot connect to one.
Its setting for a daemon of one's own (`spark.python.daemon.module`) is for what runs records through functions only, so
Python itself is a program of ours that starts this one instead.
"""

import os
import select
import shlex
import sys
import time
from pathlib import Path
from types import SimpleNamespace

#: Longer than Spark keeps a worker that has nothing to do, a minute; and another costs a second of a core.
IDLE_S = 300.0
_PYTHON = """#!/bin/sh
if [ "$1 $2" = "-m pyspark.daemon" ]; then shift 2; set -- -m broker.spark.daemon "$@"; fi
exec {python} "$@"
"""


def frugal_python(directory: Path) -> Path:
    """Return a program in `directory` that is this Python, but for what Spark starts as its daemon."""
    program = directory.absolute() / "python"
    program.unlink(missing_ok=True)
    with os.fdopen(os.open(program, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o700), "w") as file:
        file.write(_PYTHON.format(python=shlex.quote(sys.executable)))
    return program


class RestlessPoll:
    """Like the object of `select.poll`, but it ends the process when nothing has come for long and no worker lives.

    Nobody has connected at that moment; who does so before the socket is closed is refused or reset, and asks another.
    """

    def __init__(self, idle_s: float = IDLE_S) -> None:
        self._poll = select.poll()
        self.register, self.unregister = self._poll.register, self._poll.unregister
        self._idle_s = idle_s
        self._busy = time.monotonic()

    def poll(self, timeout_ms: float) -> list[tuple[int, int]]:
        """Raises SystemExit."""
        events = self._poll.poll(timeout_ms)
        if events or has_children():
            self._busy = time.monotonic()
        elif time.monotonic() - self._busy >= self._idle_s:
            raise SystemExit(0)
        return events


def has_children() -> bool:
    """Return whether the process has children; True if the kernel does not tell."""
    try:
        return bool(Path(f"/proc/self/task/{os.getpid()}/children").read_text())
    except OSError:
        return True


def main() -> None:
    from pyspark import daemon

    stand_in = SimpleNamespace(poll=RestlessPoll, POLLIN=select.POLLIN, POLLHUP=select.POLLHUP)
    daemon.select = stand_in  # type: ignore[attr-defined, assignment]  # its module `select`
    daemon.manager()


if __name__ == "__main__":
    main()

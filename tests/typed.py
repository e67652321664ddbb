"""Commands as a person types them: in this process, where many are tried, and as a process of its own, by bin/."""

import contextlib
import io
import os
import signal
import subprocess
from pathlib import Path
from typing import NamedTuple

from broker.cli.commands import load
from broker.cli.frame.running import run
from tests.place import HERE, Place

BIN = Path(__file__).parent.parent / "bin"
_DEADLINE_S = 60


class Typed(NamedTuple):
    status: int
    out: str
    err: str


def typed(name: str, *words: str) -> Typed:
    """Not for a command that reads stdin or waits for a signal."""
    before = signal.getsignal(signal.SIGTERM)
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8", "replace", "", write_through=True), io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = run(load(name), list(words))
    finally:
        signal.signal(signal.SIGTERM, before)
    return Typed(status, out.buffer.getvalue().decode(errors="replace"), err.getvalue())


def typed_in_shell(
    name: str, *words: str, stdin: str | bytes = b"", directory: Path | None = None, place: Place = HERE
) -> Typed:
    """Through the file in bin/, as a process whose stdin ends after `stdin`."""
    within = [*place.enter, "env", f"--chdir={directory or '.'}"] if place.enter else []
    done = subprocess.run(
        [*within, BIN / name, *words],
        input=stdin.encode() if isinstance(stdin, str) else stdin,
        capture_output=True,
        timeout=_DEADLINE_S,
        cwd=directory,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        check=False,
    )
    return Typed(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))

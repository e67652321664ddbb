"""A place that sees no processes but its own: for what ends every process of a kind that it finds on the machine."""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.barnabas_cluster import await_true
from tests.place import Place

needs_own_processes = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("unshare") is None or shutil.which("nsenter") is None,
    reason="a namespace of processes needs root and util-linux",
)


@contextlib.contextmanager
def own_processes() -> Iterator[Place]:
    """What was started in it, and still runs, is killed at the end."""
    holder = subprocess.Popen(
        ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "sleep", "infinity"], stdin=subprocess.DEVNULL
    )
    try:
        children = Path(f"/proc/{holder.pid}/task/{holder.pid}/children")
        await_true(lambda: _sleeps(children.read_text().strip()), "the namespace")
        yield Place(enter=("nsenter", "--target", children.read_text().strip(), "--pid", "--mount"))
    finally:
        holder.kill()
        holder.wait()


def _sleeps(pid: str) -> bool:
    """Its /proc is its own by then."""
    return bool(pid) and Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"sleep")

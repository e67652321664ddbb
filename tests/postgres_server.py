"""A PostgreSQL of a test's own on a free port; it ends with the tests."""

import glob
import os
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

USER = "tester"


@contextmanager
def running_postgres(name: str) -> Iterator[str]:
    """Its address, as host:port/database; skips where it cannot run. Whoever is `tester` needs no password."""
    result = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))
    if not result or os.geteuid() != 0:
        pytest.skip("needs PostgreSQL's initdb, and root to become somebody else")
    binaries = os.path.dirname(result[-1])
    # Not below TMPDIR: only its owner may pass through what mktemp made, and the path of a socket may be long there.
    home = tempfile.mkdtemp(prefix=f"barnabas-{name}-", dir="/tmp")
    shutil.chown(home, "nobody")
    nobody = {"user": "nobody", "group": "nogroup", "extra_groups": [], "cwd": "/"}
    try:
        made = subprocess.run(
            [f"{binaries}/initdb", "-D", f"{home}/data", "-U", USER, "-A", "trust", "--no-sync"],
            **nobody,
            check=False,
            capture_output=True,
            text=True,
        )
        assert made.returncode == 0, made.stderr
        port = _free_port()
        options = ["-k", home, "-p", str(port), "-h", "127.0.0.1", "-F"]
        server = subprocess.Popen(
            [f"{binaries}/postgres", "-D", f"{home}/data", *options], **nobody, stderr=subprocess.DEVNULL
        )
        try:
            yield f"127.0.0.1:{port}/postgres"
        finally:
            # Its fast shutdown: SIGTERM would wait for clients to leave.
            server.send_signal(signal.SIGINT)
            server.wait(20)
    finally:
        shutil.rmtree(home)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]

"""A PostgreSQL of a test's own on a free port; it ends with the tests."""

import glob
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

USER = "tester"


@contextmanager
def running_postgres(name: str) -> Iterator[str]:
    """Its address, as host:port/database; skips where it cannot run. Whoever is `tester` needs no password."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))
    if not found or os.geteuid() != 0:
        pytest.skip("needs PostgreSQL's initdb, and root to become somebody else")
    binaries = os.path.dirname(found[-1])
    home = f"/tmp/barnabas-{name}-{os.getpid()}"
    os.mkdir(home)
    shutil.chown(home, "nobody")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    as_nobody = ["runuser", "-u", "nobody", "--"]
    subprocess.run(
        [*as_nobody, f"{binaries}/initdb", "-D", f"{home}/data", "-U", USER, "-A", "trust", "--no-sync"],
        check=True,
        stdout=subprocess.DEVNULL,
        cwd="/",
    )
    options = ["-k", home, "-p", str(port), "-h", "127.0.0.1", "-F"]
    server = subprocess.Popen(
        [*as_nobody, f"{binaries}/postgres", "-D", f"{home}/data", *options], cwd="/", stderr=subprocess.DEVNULL
    )
    try:
        yield f"127.0.0.1:{port}/postgres"
    finally:
        server.terminate()
        server.wait(20)
        shutil.rmtree(home, ignore_errors=True)

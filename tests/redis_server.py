"""A Redis of a test's own, on a unix socket."""

import contextlib
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from console.processes import os_process
from console.shell.launch.redis_server import SERVER_PROGRAMS, bundled_programs, find_server_program, wait_for_redis

#: For `params` of a fixture: the gate runs against the bundled server, `make test-all` against the machine's as well.
SERVERS = ("bundled", pytest.param("of the machine", marks=pytest.mark.long))


def server_program(server: str) -> str:
    """Return the program of one of `SERVERS`; skip the test where the machine has none."""
    if server == "bundled":
        return bundled_programs()[0]
    program = next(filter(None, map(shutil.which, SERVER_PROGRAMS)), None)
    return program or pytest.skip("this machine has no redis-server and no valkey-server")


@contextlib.contextmanager
def running_redis(program: str | None = None) -> Iterator[str]:
    """Yield the URL of a new server. The directory's name is short, as that of a socket has to be."""
    with tempfile.TemporaryDirectory(prefix="ba-") as directory:
        socket, token = Path(directory) / "redis.sock", secrets.token_hex(16)
        command = [program or find_server_program(), "--port", "0", "--unixsocket", str(socket), "--save", ""]
        server = os_process.spawn(command, {}, Path(directory), Path(directory) / "redis.log", token)
        url = f"unix://{socket}"
        assert wait_for_redis(url, lambda: None)
        yield url
        os_process.kill(server)
        os_process.look(server)

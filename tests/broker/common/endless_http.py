"""A web server whose answer never ends, as one that lies would send it."""

import contextlib
import socket
import threading
from collections.abc import Iterator

_PART = b"x" * 1024 * 1024


@contextlib.contextmanager
def endless_answers(head: bytes = b"HTTP/1.1 200 OK\r\n\r\n") -> Iterator[tuple[str, list[int]]]:
    """Yields its URL, and how many bytes each connection took before it was closed."""
    sent: list[int] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=_serve, args=(listening, head, sent))
        thread.start()
        yield "http://{}:{}".format(*listening.getsockname()), sent
        thread.join(30)


def _serve(listening: socket.socket, head: bytes, sent: list[int]) -> None:
    connection, _ = listening.accept()
    size = 0
    with connection, contextlib.suppress(OSError):
        connection.recv(65536)
        connection.sendall(head)
        while size < 200 * len(_PART):
            connection.sendall(_PART)
            size += len(_PART)
    sent.append(size)

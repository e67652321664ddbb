"""A server that may be anybody: whatever it does, who asks it is done with it within the deadline."""

import contextlib
import socket
import threading

import httpx2
import pytest

from console.kit.common import bounded_http
from console.kit.common.bounded_http import client_options

_PIECES = 100


class Dripper:
    """Says `before`, then `piece` again and again with pauses, then `after`: an answer that is whole in the end."""

    def __init__(self, before: bytes, piece: bytes, after: bytes):
        self._pieces = before, piece, after
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/"
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._serve)

    def __enter__(self) -> "Dripper":
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._is_over.set()
        self._thread.join(10)
        self._listener.close()

    def _serve(self) -> None:
        before, piece, after = self._pieces
        connection, _ = self._listener.accept()
        with connection, contextlib.suppress(OSError):
            connection.recv(65_536)
            connection.sendall(before)
            for _ in range(_PIECES):
                if self._is_over.wait(0.02):
                    return
                connection.sendall(piece)
            connection.sendall(after)


@pytest.mark.parametrize(
    ("before", "piece", "after"),
    [
        (b"HTTP/1.1 200 OK\r\nX-Slow: ", b"x", b"\r\nContent-Length: 0\r\n\r\n"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n", b"x", b""),
    ],
    ids=["in a header", "before the headers", "in the body"],
)
def test_an_answer_that_drips_is_left(before, piece, after, monkeypatch):
    monkeypatch.setattr(bounded_http, "DEADLINE_S", 0.1)
    asks = httpx2.Client(**client_options(None, 1_000))
    with Dripper(before, piece, after) as server, asks as client, pytest.raises(httpx2.TimeoutException):
        client.get(server.url)

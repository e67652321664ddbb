"""`/metrics` for Prometheus, `/status` for the console, `/healthz` for whoever restarts it; one caller at a time."""

import json
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from threading import Event, Thread
from urllib.parse import parse_qs

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from broker.common.errors import NotNowError
from broker.common.logs import logger
from broker.common.own_names import OwnNames
from broker.common.plain_http import END_OF_HEAD, HEAD_BYTES_MAX, address_of, hosts_in, response

_log = logger(__name__)
#: For a caller to ask, and to take the answer.
_TIMEOUT_S = 2.0
#: After a caller could not be let in, as without a free descriptor.
_REST_S = 0.1
Status = Callable[[int], dict[str, object]]


class ProbeEndpoint:
    """Serves from `start` until `stop`. `status` is given the moment since which minutes are wanted."""

    def __init__(
        self,
        where: tuple[str, int],
        registry: CollectorRegistry,
        status: Status,
        health: Callable[[], str],
        names: OwnNames,
    ):
        """Raises NotNowError when the port is taken."""
        self._registry, self._status, self._health, self._names = registry, status, health, names
        try:
            self._listening = socket.create_server(where)
        except OSError as error:
            text = f"listener={where[0]}:{where[1]} cannot be used: {error.strerror or error}."
            raise NotNowError(text) from error
        self._stopping = Event()
        self._thread = Thread(target=self._serve, name="http", daemon=True)

    @property
    def port(self) -> int:
        return int(self._listening.getsockname()[1])

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Stop listening; running responses are completed."""
        self._stopping.set()
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._listening.close()

    def _serve(self) -> None:
        while not self._stopping.is_set():
            try:
                caller, _ = self._listening.accept()
            except OSError:
                self._stopping.wait(_REST_S)
                continue
            with caller, suppress(OSError):  # whoever asks badly or goes away gets nothing
                self._serve_one(caller)

    def _serve_one(self, caller: socket.socket) -> None:
        head = _head_from(caller)
        if not head:
            return
        try:
            answer = self._answer(head)
        except Exception as error:
            _log.exception("a caller was not answered", reason=str(error))
            return
        caller.settimeout(_TIMEOUT_S)
        caller.sendall(answer)

    def _answer(self, head: bytes) -> bytes:
        request_line, *lines = head.split(b"\r\n")
        path, query = address_of(request_line)
        if why := self._names.refusal(hosts_in(lines)):
            return response(403, "text/plain", f"{why}\n".encode())
        if path == b"/metrics":
            return response(200, CONTENT_TYPE_PLAIN_0_0_4, generate_latest(self._registry))
        if path == b"/status":
            since = parse_qs(query.decode("latin-1")).get("since", ["0"])[0]
            status = self._status(int(since) if since.isdecimal() and len(since) < 16 else 0)
            return response(200, "application/json", json.dumps(status).encode())
        if path == b"/healthz":
            wrong = self._health()
            return response(503 if wrong else 200, "text/plain", (wrong or "ok").encode() + b"\n")
        return response(404, "text/plain", b"only GET /metrics, /status and /healthz\n")


def _head_from(caller: socket.socket) -> bytes:
    """Return the whole request head, if it comes within its time and size; else nothing. Raises OSError."""
    deadline, head = time.monotonic() + _TIMEOUT_S, b""
    while END_OF_HEAD not in head:
        caller.settimeout(max(0.001, deadline - time.monotonic()))
        part = caller.recv(HEAD_BYTES_MAX)
        head += part
        if not part or len(head) > HEAD_BYTES_MAX or time.monotonic() > deadline:
            return b""
    return head

"""`/metrics` for Prometheus, `/status` for the console, `/healthz` for whoever restarts it; one caller at a time."""

import json
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from urllib.parse import parse_qs, urlsplit

from broker.common.errors import NotNowError
from broker.common.own_names import OwnNames
from broker.common.plain_prometheus import CONTENT_TYPE_PLAIN_0_0_4, CollectorRegistry, generate_latest

#: For a caller to ask, and to take the answer.
_TIMEOUT_S = 2.0
Status = Callable[[int], dict[str, object]]


class Endpoint:
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
        told = {"registry": registry, "status": staticmethod(status), "health": staticmethod(health), "names": names}
        handler = type("Handler", (_Handler,), told)
        try:
            self._server = HTTPServer(where, handler)
        except OSError as error:
            text = f"listener={where[0]}:{where[1]} cannot be used: {error.strerror or error}."
            raise NotNowError(text) from error
        self._thread = Thread(target=self._server.serve_forever, name="http", daemon=True)

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    timeout = _TIMEOUT_S
    registry: CollectorRegistry
    status: Status
    health: Callable[[], str]
    names: OwnNames

    def do_GET(self) -> None:
        asked = urlsplit(self.path)
        if why := self.names.refusal(self.headers.get_all("Host", [])):
            self._answer(403, "text/plain", f"{why}\n".encode())
        elif asked.path == "/metrics":
            self._answer(200, CONTENT_TYPE_PLAIN_0_0_4, generate_latest(self.registry))
        elif asked.path == "/status":
            since = parse_qs(asked.query).get("since", ["0"])[0]
            told = self.status(int(since) if since.isdecimal() and len(since) < 16 else 0)
            self._answer(200, "application/json", json.dumps(told).encode())
        elif asked.path == "/healthz":
            wrong = self.health()
            self._answer(503 if wrong else 200, "text/plain", (wrong or "ok").encode() + b"\n")
        else:
            self._answer(404, "text/plain", b"only GET /metrics, /status and /healthz\n")

    def _answer(self, status: int, content_type: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments: object) -> None:
        """Who asks is nobody's business."""

"""`/metrics` and `/healthz` of a broker over HTTP, on the broker's own loop.

Answers two fixed paths to GET and closes. It reads at most one header block of 8 KB; all is over within five seconds.
"""

import asyncio
from collections.abc import Callable

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from broker.common.errors import NotNowError

_HEADER_BYTES_MAX = 8 * 1024
_TIMEOUT_S = 5


class MetricsEndpoint:
    """Serves until `stop`. `health()` returns what is wrong, an empty string when nothing is."""

    def __init__(self, registry: CollectorRegistry, health: Callable[[], str]):
        self._registry = registry
        self._health = health
        self._server: asyncio.Server | None = None

    async def start(self, host: str, port: int) -> None:
        try:
            self._server = await asyncio.start_server(self._serve, host, port, limit=_HEADER_BYTES_MAX)
        except OSError as error:
            raise NotNowError(
                f"cannot serve metrics on {host}:{port}: {error.strerror}; choose another port in metrics.listener"
            ) from None

    async def stop(self) -> None:
        if self._server:
            self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_TIMEOUT_S):
                head = await reader.readuntil(b"\r\n\r\n")
                writer.write(self._answer(head.split(b"\r\n", 1)[0].split(b" ")))
                await writer.drain()
        except (TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError):
            pass  # whoever asks badly or goes away gets nothing
        finally:
            writer.close()

    def _answer(self, request_line: list[bytes]) -> bytes:
        path = request_line[1].split(b"?")[0] if len(request_line) == 3 and request_line[0] == b"GET" else b""
        if path == b"/metrics":
            return _response(200, CONTENT_TYPE_PLAIN_0_0_4, generate_latest(self._registry))
        if path == b"/healthz":
            wrong = self._health()
            return _response(503 if wrong else 200, "text/plain", (wrong or "ok").encode() + b"\n")
        return _response(404, "text/plain", b"only GET /metrics and GET /healthz\n")


def _response(status: int, content_type: str, body: bytes) -> bytes:
    reason = {200: "OK", 404: "Not Found", 503: "Service Unavailable"}[status]
    head = (
        f"HTTP/1.1 {status} {reason}\r\nContent-Type: {content_type}\r\nContent-Length: {len(body)}\r\n"
        "Connection: close\r\n\r\n"
    )
    return head.encode() + body

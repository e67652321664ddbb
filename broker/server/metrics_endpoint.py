"""`/metrics` and `/healthz` of a broker over HTTP, on the broker's own loop.

Answers two fixed paths to GET and closes. It reads at most one header block of 8 KB; what neither comes nor is read
ends after five seconds. Serving data does not hang on it: a port that is taken is warned of, and tried again until it
is free.
"""

import asyncio
import socket
from collections.abc import Callable
from errno import EADDRINUSE
from urllib.parse import parse_qs

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.registry import RestrictedRegistry

from broker.common.logs import logger
from broker.common.own_names import OwnNames
from broker.common.plain_http import END_OF_HEAD, HEAD_BYTES_MAX, address_of, hosts_in, response
from broker.net.port_holder import port_holder

_log = logger(__name__)
_TIMEOUT_S = 5
_TRY_AGAIN_S = 5.0


class MetricsEndpoint:
    """Serves until `stop`. `health()` returns what is wrong, an empty string when nothing is."""

    def __init__(self, registry: CollectorRegistry, health: Callable[[], str], names: OwnNames):
        self._registry = registry
        self._health = health
        self._names = names
        self._server: asyncio.Server | None = None
        self._trying: asyncio.Task[None] | None = None

    async def start(self, host: str, port: int) -> None:
        """Serve on return, or as soon as the port is free."""
        error = await self._try(host, port)
        if error is not None:
            _log.warning(
                "metrics are not served; choose another port in metrics.listener, or free it",
                address=f"{host}:{port}",
                reason=error.strerror or str(error),
                who=port_holder(port) if error.errno == EADDRINUSE else "",
            )
            self._trying = asyncio.create_task(self._try_again(host, port))

    async def stop(self) -> None:
        if self._trying:
            self._trying.cancel()
        if self._server:
            self._server.close()

    async def _try(self, host: str, port: int) -> OSError | None:
        """Try to listen; return the error, None if there is none."""
        try:
            self._server = await asyncio.start_server(self._serve, host, port, limit=HEAD_BYTES_MAX)
        except OSError as error:
            return error
        return None

    async def _try_again(self, host: str, port: int) -> None:
        while self._server is None:
            await asyncio.sleep(_TRY_AGAIN_S)
            await self._try(host, port)
        _log.info("metrics are served", address=f"{host}:{port}")

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # Closing waits for a client to read: one that reads nothing for so long is gone.
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(_TIMEOUT_S * 1_000))
        try:
            async with asyncio.timeout(_TIMEOUT_S):
                head = await reader.readuntil(END_OF_HEAD)
                request_line, *lines = head.split(b"\r\n")
                why = self._names.refusal(hosts_in(lines))
                writer.write(response(403, "text/plain", f"{why}\n".encode()) if why else self._answer(request_line))
                await writer.drain()
        except (TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError):
            pass  # whoever asks badly or goes away gets nothing
        finally:
            writer.close()

    def _answer(self, request_line: bytes) -> bytes:
        path, query = address_of(request_line)
        if path == b"/metrics":
            return response(200, CONTENT_TYPE_PLAIN_0_0_4, generate_latest(self._chosen(query)))
        if path == b"/healthz":
            wrong = self._health()
            return response(503 if wrong else 200, "text/plain", (wrong or "ok").encode() + b"\n")
        return response(404, "text/plain", b"only GET /metrics and GET /healthz\n")

    def _chosen(self, query: bytes) -> CollectorRegistry | RestrictedRegistry:
        """Return only the metrics of `name[]` in the query, as Prometheus' clients do; others are not collected."""
        names = parse_qs(query.decode("latin-1")).get("name[]")
        return self._registry.restricted_registry(names) if names else self._registry

"""The web process: uvicorn over the console's application, with bounds for what comes before a request is one.

`python -m console.launch.web PORT`. uvicorn bounds neither how long a request may take to arrive nor, by its command
line, lets a protocol do so: half requests would hold their sockets for ever.
"""

import resource
import sys
from asyncio import TimerHandle

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from console.footprint.ticks import EVERY_S, tick_beside
from console.gateway.http_server import RestingServer, uvicorn
from console.gateway.own_requests import begin

#: From the connection, or the first byte of a further request, to the end of its headers; browsers that connect ahead
#: of need connect again.
HEADERS_SECONDS = 10
#: And to the end of its body: the largest form, of 4 MB, over a slow line.
REQUEST_SECONDS = 60
#: Pages, sockets and requests at one time; beyond it the answer is 503.
CONNECTIONS_MAX = 1_000
#: The longest message of a page to the console. Pages say little; without this a message may have 16 MB.
WEBSOCKET_BYTES_MAX = 64 * 1024


class PunctualProtocol(HttpToolsProtocol):
    """Closes the connection when a request does not arrive whole in time."""

    _arrival: TimerHandle | None = None

    def connection_made(self, transport) -> None:
        super().connection_made(transport)
        self._expect(HEADERS_SECONDS)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        if self._arrival is None:
            self._expect(HEADERS_SECONDS)

    def on_headers_complete(self) -> None:
        self._expect(REQUEST_SECONDS)
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._expect_nothing()
        super().on_message_complete()

    def handle_websocket_upgrade(self) -> None:
        self._expect_nothing()
        super().handle_websocket_upgrade()
        asked = self.transport.get_protocol().conn
        if asked.handshake_exc is not None:  # uvicorn neither sends the refusal nor hangs up
            self.transport.writelines(asked.data_to_send())
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._expect_nothing()
        super().connection_lost(exc)

    def _expect(self, seconds: float) -> None:
        self._expect_nothing()
        self._arrival = self.loop.call_later(seconds, self.transport.close)

    def _expect_nothing(self) -> None:
        if self._arrival is not None:
            self._arrival.cancel()
            self._arrival = None


def web_config(port: int) -> uvicorn.Config:
    return uvicorn.Config(
        "console.asgi:application",
        host="127.0.0.1",
        port=port,
        http=PunctualProtocol,
        limit_concurrency=CONNECTIONS_MAX,
        ws_max_size=WEBSOCKET_BYTES_MAX,
        lifespan="off",
        timeout_graceful_shutdown=3,
        access_log=False,
        log_level="warning",
        # Whom to believe about who asks is decided by console/web/proxy.py.
        proxy_headers=False,
        callback_notify=tick_beside,
        timeout_notify=EVERY_S,
    )


def raise_descriptor_limit() -> None:
    """To what this account may have: the soft limit is often 1,024, and every page has a socket."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def main() -> int:
    raise_descriptor_limit()
    begin("web")
    RestingServer(web_config(int(sys.argv[1]))).run()
    return 0


if __name__ == "__main__":
    sys.exit(main())

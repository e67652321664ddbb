"""The web process: uvicorn over the console's application, with bounds for what comes before a request is one.

`python -m console.shell.launch.web PORT`. uvicorn bounds neither how long a request may take to arrive nor, by its
command line, lets a protocol do so: half requests would hold their sockets for ever.
"""

import asyncio
import resource
import sys

import uvicorn
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame

from broker.common.punctual_http import PunctualProtocol
from console.kit.common.ticks import EVERY_S, tick_in_thread
from console.kit.gateway.connection.own_requests import begin

#: Pages, sockets and requests at one time; beyond it the answer is 503.
CONNECTIONS_MAX = 1_000
#: The longest message of a page to the console. Pages say little; without this a message may have 16 MB.
WEBSOCKET_BYTES_MAX = 64 * 1024


#: The parts of one message: those without a byte count for nothing in its length.
PARTS_MAX = 64
#: How long a page may leave unread what waits for it, or what was sent before the end.
UNREAD_S = 30.0


class PageSocketProtocol(WebSocketsSansIOProtocol):
    """uvicorn's websockets with bounds for what a client sends without reading.

    uvicorn answers pings without a bound, collects a message's empty parts without end, and closes connections in a
    way that waits for unread bytes for ever, together with the application that sends to them.
    """

    _unread: asyncio.TimerHandle | None = None

    def handle_ping(self) -> None:
        if self.writable.is_set():
            super().handle_ping()
        else:
            self.conn.data_to_send()  # left out: RFC 6455 demands an answer to the last ping alone

    def handle_cont(self, event: Frame) -> None:
        if len(self.frames) >= PARTS_MAX:
            self.transport.abort()
        else:
            super().handle_cont(event)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._abort_later()

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def keepalive_timeout(self) -> None:
        super().keepalive_timeout()
        self.transport.abort()

    def on_task_complete(self, task: asyncio.Task[None]) -> None:
        super().on_task_complete(task)
        self.loop.call_later(UNREAD_S, self.transport.abort)

    def _abort_later(self) -> None:
        if self._unread is None:
            self._unread = self.loop.call_later(UNREAD_S, self.transport.abort)


class PageProtocol(PunctualProtocol):
    """With websockets, which stay open."""

    def handle_websocket_upgrade(self) -> None:
        self.expect_nothing()
        super().handle_websocket_upgrade()
        websocket = self.transport.get_protocol()
        # uvicorn neither sends the refusal nor hangs up.
        if isinstance(websocket, WebSocketsSansIOProtocol) and websocket.conn.handshake_exc is not None:
            self.transport.writelines(websocket.conn.data_to_send())
            self.transport.close()


def web_config(port: int) -> uvicorn.Config:
    return uvicorn.Config(
        "console.asgi:application",
        host="127.0.0.1",
        port=port,
        http=PageProtocol,
        ws=PageSocketProtocol,
        limit_concurrency=CONNECTIONS_MAX,
        ws_max_size=WEBSOCKET_BYTES_MAX,
        lifespan="off",
        timeout_graceful_shutdown=3,
        access_log=False,
        log_level="warning",
        # Whom to believe about who asks is decided by console/shell/web/proxy.py.
        proxy_headers=False,
        callback_notify=tick_in_thread,
        timeout_notify=EVERY_S,
    )


def raise_descriptor_limit() -> None:
    """Raise the soft limit to the hard one: it is often 1,024, and every page has a socket."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def main() -> int:
    raise_descriptor_limit()
    begin("web")
    uvicorn.Server(web_config(int(sys.argv[1]))).run()
    return 0


if __name__ == "__main__":
    sys.exit(main())

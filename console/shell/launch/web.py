"""The web process: uvicorn over the console's application, with bounds for what comes before a request is one.

`python -m console.shell.launch.web PORT`. uvicorn bounds neither how long a request may take to arrive nor, by its
command line, lets a protocol do so: half requests would hold their sockets for ever.
"""

import resource
import sys

import uvicorn
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from broker.common.punctual_http import PunctualProtocol
from console.cluster.footprint.ticks import EVERY_S, tick_beside
from console.kit.gateway.connection.own_requests import begin

#: Pages, sockets and requests at one time; beyond it the answer is 503.
CONNECTIONS_MAX = 1_000
#: The longest message of a page to the console. Pages say little; without this a message may have 16 MB.
WEBSOCKET_BYTES_MAX = 64 * 1024


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
        ws=WebSocketsSansIOProtocol,
        limit_concurrency=CONNECTIONS_MAX,
        ws_max_size=WEBSOCKET_BYTES_MAX,
        lifespan="off",
        timeout_graceful_shutdown=3,
        access_log=False,
        log_level="warning",
        # Whom to believe about who asks is decided by console/shell/web/proxy.py.
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
    uvicorn.Server(web_config(int(sys.argv[1]))).run()
    return 0


if __name__ == "__main__":
    sys.exit(main())

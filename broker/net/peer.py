"""A connection to another broker over which many requests are under way; answers come as frames, in order."""

import asyncio
import contextlib
import socket
from collections.abc import Callable

from broker.net.connection import Connection
from broker.net.memory import ConnectionMemory
from broker.net.outbound import PeerUnreachable
from broker.net.turns import Turns


async def connect(
    host: str,
    port: int,
    *,
    on_frame: Callable[[Connection, memoryview], None],
    on_closed: Callable[[Connection, str], None],
    frame_bytes_max: int,
    timeout_ms: int,
) -> Connection:
    """What is given to `fill` is sent in the order of `reserve`. Raises PeerUnreachable.

    Its memory is its own: a broker does not wait for another's answer because clients hold much.
    """
    loop = asyncio.get_running_loop()
    sock: socket.socket | None = None
    try:
        async with asyncio.timeout(timeout_ms / 1000):
            family, kind, protocol, _, address = (
                await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
            )[0]
            sock = socket.socket(family, kind, protocol)
            sock.setblocking(False)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            await loop.sock_connect(sock, address)
            return Connection(loop, sock, on_frame, on_closed, frame_bytes_max, ConnectionMemory(), Turns())
    except (OSError, TimeoutError) as error:
        if sock is not None:
            with contextlib.suppress(OSError):
                sock.close()
        reason = "timed out" if isinstance(error, TimeoutError) else str(error)
        raise PeerUnreachable(f"cannot connect to {host}:{port}: {reason}") from error

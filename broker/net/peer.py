"""A connection to another broker over which many requests are under way; answers come as frames, in order."""

import asyncio
from collections.abc import Callable

from broker.net.connection import Connection
from broker.net.dialer import Dialer, PeerUnreachable, reason_of
from broker.net.memory import ConnectionMemory
from broker.net.turns import Turns


async def connect(
    dialer: Dialer,
    host: str,
    port: int,
    *,
    on_frame: Callable[[Connection, memoryview], None],
    on_closed: Callable[[Connection, str], None],
    frame_bytes_max: int,
    timeout_ms: int,
) -> Connection:
    """Connect to a peer; frames given to `fill` are sent in the order of `reserve`. Raises PeerUnreachable.

    Its memory is its own: a broker does not wait for another's answer because clients hold much.
    """
    loop = asyncio.get_running_loop()
    line = await dialer.dial(host, port, timeout_ms)
    try:
        connection = Connection(loop, line.sock, on_frame, on_closed, frame_bytes_max, ConnectionMemory(), Turns())
    except OSError as error:
        line.close()
        raise PeerUnreachable(f"cannot connect to {host}:{port}: {reason_of(error)}") from error
    if line.tls is not None:
        connection.speak_through(line.tls)
    return connection

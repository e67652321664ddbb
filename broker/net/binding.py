"""A socket with a listener's address, or a sentence why it cannot be had."""

import errno
import socket
from typing import NamedTuple

from broker.common.errors import NotNowError
from broker.config.listeners import ListenerEndpoint
from broker.net.port_holder import port_holder


class SocketBuffers(NamedTuple):
    """Bytes the kernel may hold for one connection; -1: as much as it sees fit, which may be megabytes.

    A client that asks and never reads costs the broker the reading of whatever the send buffer takes.
    """

    send: int = -1
    receive: int = -1


def bind(endpoint: ListenerEndpoint, buffers: SocketBuffers, *, is_ipv6_only: bool = False) -> socket.socket:
    """Bind a socket without listening. An empty host is every address, of IPv6 too where the machine has it. Raises
    NotNowError.

    Accepted connections inherit the sizes of the buffers.
    """
    host = endpoint.host or ("::" if socket.has_dualstack_ipv6() else "0.0.0.0")
    is_ipv6 = ":" in host
    sock = socket.socket(socket.AF_INET6 if is_ipv6 else socket.AF_INET, socket.SOCK_STREAM)
    sock.setblocking(False)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if is_ipv6:
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, is_ipv6_only)
    for option, size in ((socket.SO_SNDBUF, buffers.send), (socket.SO_RCVBUF, buffers.receive)):
        if size >= 0:
            sock.setsockopt(socket.SOL_SOCKET, option, size)
    try:
        sock.bind((host, endpoint.port))
    except (OSError, OverflowError) as error:
        sock.close()
        raise cannot_listen(endpoint, error) from None
    return sock


def cannot_listen(endpoint: ListenerEndpoint, error: Exception) -> NotNowError:
    reason = getattr(error, "strerror", None) or str(error)
    holder = port_holder(endpoint.port) if getattr(error, "errno", None) == errno.EADDRINUSE else ""
    who = f" ({holder})" if holder else ""
    return NotNowError(f"cannot listen on {endpoint}: {reason}{who}; choose another port in listeners")

"""An address, or what a host's name stands for, in the one spelling that is compared with those of sockets."""

import asyncio
import socket
from ipaddress import IPv6Address, ip_address

_RESOLVE_S_MAX = 5.0


async def resolved(text: str) -> str | None:
    """None if it is neither an address nor a host that can be found now. A v4 address in v6 is the v4 address."""
    try:
        return _spelled(text)
    except ValueError:
        pass
    try:
        async with asyncio.timeout(_RESOLVE_S_MAX):
            found = await asyncio.get_running_loop().getaddrinfo(text, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError, TimeoutError):
        return None
    return _spelled(str(found[0][4][0])) if found else None


def _spelled(text: str) -> str:
    address = ip_address(text)
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(address)

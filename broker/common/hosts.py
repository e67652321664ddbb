"""Addresses of hosts as they are compared: one for each host, however it came."""

from functools import lru_cache
from ipaddress import IPv6Network

_MAPPED = "::ffff:"
_REMEMBERED = 1_000


def ipv4_if_mapped(host: str) -> str:
    """Return the IPv4 address of a client that reached a dual-stack socket as an IPv4-mapped IPv6 address."""
    return host.removeprefix(_MAPPED) if "." in host else host


@lru_cache(_REMEMBERED)
def counted_address(host: str) -> str:
    """Return the address, or the network of addresses, that is counted as one client.

    All loopback addresses are one, and so are all of an IPv6 /64: one host has as many of them as it likes. What is no
    address, such as a name, is returned as it is.
    """
    host = ipv4_if_mapped(host)
    if host.startswith("127.") or host == "::1":
        return "127.0.0.1"
    if ":" not in host:
        return host
    try:
        return str(IPv6Network((host.partition("%")[0], 64), strict=False))
    except ValueError:
        return host

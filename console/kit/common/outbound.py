"""Which IP addresses the console connects to, decided after the name is resolved and before the socket is opened.

Whoever types an address makes the console open a connection in its own name and network (server-side request forgery).
So an address that was typed on a page is resolved once, every result is judged, and the socket goes to a result that
was judged: a name that resolves to something else a moment later is never asked again (DNS rebinding).
"""

import socket
from collections.abc import Callable
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from threading import Thread
from typing import Any, TypeVar

import httpcore2

#: For resolving one name.
RESOLVE_S = 5.0
#: Where clouds tell machines their secrets, beside link-local addresses: Alibaba, Oracle, Azure's host; by IPv6 AWS (of
#: machines and of pods), Google, Oracle, Scaleway.
_METADATA = tuple(
    map(
        ip_network,
        ("100.100.100.200", "192.0.0.192", "168.63.129.16", "fd00:ec2::/32", "fd20:ce::254", "fd00:c1::/32",
         "fd00:42::42"),
    )
)  # fmt: skip
#: First 96 bits of IPv6 addresses whose last 32 are an IPv4 address where a network translates: NAT64 (RFC 6052, and
#: RFC 8215 for networks of one's own), SIIT (RFC 2765).
_TRANSLATED = frozenset(int(IPv6Address(prefix)) >> 32 for prefix in ("64:ff9b::", "64:ff9b:1::", "::ffff:0:0:0"))
#: Addresses of one name that are tried, one after the other: whoever owns a name may give it thousands.
ADDRESSES_MAX = 8
#: Linux connects to this machine by each of them.
_THIS_NETWORK = ip_network("0.0.0.0/8")

T = TypeVar("T")

#: The reason why an IP address is not connected to; empty: it is.
AddressRule = Callable[[str], str]


class AddressRefusedError(OSError):
    """One sentence: the address and why the console does not connect to it."""


def refusal_of(address: str) -> str:
    """Return why no service that the console uses is at this IP address; empty: one may be. Private ones may be."""
    parsed = _parsed(address)
    if parsed.is_link_local or parsed.is_multicast or parsed.is_unspecified or _is_metadata(parsed):
        return (
            f"{parsed} is an address at which no cluster is (link-local, multicast, unspecified or a cloud's metadata)."
        )
    return ""


def _is_metadata(address: IPv4Address | IPv6Address) -> bool:
    return any(address in network for network in _METADATA)


def refusal_beyond_this_machine(address: str) -> str:
    """Return `refusal_of`, and refuse loopback addresses besides: for addresses typed on a page."""
    parsed = _parsed(address)
    if parsed.is_loopback or (isinstance(parsed, IPv4Address) and parsed in _THIS_NETWORK):
        return f"{parsed} is an address of this machine."
    return refusal_of(address)


def checked_addresses(host: str, port: int, rule: AddressRule = refusal_of) -> list[str]:
    """Return at most ADDRESSES_MAX IP addresses of the name; the rule allows all it has.

    Raises AddressRefusedError.
    """
    addresses = [host] if _is_address(host) else _resolved(host, port)
    for address in addresses:
        if refusal := rule(address):
            raise AddressRefusedError(f"{host}: {refusal}" if address != host else refusal)
    return addresses[:ADDRESSES_MAX]


def _is_address(host: str) -> bool:
    try:
        _parsed(host)
    except ValueError:
        return False
    return True


def _resolved(host: str, port: int) -> list[str]:
    """Raises AddressRefusedError."""
    resolved: list[tuple[Any, ...]] = []
    resolver = Thread(target=_resolve, args=(host, port, resolved), daemon=True)
    resolver.start()
    resolver.join(RESOLVE_S)
    if resolver.is_alive():  # a resolver that hangs holds up neither the caller nor the end of the process
        raise AddressRefusedError(f"{host} is not resolved within {RESOLVE_S:.0f} s.")
    if not resolved:
        raise AddressRefusedError(f"{host} is no name that can be resolved.")
    return list(dict.fromkeys(str(entry[4][0]) for entry in resolved))


def connect_to_first(addresses: list[str], connect: Callable[[str], T]) -> T:
    """Return what `connect` makes of the first address that it reaches. Raises the last one's error."""
    for address in addresses[:-1]:
        with suppress(OSError, httpcore2.ConnectError, httpcore2.ConnectTimeout):
            return connect(address)
    return connect(addresses[-1])


def _resolve(host: str, port: int, resolved: list[tuple[Any, ...]]) -> None:
    with suppress(OSError, UnicodeError):
        resolved += socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)


def _parsed(address: str) -> IPv4Address | IPv6Address:
    parsed = ip_address(address.partition("%")[0])
    return _as_ipv4(parsed) or parsed if isinstance(parsed, IPv6Address) else parsed


def _as_ipv4(address: IPv6Address) -> IPv4Address | None:
    """Return the IPv4 address inside a translating IPv6 one: mapped, 6to4, `_TRANSLATED`, or IPv4-compatible."""
    if embedded := address.ipv4_mapped or address.sixtofour:
        return embedded
    last, prefix = IPv4Address(int(address) & 0xFFFF_FFFF), int(address) >> 32
    return last if prefix in _TRANSLATED or (prefix == 0 and int(last) > 1) else None

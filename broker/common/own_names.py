"""Under which names a server without a login answers, so that no page reads it by a name made to stand for its host.

Whoever owns a name can have it stand for any address as soon as his page is there (DNS rebinding): to the browser, page
and server are of one origin then. Such a name is still in `Host`, and is none of ours. An address is nobody's to give.
"""

import socket
from collections.abc import Collection, Iterable
from ipaddress import ip_address
from urllib.parse import urlsplit


def host_of(place: str) -> str:
    """Return the host of `host:port`; empty if it has none."""
    try:
        return (urlsplit(f"//{place}").hostname or "").rstrip(".")
    except ValueError:
        return ""


def is_address(host: str) -> bool:
    """Return whether the host is an IP address, which DNS rebinding cannot redirect."""
    try:
        return host == "localhost" or bool(ip_address(host))
    except ValueError:
        return False


class OwnNames:
    """`own`: hosts that are configured; `more`: what `setting` adds to them, `*` for all."""

    def __init__(self, setting: str, more: Collection[str], own: Iterable[str] = ()):
        self._setting, self._are_all = setting, "*" in more
        self._names = frozenset(name.lower().rstrip(".") for name in (*more, *own, socket.gethostname()) if name)

    def refusal(self, places: Iterable[str]) -> str:
        """Return why a request with these `Host` headers is refused; empty if it is not. Without any it is not."""
        if all(self._is_own(host_of(place)) for place in places):
            return ""
        return f"This server does not accept that host name: add it to {self._setting} if it is to be."

    def _is_own(self, host: str) -> bool:
        return self._are_all or is_address(host) or host in self._names

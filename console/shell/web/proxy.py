"""The outermost layer of the web process: who really asks, how, and under which path, when a proxy stands before us.

What X-Forwarded-For and X-Forwarded-Proto say is believed of a trusted proxy only, and taken away otherwise: failed
logins are counted by the address, and cookies and origins hang on the scheme.
"""

import ipaddress
import re
import sys
from collections.abc import Iterable, Sequence

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
_FORWARDED_FOR, _FORWARDED_PROTO = b"x-forwarded-for", b"x-forwarded-proto"


def read_networks(texts: Iterable[str], name: str) -> tuple[Network, ...]:
    """Addresses and networks (10.0.0.0/8); ends the program with one sentence if one is none."""
    try:
        return tuple(ipaddress.ip_network(text.strip()) for text in texts if text.strip())
    except ValueError as error:
        sys.exit(f"{name}: {error}.")


def read_prefix(text: str, name: str) -> str:
    """`/kafka` or `kafka/` as `kafka/`; nothing stays nothing. Ends the program with one sentence if it cannot be."""
    parts = [part for part in text.split("/") if part]
    if not all(re.fullmatch(r"[A-Za-z0-9._-]+", part) and part.strip(".") for part in parts):
        sys.exit(f"{name}={text} must be a path of letters, digits, '-', '_' and '.', such as /kafka.")
    return "".join(f"{part}/" for part in parts)


class BehindProxy:
    """`prefix` as of `read_prefix`; a proxy may leave it on the path or take it away."""

    def __init__(self, application, trusted: Sequence[Network], prefix: str):
        self._application, self._trusted, self._prefix = application, trusted, f"/{prefix}"

    async def __call__(self, scope, receive, send):
        if scope["type"] in ("http", "websocket"):
            scope = self._as_asked(scope)
        return await self._application(scope, receive, send)

    def _as_asked(self, scope: dict) -> dict:
        forwarded = {name: [] for name in (_FORWARDED_FOR, _FORWARDED_PROTO)}
        headers = []
        for name, value in scope["headers"]:
            forwarded[name].append(value.decode("latin-1")) if name in forwarded else headers.append((name, value))
        asked = {**scope, "headers": headers}
        if self._is_trusted((scope.get("client") or ("",))[0]):
            asked |= self._client(forwarded[_FORWARDED_FOR]) | self._scheme(scope, forwarded[_FORWARDED_PROTO])
        if not scope["path"].startswith(self._prefix):
            asked["path"] = self._prefix + scope["path"].removeprefix("/")
            asked.pop("raw_path", None)
        return asked

    def _client(self, said: list[str]) -> dict:
        """The last address that no trusted proxy has: what stands before it anybody may have written."""
        for address in reversed([each.strip() for each in ",".join(said).split(",")]):
            if not _is_address(address):
                return {}
            if not self._is_trusted(address):
                return {"client": (address, 0)}
        return {}

    def _scheme(self, scope: dict, said: list[str]) -> dict:
        scheme = said[-1].rpartition(",")[2].strip().lower() if said else ""
        if scheme not in ("http", "https"):
            return {}
        is_websocket = scope["type"] == "websocket"
        return {"scheme": {"http": "ws", "https": "wss"}[scheme] if is_websocket else scheme}

    def _is_trusted(self, address: str) -> bool:
        return _is_address(address) and any(ipaddress.ip_address(address) in each for each in self._trusted)


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True

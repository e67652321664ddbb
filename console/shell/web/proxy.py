"""The outermost layer of the web process: who really asks, how, and under which path, when a proxy stands before us.

What X-Forwarded-For and X-Forwarded-Proto say is believed of a trusted proxy only, and taken away otherwise: failed
logins are counted by the address, and cookies and origins hang on the scheme.
"""

import ipaddress
import re
import sys
from collections.abc import Iterable, Sequence

from asgiref.typing import ASGI3Application, ASGIReceiveCallable, ASGISendCallable, Scope, WWWScope

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
_FORWARDED_FOR, _FORWARDED_PROTO = b"x-forwarded-for", b"x-forwarded-proto"


def read_networks(texts: Iterable[str], name: str) -> tuple[Network, ...]:
    """Parse addresses and networks (10.0.0.0/8); ends the program with one sentence for an invalid one."""
    try:
        return tuple(ipaddress.ip_network(text.strip()) for text in texts if text.strip())
    except ValueError as error:
        sys.exit(f"{name}: {error}.")


def read_prefix(text: str, name: str) -> str:
    """Return `/kafka` or `kafka/` as `kafka/`; nothing stays nothing. Ends the program with one sentence for an invalid
    path.
    """
    parts = [part for part in text.split("/") if part]
    if not all(re.fullmatch(r"[A-Za-z0-9._-]+", part) and part.strip(".") for part in parts):
        sys.exit(f"{name}={text} must be a path of letters, digits, '-', '_' and '.', such as /kafka.")
    return "".join(f"{part}/" for part in parts)


class BehindProxy:
    """`prefix` as of `read_prefix`; a proxy may leave it on the path or take it away."""

    def __init__(self, application: ASGI3Application, trusted: Sequence[Network], prefix: str):
        self._application, self._trusted, self._prefix = application, trusted, f"/{prefix}"

    async def __call__(self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        if scope["type"] == "http" or scope["type"] == "websocket":
            scope = self._as_asked(scope)
        await self._application(scope, receive, send)

    def _as_asked(self, scope: WWWScope) -> WWWScope:
        forwarded: dict[bytes, list[str]] = {name: [] for name in (_FORWARDED_FOR, _FORWARDED_PROTO)}
        headers = []
        for name, value in scope["headers"]:
            forwarded[name].append(value.decode("latin-1")) if name in forwarded else headers.append((name, value))
        scope_asked = scope.copy()
        scope_asked["headers"] = headers
        if self._is_trusted((scope.get("client") or ("",))[0]):
            if client := self._client(forwarded[_FORWARDED_FOR]):
                scope_asked["client"] = client
            if scheme := self._scheme(scope, forwarded[_FORWARDED_PROTO]):
                scope_asked["scheme"] = scheme
        if not scope["path"].startswith(self._prefix):
            scope_asked["path"] = self._prefix + scope["path"].removeprefix("/")
            scope_asked.pop("raw_path", None)  # type: ignore[misc]  # ASGI lets it be missing; asgiref's type does not
        return scope_asked

    def _client(self, forwarded: list[str]) -> tuple[str, int] | None:
        """Return the last address that no trusted proxy has, or None: a client may have written what stands before."""
        for address in reversed([part.strip() for part in ",".join(forwarded).split(",")]):
            if not _is_address(address):
                return None
            if not self._is_trusted(address):
                return address, 0
        return None

    def _scheme(self, scope: WWWScope, forwarded: list[str]) -> str:
        """Return the scheme that the last proxy names, in the words of the scope's type, or an empty string."""
        scheme = forwarded[-1].rpartition(",")[2].strip().lower() if forwarded else ""
        if scheme not in ("http", "https"):
            return ""
        return {"http": "ws", "https": "wss"}[scheme] if scope["type"] == "websocket" else scheme

    def _is_trusted(self, address: str) -> bool:
        return _is_address(address) and any(ipaddress.ip_address(address) in network for network in self._trusted)


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True

"""Asking a server that may be anybody: names of TLS are checked, redirects not followed, time and bytes bounded."""

import ssl
import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import Any

import httpcore2
import httpx2

from console.kit.common.deadline_sockets import ENDS, DeadlineBackend
from console.kit.common.outbound import AddressRule

#: For connecting, and for each pause within an answer.
TIMEOUT_S = 5.0
#: For all of an answer.
DEADLINE_S = 10.0
_POOL: dict[str, Any] = {"max_connections": 100, "max_keepalive_connections": 20, "keepalive_expiry": 5.0}


class OversizedAnswerError(httpx2.TransportError):
    """More came than an honest server has to say."""


class BoundedTransport(httpx2.BaseTransport):
    def __init__(self, context: ssl.SSLContext, bytes_max: int, rule: AddressRule | None):
        self._inner, self._bytes_max = httpx2.HTTPTransport(verify=context), bytes_max
        # It has no word of its own for who makes the sockets.
        self._inner._pool = httpcore2.ConnectionPool(context, network_backend=DeadlineBackend(rule), **_POOL)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send the request and return the whole response. Compressed ones are refused, because their size is unknown
        from outside.
        """
        request.headers["Accept-Encoding"] = "identity"
        ends = ENDS.set(time.monotonic() + DEADLINE_S)
        try:
            with closing(self._inner.handle_request(request)) as response:
                content = b"".join(_bounded(response.iter_raw(), self._bytes_max))
        finally:
            ENDS.reset(ends)
        if response.headers.get("Content-Encoding", "identity") != "identity":
            raise OversizedAnswerError("a compressed response, which was not requested")
        kind = {"Content-Type": response.headers.get("Content-Type", "")}
        return httpx2.Response(response.status_code, headers=kind, content=content, request=request)

    def close(self) -> None:
        self._inner.close()


def _bounded(pieces: Iterable[bytes], bytes_max: int) -> Iterator[bytes]:
    came = 0
    for piece in pieces:
        came += len(piece)
        if came > bytes_max:
            raise OversizedAnswerError(f"an answer of more than {bytes_max} bytes")
        yield piece


def client_options(authority_file: Path | None, bytes_max: int, rule: AddressRule | None = None) -> dict[str, Any]:
    """Return the options of an httpx2 client that ignores proxies, passwords and authorities of the environment.

    `rule` says which IP addresses are connected to; what it refuses raises AddressRefusedError. None: any.
    """
    context = _context_of(authority_file, authority_file.stat().st_mtime_ns if authority_file else 0)
    transport = BoundedTransport(context, bytes_max, rule)
    return {"transport": transport, "timeout": TIMEOUT_S, "trust_env": False, "follow_redirects": False}


@lru_cache(maxsize=4)
def _context_of(authority_file: Path | None, _changed_ns: int) -> ssl.SSLContext:
    """Return an SSL context of the system's authorities, or of a file as it is now: reading them takes some 40 ms."""
    return ssl.create_default_context(cafile=str(authority_file) if authority_file else None)

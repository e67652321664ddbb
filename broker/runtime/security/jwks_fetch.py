"""Reads a set of keys from where the broker's own file says: a file, or a server that may hang, lie or never end.

One request, one answer, no redirect: where a server would send us is none of its business (CVE-2025-27817). All of it
within a time and a size.
"""

import asyncio
import io
import os
import stat
from http import HTTPStatus
from pathlib import Path
from ssl import SSLContext, create_default_context
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from broker.common.errors import BarnabasError
from broker.common.security_limits import KEY_SET_BYTES_MAX, KEY_SET_TIMEOUT_S
from broker.config.definition import ConfigError

_PORTS = {"http": 80, "https": 443}
_PIECE_BYTES = 64 * 1024


class KeySetOutOfReach(BarnabasError):
    """The server or the file does not give a set of keys; the reason names no more than its address."""


class KeySetLocation(NamedTuple):
    """Location of a set of keys: at a server, or in a file if `host` is empty."""

    scheme: str
    host: str
    port: int
    path: str

    def __str__(self) -> str:
        """Return the place without a server's path: a query may hold a secret."""
        return f"{self.scheme}://{self.host}:{self.port}" if self.host else f"file://{self.path}"


def parse_place(url: str) -> KeySetLocation:
    """Raises ConfigError."""
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme, 0)
    except ValueError as error:
        raise ConfigError(f"sasl.oauthbearer.jwks.endpoint.url: {error}") from None
    if parts.scheme == "file" and parts.netloc in ("", "localhost") and parts.path.startswith("/"):
        return KeySetLocation("file", "", 0, unquote(parts.path))
    if parts.scheme not in _PORTS or not parts.hostname or "@" in parts.netloc or not url.isprintable() or " " in url:
        raise ConfigError("sasl.oauthbearer.jwks.endpoint.url must be https://host/…, http://host/… or file:///path")
    return KeySetLocation(
        parts.scheme, parts.hostname, port, (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    )


def tls_context(ca_file: str | None) -> SSLContext:
    """Return a context that trusts the system's authorities, or only those of the file. Takes 50 ms. Raises OSError."""
    return create_default_context(cafile=ca_file)


async def fetch(place: KeySetLocation, context: SSLContext | None) -> bytes:
    """Raises KeySetOutOfReach."""
    try:
        async with asyncio.timeout(KEY_SET_TIMEOUT_S):
            if not place.host:
                return await asyncio.to_thread(_read_file, Path(place.path))
            return await asyncio.to_thread(_body, place, await _ask(place, context))
    except TimeoutError:
        raise KeySetOutOfReach(f"{place} did not answer within {KEY_SET_TIMEOUT_S:g} s") from None
    except OSError as error:
        raise KeySetOutOfReach(f"{place}: {error.strerror or type(error).__name__}") from error
    except ValueError as error:
        raise _no_http(place, error) from error


def _read_file(path: Path) -> bytes:
    """Does not wait for who might write into a pipe."""
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise KeySetOutOfReach(f"{path} is no file")
        data = file.read(KEY_SET_BYTES_MAX + 1)
        _check_size(data)
        return data


async def _ask(place: KeySetLocation, context: SSLContext | None) -> bytes:
    reader, writer = await asyncio.open_connection(
        place.host, place.port, ssl=context, server_hostname=place.host if context else None
    )
    try:
        host = f"[{place.host}]" if ":" in place.host else place.host
        writer.write(
            f"GET {place.path} HTTP/1.1\r\nHost: {host}:{place.port}\r\nAccept: application/json\r\n"
            "Accept-Encoding: identity\r\nConnection: close\r\n\r\n".encode()
        )
        answer = bytearray()
        while piece := await reader.read(_PIECE_BYTES):
            answer += piece
            _check_size(answer)
        return bytes(answer)
    finally:
        writer.transport.abort()


def _body(place: KeySetLocation, answer: bytes) -> bytes:
    """Read the body on a thread: a response may come in very many chunks. The HTTP client is imported only where it is
    needed.
    """
    from http.client import HTTPException, HTTPResponse

    try:
        response = HTTPResponse(_ResponseSocket(answer))  # type: ignore[arg-type]  # it reads no more of a socket
        response.begin()
        if response.status != HTTPStatus.OK:
            raise KeySetOutOfReach(f"the server answers {response.status}")
        return response.read()
    except HTTPException as error:
        raise _no_http(place, error) from error


def _no_http(place: KeySetLocation, error: Exception) -> KeySetOutOfReach:
    return KeySetOutOfReach(f"{place} does not speak HTTP: {type(error).__name__}")


def _check_size(data: bytes | bytearray) -> None:
    if len(data) > KEY_SET_BYTES_MAX:
        raise KeySetOutOfReach(f"it is longer than {KEY_SET_BYTES_MAX} bytes")


class _ResponseSocket:
    """What HTTPResponse wants of a socket."""

    def __init__(self, data: bytes):
        self._data = data

    def makefile(self, _mode: str) -> io.BytesIO:
        return io.BytesIO(self._data)

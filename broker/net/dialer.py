"""Connections of this broker to others. Before the first request both sides have proved that they are members.

A peer that cannot prove it is as good as none: nothing was told to it, and nothing it says is heard.
"""

import asyncio
import contextlib
import socket
import ssl
from copy import copy
from itertools import count
from typing import Protocol

from broker.common.errors import BarnabasError, ProtocolError
from broker.net.peer_connection import PeerConnection
from broker.net.tls.contexts import Contexts
from broker.net.tls.reasons import why_not
from broker.net.tls.stream import TlsStream
from broker.protocol.codec import decode, encode
from broker.protocol.framing import SIZE_BYTES
from broker.protocol.headers import RequestHeader, decode_response_header, encode_request_header
from broker.protocol.messages import response_type
from broker.protocol.schema import Message, Request
from broker.security.login import login
from broker.security.membership import CLIENT_ID, ClusterMembership
from broker.security.scram import AuthenticationError

#: What a peer may answer before it has proved anything.
_LOGIN_ANSWER_BYTES_MAX = 64 * 1024


class PeerUnreachable(BarnabasError):
    """No connection, no member at its end, no answer in time, or the connection broke; whether a request was handled
    is unknown.
    """


class TlsOfListeners(Protocol):
    @property
    def of_brokers(self) -> Contexts | None:
        """The TLS settings of the inter-broker listener; None without TLS."""

    def by(self, listener: str) -> Contexts | None: ...


class Dialer:
    """One for each broker."""

    def __init__(self, membership: ClusterMembership, tls: TlsOfListeners | None = None):
        """`tls` has the contexts of listeners with TLS; by which brokers reach each other it says, too."""
        self._membership = membership
        self._tls = tls
        self._contexts = tls.of_brokers if tls else None

    def by(self, listener: str) -> "Dialer":
        """Return a dialer for brokers' listeners of this name."""
        if self._tls is None:
            return self
        dialer = copy(self)
        dialer._contexts = self._tls.by(listener)
        return dialer

    async def dial(self, host: str, port: int, timeout_ms: int) -> PeerConnection:
        """Connect to a member of this cluster. Raises PeerUnreachable."""
        line: PeerConnection | None = None
        try:
            async with asyncio.timeout(timeout_ms / 1000):
                line = PeerConnection(await _connect(host, port))
                if self._contexts is not None:
                    await line.protect(TlsStream(line.sock, self._contexts.current, host))
                await self._log_in(line, host, port)
                return line
        except (OSError, TimeoutError, EOFError, UnicodeError, ProtocolError, AuthenticationError) as error:
            _close(line)
            where = f"{host}:{port}"
            if isinstance(error, AuthenticationError):
                raise PeerUnreachable(f"{where} is no member of this cluster: {error}") from error
            if isinstance(error, ssl.SSLError):
                raise PeerUnreachable(f"no TLS with {where}: {why_not(error)}") from error
            raise PeerUnreachable(f"cannot connect to {where}: {reason_of(error)}") from error
        except BaseException:
            _close(line)
            raise

    async def _log_in(self, line: PeerConnection, host: str, port: int) -> None:
        talk = login(self._membership.dial(host, port))
        correlation_ids = count()
        with contextlib.suppress(StopIteration):
            request = next(talk)
            while True:
                request = talk.send(await _exchange(line, *request, next(correlation_ids)))


async def _connect(host: str, port: int) -> socket.socket:
    loop = asyncio.get_running_loop()
    addresses = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    family, kind, protocol, _, address = addresses[0]
    sock = socket.socket(family, kind, protocol)
    try:
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await loop.sock_connect(sock, address)
    except BaseException:
        _close(sock)
        raise
    return sock


async def _exchange(line: PeerConnection, message: Request[Message], version: int, correlation_id: int) -> Message:
    header = encode_request_header(RequestHeader(message.api, version, correlation_id, CLIENT_ID))
    body = encode(message, version)
    await line.send((len(header) + len(body)).to_bytes(SIZE_BYTES) + header + body)
    size = int.from_bytes(await line.receive(SIZE_BYTES), signed=True)
    if not 0 <= size <= _LOGIN_ANSWER_BYTES_MAX:
        raise ProtocolError(f"an answer of {size} bytes is announced")
    frame = memoryview(await line.receive(size))
    answered_id, at = decode_response_header(message.api, version, frame)
    if answered_id != correlation_id:
        raise ProtocolError(f"request {answered_id} is answered instead of {correlation_id}")
    return decode(response_type(message), frame[at:], version)


def _close(sock: socket.socket | PeerConnection | None) -> None:
    if sock is not None:
        with contextlib.suppress(OSError):
            sock.close()


def reason_of(error: BaseException) -> str:
    return "timed out" if isinstance(error, TimeoutError) else str(error) or type(error).__name__

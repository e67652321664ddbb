"""Connections of this broker to others. Before the first request both sides have proved that they are members.

A peer that cannot prove it is as good as none: nothing was told to it, and nothing it says is heard.
"""

import asyncio
import contextlib
import socket
from itertools import count

from broker.common.errors import BarnabasError, ProtocolError
from broker.protocol.codec import decode, encode
from broker.protocol.framing import SIZE_BYTES
from broker.protocol.headers import RequestHeader, decode_response_header, encode_request_header
from broker.protocol.messages import MESSAGES
from broker.protocol.schema import Message
from broker.security.login import login
from broker.security.membership import Membership
from broker.security.scram import AuthenticationError

#: What a peer may answer before it has proved anything.
_LOGIN_ANSWER_BYTES_MAX = 64 * 1024
_CLIENT_ID = "member"


class PeerUnreachable(BarnabasError):
    """No connection, no member at its end, no answer in time, or the connection broke; whether a request was handled
    is unknown.
    """


class Dialer:
    """One for each broker."""

    def __init__(self, membership: Membership):
        self._membership = membership

    async def dial(self, host: str, port: int, timeout_ms: int) -> socket.socket:
        """A non-blocking socket at whose other end a member of this cluster serves. Raises PeerUnreachable."""
        sock: socket.socket | None = None
        try:
            async with asyncio.timeout(timeout_ms / 1000):
                sock = await _connect(host, port)
                await self._log_in(sock, host, port)
                return sock
        except (OSError, TimeoutError, EOFError, ProtocolError, AuthenticationError) as error:
            _close(sock)
            where = f"{host}:{port}"
            if isinstance(error, AuthenticationError):
                raise PeerUnreachable(f"{where} is no member of this cluster: {error}") from error
            raise PeerUnreachable(f"cannot connect to {where}: {reason_of(error)}") from error
        except BaseException:
            _close(sock)
            raise

    async def _log_in(self, sock: socket.socket, host: str, port: int) -> None:
        talk = login(self._membership.dial(host, port))
        correlation_ids = count()
        with contextlib.suppress(StopIteration):
            request = next(talk)
            while True:
                request = talk.send(await _exchange(sock, *request, next(correlation_ids)))


async def _connect(host: str, port: int) -> socket.socket:
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    family, kind, protocol, _, address = found[0]
    sock = socket.socket(family, kind, protocol)
    try:
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await loop.sock_connect(sock, address)
    except BaseException:
        _close(sock)
        raise
    return sock


async def _exchange(sock: socket.socket, message: Message, version: int, correlation_id: int) -> Message:
    header = encode_request_header(RequestHeader(message.api, version, correlation_id, _CLIENT_ID))
    body = encode(message, version)
    await asyncio.get_running_loop().sock_sendall(sock, (len(header) + len(body)).to_bytes(SIZE_BYTES) + header + body)
    size = int.from_bytes(await _receive(sock, SIZE_BYTES), signed=True)
    if not 0 <= size <= _LOGIN_ANSWER_BYTES_MAX:
        raise ProtocolError(f"an answer of {size} bytes is announced")
    frame = memoryview(await _receive(sock, size))
    answered_id, at = decode_response_header(message.api, version, frame)
    if answered_id != correlation_id:
        raise ProtocolError(f"request {answered_id} is answered instead of {correlation_id}")
    return decode(MESSAGES[message.api].response, frame[at:], version)


async def _receive(sock: socket.socket, size: int) -> bytes:
    received = b""
    while len(received) < size:
        piece = await asyncio.get_running_loop().sock_recv(sock, size - len(received))
        if not piece:
            raise EOFError("the connection was closed")
        received += piece
    return received


def _close(sock: socket.socket | None) -> None:
    if sock is not None:
        with contextlib.suppress(OSError):
            sock.close()


def reason_of(error: BaseException) -> str:
    return "timed out" if isinstance(error, TimeoutError) else str(error) or type(error).__name__

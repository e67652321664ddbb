"""Bytes to and from one broker, each call with a deadline, and with as few system calls and copies as there can be.

Each system call lets go of the interpreter, which other threads then take: of a client that moves much on several
threads these changes are half of its time. So a plain socket blocks in the kernel, by the kernel's own timeouts, until
all is sent or has come. With TLS it is Python that waits, between records.
"""

import socket
import struct
import time
from collections.abc import Iterable, Iterator

from broker.protocol.primitives import Buffer

#: A piece below it is copied to its neighbours.
_LARGE_BYTES = 16 * 1024
_RECEIVED_AT_ONCE = 1 << 20
_MICROSECONDS = 1_000_000
#: The kernel's timeouts stay as they are while a deadline is further away than that, and are set anew near to it.
_LOOK_S = 1.0
_write_timeval = struct.Struct("@ll").pack


class ReceiveBuffer:
    """Memory that one answer after the other is received into. It becomes as large as the largest that came."""

    def __init__(self) -> None:
        self.bytes = bytearray()


class Wire:
    """Reads and writes a connected socket, plain or TLS. Raises TimeoutError behind a deadline (by the monotonic
    clock), OSError.
    """

    def __init__(self, sock: socket.socket, *, is_plain: bool):
        self._socket, self._is_plain = sock, is_plain
        self._waits_s = {socket.SO_SNDTIMEO: 0.0, socket.SO_RCVTIMEO: 0.0}
        if is_plain:
            sock.settimeout(None)

    def send(self, pieces: Iterable[Buffer], deadline: float) -> None:
        """Send all pieces, in order."""
        if not self._is_plain:
            self._wait_until(deadline, socket.SO_SNDTIMEO)
            self._socket.sendall(b"".join(pieces))
            return
        left = [memoryview(piece) for piece in _joined(pieces)]
        while left:
            self._wait_until(deadline, socket.SO_SNDTIMEO)
            try:
                sent = self._socket.sendmsg(left)
            except BlockingIOError:
                continue
            left = _behind(left, sent)

    def receive(self, size: int, deadline: float, room: ReceiveBuffer | None = None) -> memoryview:
        """Receive that many bytes; a view into `room` is valid until its next use.

        Memory is taken as bytes arrive, so an announcement alone takes none.
        """
        if room is not None and size <= len(room.bytes):
            received = memoryview(room.bytes)[:size]
            at = 0
            while at < size:
                at += self._receive_into(received[at:], deadline)
            return received
        grown = bytearray()
        while len(grown) < size:
            piece = bytearray(min(size - len(grown), max(len(grown), _LARGE_BYTES), _RECEIVED_AT_ONCE))
            count = self._receive_into(memoryview(piece), deadline)
            grown += memoryview(piece)[:count]
        if room is not None:
            room.bytes = grown
        return memoryview(grown)

    def _receive_into(self, view: memoryview, deadline: float) -> int:
        """Receive at least one byte into `view`; all of it, if no deadline comes between."""
        while True:
            self._wait_until(deadline, socket.SO_RCVTIMEO)
            try:
                count = self._socket.recv_into(view, 0, socket.MSG_WAITALL if self._is_plain else 0)
            except BlockingIOError:
                continue
            if not count:
                raise ConnectionError("the connection was closed")
            return count

    def _wait_until(self, deadline: float, option: int) -> None:
        """Limit the next call's waiting to the deadline."""
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        if not self._is_plain:
            self._socket.settimeout(left)
        elif (waits_s := min(left, _LOOK_S)) != self._waits_s[option]:
            # Zero would be for ever.
            seconds, microseconds = divmod(max(1, int(waits_s * _MICROSECONDS)), _MICROSECONDS)
            self._socket.setsockopt(socket.SOL_SOCKET, option, _write_timeval(seconds, microseconds))
            self._waits_s[option] = waits_s


def _joined(pieces: Iterable[Buffer]) -> Iterator[Buffer]:
    """Return the same bytes with neighbouring small pieces joined."""
    small: list[Buffer] = []
    for piece in pieces:
        if len(piece) < _LARGE_BYTES:
            small.append(piece)
            continue
        if small:
            yield b"".join(small)
            small = []
        yield piece
    if small:
        yield b"".join(small)


def _behind(pieces: list[memoryview], sent: int) -> list[memoryview]:
    """Return the pieces that remain after `sent` bytes."""
    for number, piece in enumerate(pieces):
        if sent < len(piece):
            return [piece[sent:], *pieces[number + 1 :]]
        sent -= len(piece)
    return []

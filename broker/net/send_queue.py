"""What waits to leave through one socket, in order: buffers, many with one sendmsg, and pieces of files."""

import os
import socket
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import TypeGuard

from broker.common.limits import SENDMSG_BUFFERS_MAX
from broker.net.file_part import FilePart

BufferPart = bytes | bytearray | memoryview
Part = BufferPart | FilePart


class SendQueue:
    """Add to `parts` and call `send`."""

    __slots__ = ("_fd", "_sock", "parts")

    def __init__(self, sock: socket.socket):
        self._sock = sock
        self._fd = sock.fileno()
        self.parts: list[Part] = []

    def send(self) -> int:
        """Send what the socket takes now and return how many bytes that was. Raises OSError."""
        sent = 0
        try:
            while self.parts:
                first = self.parts[0]
                sent += self._send_file(first) if isinstance(first, FilePart) else self._send_buffers()
        except (BlockingIOError, InterruptedError):
            pass
        return sent

    def offer(self, more: Iterable[Part]) -> None:
        """Offer the last buffer, up to a piece of a file, and send as far as the socket takes it. Raises OSError."""
        if ready := list(islice(_leading_buffers(chain(self.parts, more)), SENDMSG_BUFFERS_MAX)):
            self._sock.sendmsg(ready)

    def _send_buffers(self) -> int:
        """Send the buffers in front of a file's piece together with it, not in a packet of their own."""
        parts = self.parts
        if len(parts) <= SENDMSG_BUFFERS_MAX and _are_buffers(parts):
            buffers, flags = parts, 0
        else:
            buffers, flags = list(islice(_leading_buffers(parts), SENDMSG_BUFFERS_MAX)), socket.MSG_MORE
        sent = self._sock.sendmsg(buffers, (), flags)
        if sent == sum(map(len, buffers)):
            del self.parts[: len(buffers)]
        else:
            self._drop(buffers, sent)
        return sent

    def _drop(self, buffers: Sequence[BufferPart], sent: int) -> None:
        """Drop the buffers of which `sent` bytes, not all, have been sent."""
        count = 0
        while sent >= len(buffers[count]):
            sent -= len(buffers[count])
            count += 1
        self.parts[: count + 1] = [memoryview(buffers[count])[sent:]]

    def _send_file(self, part: FilePart) -> int:
        sent = os.sendfile(self._fd, part.file.fileno(), part.position, part.length)
        if not sent:
            raise OSError(f"a file ends {part.length} bytes before the answer does")
        part.drop(sent)
        if not part.length:
            del self.parts[0]
        return sent


def _are_buffers(parts: list[Part]) -> TypeGuard[list[BufferPart]]:
    return FilePart not in map(type, parts)


def _leading_buffers(parts: Iterable[Part]) -> Iterator[BufferPart]:
    """Yield what stands before the first piece of a file."""
    for part in parts:
        if isinstance(part, FilePart):
            return
        yield part

"""What waits to leave through one socket, in order: buffers, many with one sendmsg, and pieces of files."""

import os
import socket
from collections.abc import Iterable
from itertools import chain, islice, takewhile

from broker.common.limits import SENDMSG_BUFFERS_MAX
from broker.net.file_part import FilePart

Part = bytes | bytearray | memoryview | FilePart


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
                sent += self._send_file() if self.parts[0].__class__ is FilePart else self._send_buffers()
        except (BlockingIOError, InterruptedError):
            pass
        return sent

    def offer(self, more: Iterable[Part]) -> None:
        """The last that is sent, up to a piece of a file, as far as the socket takes it. Raises OSError."""
        if ready := list(islice(takewhile(_is_buffer, chain(self.parts, more)), SENDMSG_BUFFERS_MAX)):
            self._sock.sendmsg(ready)

    def _send_buffers(self) -> int:
        """What stands before a piece of a file travels with it, not in a packet of its own."""
        buffers, flags = self.parts, 0
        if len(buffers) > SENDMSG_BUFFERS_MAX or FilePart in map(type, buffers):
            buffers = list(islice(takewhile(_is_buffer, buffers), SENDMSG_BUFFERS_MAX))
            flags = socket.MSG_MORE
        sent = self._sock.sendmsg(buffers, (), flags)
        if sent == sum(map(len, buffers)):
            del self.parts[: len(buffers)]
        else:
            self._drop(sent)
        return sent

    def _drop(self, sent: int) -> None:
        count = 0
        while sent >= len(self.parts[count]):
            sent -= len(self.parts[count])
            count += 1
        del self.parts[:count]
        self.parts[0] = memoryview(self.parts[0])[sent:]

    def _send_file(self) -> int:
        part = self.parts[0]
        sent = os.sendfile(self._fd, part.file.fileno(), part.position, part.length)
        if not sent:
            raise OSError(f"a file ends {part.length} bytes before the answer does")
        part.drop(sent)
        if not part.length:
            del self.parts[0]
        return sent


def _is_buffer(part: Part) -> bool:
    return part.__class__ is not FilePart

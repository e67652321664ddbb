"""A piece of an open file as part of a response: the kernel copies it to the socket, it never enters our memory."""

from typing import Protocol, cast

from broker.protocol.primitives import Buffer

#: From this size on sendfile is faster than reading into a buffer and sending that with the rest (1.3 to 2 times for
#: answers of 1 MB; below, one more system call costs more than the copy).
SENDFILE_BYTES_MIN = 256 * 1024


class FileHandle(Protocol):
    def fileno(self) -> int: ...


class FilePart:
    """`length` bytes at `position` of `file`, which stays open as long as this exists."""

    __slots__ = ("file", "length", "position")

    def __init__(self, file: FileHandle, position: int, length: int):
        self.file = file
        self.position = position
        self.length = length

    def __len__(self) -> int:
        return self.length

    def drop(self, count: int) -> None:
        """Drop the first `count` bytes, which have been sent."""
        self.position += count
        self.length -= count


def records_of(part: FilePart) -> Buffer:
    """Return `part` as the records of a message that is to be sent.

    A message's type says what decoders put there, which is all that its readers see; an encoder hands the records on as
    a piece of their own, unread (`encode_pieces`).
    """
    return cast(Buffer, part)

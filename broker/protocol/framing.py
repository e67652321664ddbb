"""Finding frames in a stream of bytes: four bytes of size, then as many bytes of header and body.

Sans-io: the caller owns the buffer, reads into it and moves what is left over.
"""

import struct

from broker.common.errors import ProtocolError

_SIZE = struct.Struct(">i")

#: Bytes in front of every frame.
SIZE_BYTES = _SIZE.size


class BadFrameSize(ProtocolError):
    """The peer announces a frame of an impossible size; `frames_before` are the whole ones in front of it."""

    def __init__(self, message: str, frames_before: list[bytearray]):
        super().__init__(message)
        self.frames_before = frames_before


class FrameTooLarge(BadFrameSize):
    """The peer announces more bytes than the caller's limit (`socket.request.max.bytes`) allows."""


def split_frames(buffer: bytearray, end: int, limit_bytes: int) -> tuple[list[bytearray], int]:
    """Return copies of the whole frames at the start of buffer[:end], their sizes left out, and where the rest begins.

    Raises FrameTooLarge or BadFrameSize as soon as a size can be read and is impossible.
    """
    frames: list[bytearray] = []
    at = 0
    while (start := at + SIZE_BYTES) <= end:
        (size,) = _SIZE.unpack_from(buffer, at)
        if not 0 <= size <= limit_bytes:
            _refuse_size(size, limit_bytes, frames)
        if start + size > end:
            break
        at = start + size
        frames.append(buffer[start:at])
    return frames, at


def _refuse_size(size: int, limit_bytes: int, frames_before: list[bytearray]) -> None:
    if size < 0:
        raise BadFrameSize(f"a frame announces {size} bytes", frames_before)
    raise FrameTooLarge(f"a frame announces {size} bytes, {limit_bytes} are allowed", frames_before)

"""Finding frames in a stream of bytes: four bytes of size, then as many bytes of header and body.

Sans-io: the caller owns the buffer, reads into it and moves what is left over; nothing here copies.
"""

import struct

from broker.common.errors import ProtocolError
from broker.protocol.primitives import Buffer

_SIZE = struct.Struct(">i")

#: Bytes in front of every frame.
SIZE_BYTES = _SIZE.size


class FrameTooLarge(ProtocolError):
    """The peer announces more bytes than the caller's limit (`socket.request.max.bytes`) allows."""


def next_frame(buffer: Buffer, start: int, end: int, limit_bytes: int) -> tuple[int, int] | None:
    """Where the first frame of buffer[start:end] begins and ends, its size left out; None until all of it is there.

    Raises FrameTooLarge or ProtocolError as soon as the size can be read and is impossible.
    """
    body_start = start + SIZE_BYTES
    if body_start > end:
        return None
    (size,) = _SIZE.unpack_from(buffer, start)
    if size < 0:
        raise ProtocolError(f"a frame announces {size} bytes")
    if size > limit_bytes:
        raise FrameTooLarge(f"a frame announces {size} bytes, {limit_bytes} are allowed")
    body_end = body_start + size
    return (body_start, body_end) if body_end <= end else None

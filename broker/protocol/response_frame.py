"""A response as the buffers that go to the socket: size, header and body of one frame."""

import struct
from collections.abc import Callable, Sequence

from broker.common.errors import ProtocolError
from broker.protocol.codec import INEXPRESSIBLE, encoder_of
from broker.protocol.framing import SIZE_BYTES
from broker.protocol.headers import has_flexible_response_header
from broker.protocol.primitives import Buffer
from broker.protocol.schema import Message

#: A piece of a response at least this long is handed on as it is; shorter ones are joined. Copying 4 KB costs less than
#: one more buffer in a `sendmsg`.
PART_BYTES_MIN = 4096

#: Size of the frame, correlation id and, in the flexible header, an empty section of tagged fields.
_HEAD = struct.Struct(">ii")
_FLEXIBLE_HEAD = struct.Struct(">iix")


def response_framer(message_class: type[Message], version: int) -> Callable[[Message, int], Sequence[Buffer]]:
    """A function of a message and the correlation id of its request that returns the frame in pieces.

    Large byte fields are passed on, not copied. It raises ProtocolError if this version cannot express the message.
    """
    encoder = encoder_of(message_class, version)
    head = _FLEXIBLE_HEAD if has_flexible_response_header(message_class.api, version) else _HEAD
    pack_head, uncounted = head.pack, SIZE_BYTES

    def frame(message: Message, correlation_id: int) -> Sequence[Buffer]:
        pieces: list[Buffer] = [bytes(head.size)]
        try:
            encoder(message, pieces.append)
        except INEXPRESSIBLE as error:
            name = message_class.__name__
            raise ProtocolError(f"{name} version {version} cannot express the message: {error}") from error
        size = sum(map(len, pieces))
        pieces[0] = pack_head(size - uncounted, correlation_id)
        return (b"".join(pieces),) if size < PART_BYTES_MIN else _join_small(pieces)

    return frame


def _join_small(pieces: list[Buffer]) -> list[Buffer]:
    parts: list[Buffer] = []
    small: list[Buffer] = []
    for piece in pieces:
        if len(piece) < PART_BYTES_MIN:
            small.append(piece)
            continue
        if small:
            parts.append(b"".join(small))
            small = []
        parts.append(piece)
    if small:
        parts.append(b"".join(small))
    return parts

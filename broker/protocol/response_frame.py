"""A response as the buffers that go to the socket: size, header and body of one frame."""

import struct
from collections.abc import Callable, Generator, Sequence
from typing import NamedTuple

from broker.common.errors import InvariantViolation
from broker.protocol.codec import INEXPRESSIBLE, encoder_of, stepwise_encoder_of
from broker.protocol.decoder_source import has_bytes
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
    """Return a function of a message and the correlation id of its request that returns the frame in pieces.

    Large byte fields are passed on, not copied. It raises InvariantViolation if this version cannot express the
    message: the peer did not ask for it.
    """
    encoder = encoder_of(message_class, version)
    head = _FLEXIBLE_HEAD if has_flexible_response_header(message_class.api, version) else _HEAD
    room_for_head, write_head = bytes(head.size), head.pack_into
    join = _join_small if has_bytes(message_class, version) else _join

    def frame(message: Message, correlation_id: int) -> Sequence[Buffer]:
        pieces: list[Buffer] = [room_for_head]
        try:
            encoder(message, pieces.append)
        except INEXPRESSIBLE as error:
            raise _inexpressible(message_class, version, error) from error
        parts = join(pieces)
        size = len(parts[0]) if len(parts) == 1 else sum(map(len, parts))
        write_head(parts[0], 0, size - SIZE_BYTES, correlation_id)
        return parts

    return frame


class Framed(NamedTuple):
    """A response's frame, and the first error code in it, 0 if there is none."""

    parts: Sequence[Buffer]
    error_code: int


def stepwise_framer(
    message_class: type[Message], version: int
) -> Callable[[Message, int], Generator[None, None, Framed]]:
    """Return a framer in steps, for answers that may be long: what is encoded in a step is joined in it."""
    head = _FLEXIBLE_HEAD if has_flexible_response_header(message_class.api, version) else _HEAD
    room_for_head = bytes(head.size)
    join = _join_small if has_bytes(message_class, version) else _join

    def frame(message: Message, correlation_id: int) -> Generator[None, None, Framed]:
        pieces: list[Buffer] = [room_for_head]
        parts: list[Buffer] = []
        steps, error_code = stepwise_encoder_of(message_class, version)(message, pieces.append), None
        while error_code is None:
            try:
                next(steps)
            except StopIteration as end:
                error_code = end.value
            except INEXPRESSIBLE as error:
                raise _inexpressible(message_class, version, error) from error
            if pieces:
                parts += join(pieces)
                pieces.clear()
            if error_code is None:
                yield
        head.pack_into(parts[0], 0, sum(map(len, parts)) - SIZE_BYTES, correlation_id)
        return Framed(parts, error_code)

    return frame


def _inexpressible(message_class: type[Message], version: int, error: Exception) -> InvariantViolation:
    return InvariantViolation(f"{message_class.__name__} version {version} cannot express the message: {error}")


def body_framer(message_class: type[Message], version: int) -> Callable[[bytes, int], Sequence[Buffer]]:
    """Return a framer for a body that is encoded already."""
    head = _FLEXIBLE_HEAD if has_flexible_response_header(message_class.api, version) else _HEAD
    write_head, uncounted = head.pack, SIZE_BYTES - head.size

    def frame(body: bytes, correlation_id: int) -> Sequence[Buffer]:
        return [write_head(len(body) - uncounted, correlation_id) + body]

    return frame


def _join(pieces: list[Buffer]) -> list[Buffer]:
    return [bytearray().join(pieces)]


def _join_small(pieces: list[Buffer]) -> list[Buffer]:
    """Join small pieces; large ones stay as they are."""
    if max(map(len, pieces)) < PART_BYTES_MIN:
        return _join(pieces)
    parts: list[Buffer] = []
    small: list[Buffer] = []
    for piece in pieces:
        if len(piece) < PART_BYTES_MIN:
            small.append(piece)
            continue
        parts += _join(small)
        parts.append(piece)
        small = []
    return parts + _join(small)

"""Bodies to bytes and back.

For each message and version a pair of functions is generated from the declaration on first use (`encoder_source`,
`decoder_source`) and kept. A message class has a handful of versions, so the caches are as bounded as the declarations.
"""

import struct
from collections.abc import Callable
from typing import Any, TypeVar

from broker.common.errors import ProtocolError
from broker.protocol.decoder_source import compile_decoder, has_bytes
from broker.protocol.encoder_source import compile_encoder
from broker.protocol.primitives import Buffer
from broker.protocol.schema import Message

AnyMessage = TypeVar("AnyMessage", bound=Message)

#: A piece of an encoded message at least this long is handed on as it is; shorter ones are joined. Copying 4 KB costs
#: less than one more buffer in a `sendmsg`.
PART_BYTES_MIN = 4096

_encoders: dict[tuple[type[Message], int], Callable[[Message, Callable[[Any], None]], None]] = {}
_decoders: dict[tuple[type[Message], int, bool], tuple[Callable[[Any], Any], bool]] = {}


def decode(message_class: type[AnyMessage], buffer: Buffer, version: int, *, ignore_rest: bool = False) -> AnyMessage:
    """The message that fills `buffer`; its byte fields are memoryview slices of it.

    Raises ProtocolError for anything else: truncated, longer than the message, impossible lengths, broken UTF-8.
    With `ignore_rest` bytes behind the message are no error: Kafka's brokers read requests so, and librdkafka 2.16
    relies on it (its Metadata request for all topics has three bytes too many).
    """
    key = message_class, version, ignore_rest
    decoder, wants_view = _decoders.get(key) or _add_decoder(*key)
    try:
        if wants_view:
            return decoder(memoryview(buffer))
        return decoder(buffer if buffer.__class__ is bytes else bytes(buffer))
    except (ProtocolError, struct.error, IndexError, UnicodeDecodeError) as error:
        raise ProtocolError(f"{message_class.__name__} version {version} is malformed: {error}") from error


def encode(message: Message, version: int) -> bytes:
    """The bytes of the message.

    Raises ProtocolError if this version cannot express it: a field that does not exist in it holds a value, a number
    is out of range, a null is not allowed.
    """
    return b"".join(_pieces(message, version))


def encode_parts(message: Message, version: int) -> list[Buffer]:
    """What `encode` answers, as buffers to be sent one after the other: large byte fields are passed on, not copied."""
    parts: list[Buffer] = []
    small: list[Buffer] = []
    for piece in _pieces(message, version):
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


def _pieces(message: Message, version: int) -> list[Buffer]:
    pieces: list[Buffer] = []
    encoder = _encoders.get((message.__class__, version)) or _add_encoder(message.__class__, version)
    try:
        encoder(message, pieces.append)
    except (ProtocolError, struct.error, AttributeError, TypeError, UnicodeEncodeError) as error:
        name = message.__class__.__name__
        raise ProtocolError(f"{name} version {version} cannot express the message: {error}") from error
    return pieces


def _add_decoder(message_class: type[Message], version: int, ignore_rest: bool) -> tuple[Callable[[Any], Any], bool]:
    _check_version(message_class, version)
    entry = compile_decoder(message_class, version, ignore_rest), has_bytes(message_class, version)
    _decoders[message_class, version, ignore_rest] = entry
    return entry


def _add_encoder(message_class: type[Message], version: int) -> Callable[[Message, Callable[[Any], None]], None]:
    _check_version(message_class, version)
    encoder = _encoders[message_class, version] = compile_encoder(message_class, version)
    return encoder


def _check_version(message_class: type[Message], version: int) -> None:
    lowest, highest = message_class.versions
    if not lowest <= version <= highest:
        raise ProtocolError(f"{message_class.__name__} has versions {lowest} to {highest}, not {version}")

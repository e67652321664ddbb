"""Bodies to bytes and back.

For each message and version a pair of functions is generated from the declaration on first use (`encoder_source`,
`decoder_source`) and kept. A message class has a handful of versions, so the caches are as bounded as the declarations.
"""

import struct
from collections.abc import Callable, Generator
from typing import Any, TypeVar

from broker.common.errors import ProtocolError
from broker.protocol.decoder_source import compile_decoder, compile_stepwise_decoder
from broker.protocol.encoder_source import compile_encoder, compile_stepwise_encoder
from broker.protocol.primitives import Buffer
from broker.protocol.schema import Versioned

AnyMessage = TypeVar("AnyMessage", bound=Versioned)

Decoder = Callable[[Any, int], Any]
StepwiseDecoder = Callable[[Any, int], Generator[None, None, Any]]
Encoder = Callable[[Versioned, Callable[[Any], None]], None]
StepwiseEncoder = Callable[[Versioned, Callable[[Any], None]], Generator[None, None, bool]]

#: What a decoder raises when the bytes are at fault, and an encoder when the message is.
MALFORMED = (ProtocolError, struct.error, IndexError, UnicodeDecodeError)
INEXPRESSIBLE = (ProtocolError, struct.error, AttributeError, TypeError, UnicodeEncodeError)

_encoders: dict[tuple[type[Versioned], int], Encoder] = {}
_stepwise_encoders: dict[tuple[type[Versioned], int], StepwiseEncoder] = {}
_decoders: dict[tuple[type[Versioned], int, bool, int | None], Decoder] = {}
_stepwise_decoders: dict[tuple[type[Versioned], int, bool, int | None], StepwiseDecoder] = {}


def decode(message_class: type[AnyMessage], buffer: Buffer, version: int, *, ignore_rest: bool = False) -> AnyMessage:
    """Return the message that fills `buffer`; its byte fields are memoryview slices of it.

    Raises ProtocolError for anything else: truncated, longer than the message, impossible lengths, broken UTF-8.
    With `ignore_rest` bytes behind the message are no error: Kafka's brokers read requests so, and librdkafka 2.16
    relies on it (its Metadata request for all topics has three bytes too many).
    """
    try:
        message: AnyMessage = decoder_of(message_class, version, ignore_rest=ignore_rest)(buffer, 0)
    except MALFORMED as error:
        raise ProtocolError(f"{message_class.__name__} version {version} is malformed: {error}") from error
    return message


def encode(message: Versioned, version: int) -> bytes:
    """The bytes of the message.

    Raises ProtocolError if this version cannot express it: a field that does not exist in it holds a value, a number
    is out of range, a null is not allowed.
    """
    return b"".join(encode_pieces(message, version))


def encode_pieces(message: Versioned, version: int) -> list[Buffer]:
    """Encode in pieces, so that byte fields of the message are not copied. Raises as `encode`."""
    pieces: list[Buffer] = []
    try:
        encoder_of(message.__class__, version)(message, pieces.append)
    except INEXPRESSIBLE as error:
        name = message.__class__.__name__
        raise ProtocolError(f"{name} version {version} cannot express the message: {error}") from error
    return pieces


def decoder_of(
    message_class: type[Versioned], version: int, *, ignore_rest: bool = False, entries_max: int | None = None
) -> Decoder:
    """Return the function behind `decode`: of a buffer and the position of the message, raising MALFORMED.

    With `entries_max` also if all arrays together have more elements, which is known before they are read.
    """
    key = (message_class, version, ignore_rest, entries_max)
    decoder = _decoders.get(key)
    if decoder is None:
        _check_version(message_class, version)
        decoder = _decoders[key] = compile_decoder(message_class, version, ignore_rest, entries_max)
    return decoder


def stepwise_decoder_of(
    message_class: type[Versioned], version: int, *, ignore_rest: bool = False, entries_max: int | None = None
) -> StepwiseDecoder:
    """Return `decoder_of` as a generator that yields after every ENTRIES_DECODED_IN_A_TURN and returns the message."""
    key = (message_class, version, ignore_rest, entries_max)
    decoder = _stepwise_decoders.get(key)
    if decoder is None:
        _check_version(message_class, version)
        decoder = _stepwise_decoders[key] = compile_stepwise_decoder(message_class, version, ignore_rest, entries_max)
    return decoder


def encoder_of(message_class: type[Versioned], version: int) -> Encoder:
    """Return the function behind `encode`: it passes the pieces of a message to a function, and raises
    INEXPRESSIBLE.
    """
    encoder = _encoders.get((message_class, version))
    if encoder is None:
        _check_version(message_class, version)
        encoder = _encoders[message_class, version] = compile_encoder(message_class, version)
    return encoder


def stepwise_encoder_of(message_class: type[Versioned], version: int) -> StepwiseEncoder:
    """Return `encoder_of` as a generator that yields after every ENTRIES_ENCODED_IN_A_TURN.

    Arrays need not be lists: each is asked for its length, and once for its elements.
    """
    encoder = _stepwise_encoders.get((message_class, version))
    if encoder is None:
        _check_version(message_class, version)
        encoder = _stepwise_encoders[message_class, version] = compile_stepwise_encoder(message_class, version)
    return encoder


def _check_version(message_class: type[Versioned], version: int) -> None:
    lowest, highest = message_class.versions
    if not lowest <= version <= highest:
        raise ProtocolError(f"{message_class.__name__} has versions {lowest} to {highest}, not {version}")

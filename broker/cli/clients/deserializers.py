"""Kafka's deserializers by the names of their classes: from bytes of a key or value to the text Java prints. Pure."""

import math
import struct
from collections.abc import Callable
from uuid import UUID

from broker.cli.frame.declaration import CommandError

#: From bytes, which are never None, to bytes. Raises DeserializationError.
Deserializer = Callable[[bytes], bytes]
_PACKAGE = "org.apache.kafka.common.serialization."
#: Java writes a double as 123.4 between these, and as 1.234E10 beyond.
_PLAIN_FROM, _PLAIN_BELOW = 1e-3, 1e7


class DeserializationError(CommandError):
    """The bytes are no such value."""


def deserializer(class_name: str) -> Deserializer:
    """Raises CommandError for a class that is none of Kafka's."""
    short = class_name.removeprefix(_PACKAGE)
    if short not in _BY_CLASS:
        known = ", ".join(_BY_CLASS)
        raise CommandError(f"Class {class_name} could not be found; known are {known} of {_PACKAGE[:-1]}.")
    return _BY_CLASS[short]


def java_float(value: float, digits: str) -> str:
    """Format the shortest digits of a number, given in Python's format, as Java's Double.toString does."""
    if math.isnan(value):
        return "NaN"
    sign = "-" if math.copysign(1, value) < 0 else ""
    if math.isinf(value):
        return f"{sign}Infinity"
    mantissa, _, exponent = digits.lstrip("-").lower().partition("e")
    whole, _, fraction = mantissa.partition(".")
    significant = (whole + fraction).lstrip("0")
    if not significant:
        return f"{sign}0.0"
    #: How many digits stand before the point.
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(significant))
    significant = significant.rstrip("0")
    if not _PLAIN_FROM <= abs(value) < _PLAIN_BELOW:
        return f"{sign}{significant[0]}.{significant[1:] or '0'}E{point - 1}"
    if point <= 0:
        return f"{sign}0.{'0' * -point}{significant}"
    padded = significant.ljust(point, "0")
    return f"{sign}{padded[:point]}.{padded[point:] or '0'}"


def _number(code: str) -> Deserializer:
    one = struct.Struct(f">{code}")

    def read(data: bytes) -> bytes:
        return str(_unpacked(one, data)).encode()

    return read


def _unpacked(one: struct.Struct, data: bytes) -> float:
    if len(data) != one.size:
        raise DeserializationError(f"SerializationException: Size of data received is {len(data)}, not {one.size}")
    value: float = one.unpack(data)[0]
    return value


def _double(data: bytes) -> bytes:
    value = _unpacked(struct.Struct(">d"), data)
    return java_float(value, repr(value)).encode()


def _float(data: bytes) -> bytes:
    """Return the fewest digits that are the same number in four bytes."""
    one = struct.Struct(">f")
    value = _unpacked(one, data)
    if not math.isfinite(value):
        return java_float(value, "").encode()
    digits = next(text for count in range(1, 10) if one.pack(float(text := f"{value:.{count}g}")) == data or count == 9)
    return java_float(value, digits).encode()


def _bytes(data: bytes) -> bytes:
    """Format bytes as org.apache.kafka.common.utils.Bytes does: unprintable ones are escaped."""
    return b"".join(
        b"%c" % number if 0x20 <= number <= 0x7E and number != 0x5C else b"\\x%02X" % number for number in data
    )


def _uuid(data: bytes) -> bytes:
    try:
        return str(UUID(data.decode())).encode()
    except ValueError:
        raise DeserializationError("SerializationException: Error parsing data into UUID") from None


def _boolean(data: bytes) -> bytes:
    if data not in (b"\0", b"\1"):
        raise DeserializationError("SerializationException: Unexpected byte received by BooleanDeserializer")
    return b"true" if data == b"\1" else b"false"


def _string(data: bytes) -> bytes:
    return data.decode(errors="replace").encode()


_BY_CLASS: dict[str, Deserializer] = {
    "StringDeserializer": _string,
    "LongDeserializer": _number("q"),
    "IntegerDeserializer": _number("i"),
    "ShortDeserializer": _number("h"),
    "DoubleDeserializer": _double,
    "FloatDeserializer": _float,
    "BooleanDeserializer": _boolean,
    "UUIDDeserializer": _uuid,
    "BytesDeserializer": _bytes,
    "ByteArrayDeserializer": bytes,
    "ByteBufferDeserializer": bytes,
    "VoidDeserializer": lambda _data: b"null",
}

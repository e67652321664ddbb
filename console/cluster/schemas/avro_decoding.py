"""Avro's binary encoding to values that JSON can hold. Bounded: a few bytes may stand for billions of nulls. Pure.

Bytes are told as Avro's own JSON encoding does, a character for each; dates and decimals as a person writes them.
"""

import math
import struct
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Context, Decimal

from broker.registry.avro.model import AvroType
from console.cluster.schemas.avro_schema import DEPTH_MAX
from console.cluster.schemas.errors import NotDecodedError

#: Of one record: more nobody reads, and each costs a microsecond.
VALUES_MAX = 50_000
_VARINT_BYTES_MAX = 10
#: Digits of a decimal that is told as one.
_DECIMAL_BYTES_MAX = 64


class _Cursor:
    def __init__(self, data: bytes):
        self._data = data
        self.at = 0
        self._left = VALUES_MAX

    @property
    def rest(self) -> int:
        return len(self._data) - self.at

    def count(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise NotDecodedError(f"it holds more than {VALUES_MAX} values")

    def take(self, length: int) -> bytes:
        if not 0 <= length <= self.rest:
            raise NotDecodedError(f"at byte {self.at} {length} bytes are said to follow, and {self.rest} do")
        self.at += length
        return self._data[self.at - length : self.at]

    def number(self) -> int:
        value = 0
        for shift in range(0, 7 * _VARINT_BYTES_MAX, 7):
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            if not byte & 0x80:
                return (value >> 1) ^ -(value & 1)
        raise NotDecodedError(f"at byte {self.at} a number does not end")


def decode(type_: AvroType, data: bytes) -> object:
    """Raises NotDecodedError."""
    if type_.kind == "bytes":
        return _bytes_text(type_, data)  # Confluent's serializers write bytes that are all of a record as they are.
    cursor = _Cursor(data)
    value = _value(type_, cursor, 0)
    if cursor.rest:
        raise NotDecodedError(f"{cursor.rest} bytes are left over at byte {cursor.at}")
    return value


def _value(type_: AvroType, cursor: _Cursor, depth: int) -> object:
    cursor.count()
    if depth > DEPTH_MAX:
        raise NotDecodedError(f"it is deeper than {DEPTH_MAX} levels")
    return _READERS[type_.kind](type_, cursor, depth)


def _record(type_: AvroType, cursor: _Cursor, depth: int) -> object:
    values = {}
    for field in type_.fields:
        try:
            values[field.name] = _value(field.type, cursor, depth + 1)
        except NotDecodedError as error:
            inner = str(error)
            path = inner if inner.startswith("field ") else f"field {field.name}: {inner}"
            raise NotDecodedError(path) from None
    return values


def _union(type_: AvroType, cursor: _Cursor, depth: int) -> object:
    at = cursor.number()
    if not 0 <= at < len(type_.inner):
        raise NotDecodedError(f"branch {at} of a union of {len(type_.inner)}")
    return _value(type_.inner[at], cursor, depth + 1)


def _enum(type_: AvroType, cursor: _Cursor, _: int) -> object:
    at = cursor.number()
    if not 0 <= at < len(type_.symbols):
        raise NotDecodedError(f"symbol {at} of an enum of {len(type_.symbols)}")
    return type_.symbols[at]


def _array(type_: AvroType, cursor: _Cursor, depth: int) -> object:
    values = []
    while length := _block(cursor):
        for _ in range(length):
            values.append(_value(type_.inner[0], cursor, depth + 1))
    return values


def _map(type_: AvroType, cursor: _Cursor, depth: int) -> object:
    values = {}
    while length := _block(cursor):
        for _ in range(length):
            key = _text(cursor)
            values[key] = _value(type_.inner[0], cursor, depth + 1)
    return values


def _block(cursor: _Cursor) -> int:
    length = cursor.number()
    if length < 0:
        cursor.number()
    return abs(length)


def _text(cursor: _Cursor) -> str:
    return cursor.take(cursor.number()).decode(errors="replace")


def _integer(type_: AvroType, cursor: _Cursor, _: int) -> object:
    value = cursor.number()
    logical = type_.logical if type_.properties else ""
    try:
        if logical == "date":
            return (date(1970, 1, 1) + timedelta(days=value)).isoformat()
        if logical in _UNITS:
            moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=value * _UNITS[logical])
            return moment.isoformat().replace("+00:00", "Z" if logical.startswith("timestamp") else "")
    except OverflowError:
        return value
    return value


_UNITS = {
    "timestamp-millis": 1_000,
    "timestamp-micros": 1,
    "local-timestamp-millis": 1_000,
    "local-timestamp-micros": 1,
}


def _floating(form: str) -> Callable[[AvroType, _Cursor, int], object]:
    def read(_type: AvroType, cursor: _Cursor, _depth: int) -> object:
        (value,) = struct.unpack(form, cursor.take(struct.calcsize(form)))
        if math.isfinite(value):
            return value
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"

    return read


def _bytes_text(type_: AvroType, data: bytes) -> str:
    if type_.logical == "decimal" and len(data) <= _DECIMAL_BYTES_MAX and 0 <= type_.scale <= 8 * _DECIMAL_BYTES_MAX:
        number = Decimal(int.from_bytes(data, signed=True)).scaleb(-type_.scale, Context(prec=8 * _DECIMAL_BYTES_MAX))
        return f"{number:f}"
    return data.decode("latin-1")


_READERS: dict[str, Callable[[AvroType, _Cursor, int], object]] = {
    "null": lambda type_, cursor, depth: None,
    "boolean": lambda type_, cursor, depth: cursor.take(1) != b"\0",
    "int": _integer,
    "long": _integer,
    "float": _floating("<f"),
    "double": _floating("<d"),
    "bytes": lambda type_, cursor, depth: _bytes_text(type_, cursor.take(cursor.number())),
    "string": lambda type_, cursor, depth: _text(cursor),
    "fixed": lambda type_, cursor, depth: _bytes_text(type_, cursor.take(type_.size)),
    "record": _record,
    "error": _record,
    "union": _union,
    "enum": _enum,
    "array": _array,
    "map": _map,
}

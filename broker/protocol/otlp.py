"""OpenTelemetry's MetricsData, version 1, as clients push it (KIP-714): names, types, attributes and numbers, no more.

The messages are read from the wire format of Protocol Buffers, where each field says how long it is. What this reader
has no use for is skipped; what is cut off or nested otherwise is refused.
"""

import struct
from collections.abc import Iterator
from typing import NamedTuple

from broker.common.errors import ProtocolError

#: Attributes of one data point that are read; more are left out.
ATTRIBUTES_MAX = 16
#: Characters of a name or value that are kept.
TEXT_LENGTH_MAX = 200

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_VARINT_BYTES_MAX = 10
_RESOURCE_METRICS = 1
_SCOPE_METRICS, _METRICS = 2, 2
_GAUGE, _SUM = 5, 7
_DELTA = 1


class PushedPoint(NamedTuple):
    """One number of a client: `is_delta` adds to what the client pushed before, else it replaces that."""

    name: str
    attributes: tuple[tuple[str, str], ...]
    value: float
    is_delta: bool
    is_sum: bool


def read_metrics(data: bytes | memoryview) -> Iterator[PushedPoint]:
    """Yield the points of gauges and sums; other kinds of metrics are skipped. Raises ProtocolError."""
    for number, resource in _nested(data):
        if number == _RESOURCE_METRICS:
            for inner, scope in _nested(resource):
                if inner == _SCOPE_METRICS:
                    for innermost, metric in _nested(scope):
                        if innermost == _METRICS:
                            yield from _points(metric)


def _points(metric: memoryview) -> Iterator[PushedPoint]:
    name, body, is_sum = "", None, False
    for number, value in _nested(metric):
        if number == 1:
            name = _text(value)
        elif number in (_GAUGE, _SUM):
            body, is_sum = value, number == _SUM
    if body is None:
        return
    fields = list(_fields(body))
    is_delta = is_sum and any(field == (2, _VARINT, _DELTA) for field in fields)
    for number, _, content in fields:
        if number != 1 or not isinstance(content, memoryview):
            continue
        attributes, amount = _point(content)
        if amount is not None:
            yield PushedPoint(name, attributes, amount, is_delta, is_sum)


def _point(point: memoryview) -> tuple[tuple[tuple[str, str], ...], float | None]:
    attributes: list[tuple[str, str]] = []
    amount: float | None = None
    for number, wire_type, value in _fields(point):
        if number == 4 and wire_type == _FIXED64 and isinstance(value, memoryview):
            amount = struct.unpack("<d", value)[0]
        elif number == 6 and wire_type == _FIXED64 and isinstance(value, memoryview):
            amount = float(struct.unpack("<q", value)[0])
        elif number == 7 and isinstance(value, memoryview) and len(attributes) < ATTRIBUTES_MAX:
            attributes.append(_attribute(value))
    return tuple(sorted(attributes)), amount


def _attribute(data: memoryview) -> tuple[str, str]:
    """Read a key with a string, a boolean or a whole number; anything else is an empty value."""
    key, text = "", ""
    for number, value in _nested(data):
        if number == 1:
            key = _text(value)
        elif number == 2:
            for kind, _, content in _fields(value):
                if kind == 1 and isinstance(content, memoryview):
                    text = _text(content)
                elif kind in (2, 3) and isinstance(content, int):
                    text = str(content)
    return key, text


def _text(data: memoryview) -> str:
    return bytes(data[: 4 * TEXT_LENGTH_MAX]).decode(errors="replace")[:TEXT_LENGTH_MAX]


def _nested(data: bytes | memoryview) -> Iterator[tuple[int, memoryview]]:
    """Yield the fields that hold bytes: texts and messages."""
    for number, wire_type, value in _fields(data):
        if wire_type == _BYTES and isinstance(value, memoryview):
            yield number, value


def _fields(data: bytes | memoryview) -> Iterator[tuple[int, int, int | memoryview]]:
    """Yield number, wire type and value of each field. Raises ProtocolError if the message is cut off."""
    view, at = memoryview(data), 0
    while at < len(view):
        key, at = _varint(view, at)
        number, wire_type = key >> 3, key & 7
        if wire_type == _VARINT:
            amount, at = _varint(view, at)
            yield number, wire_type, amount
            continue
        if wire_type == _BYTES:
            size, at = _varint(view, at)
        elif wire_type in (_FIXED64, _FIXED32):
            size = 8 if wire_type == _FIXED64 else 4
        else:
            raise ProtocolError(f"metrics of a client have a field of wire type {wire_type}")
        if at + size > len(view):
            raise ProtocolError("metrics of a client are cut off")
        yield number, wire_type, view[at : at + size]
        at += size


def _varint(view: memoryview, at: int) -> tuple[int, int]:
    """Return the number and where it ends."""
    value = 0
    for index in range(_VARINT_BYTES_MAX):
        if at + index >= len(view):
            raise ProtocolError("metrics of a client are cut off")
        byte = view[at + index]
        value |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            return value, at + index + 1
    raise ProtocolError("metrics of a client have a number of more than 64 bits")

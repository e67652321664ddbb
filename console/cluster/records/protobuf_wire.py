"""What a Protobuf message holds when nobody has its schema: fields by number, their types guessed, as `protoc
--decode_raw` shows them. Pure.

The wire says of a value how long it is, not what it is: bytes may be text, a message, or bytes.
"""

import json
import struct
from dataclasses import dataclass

#: Fields looked at, among them those of what turned out to be no message.
FIELDS_MAX = 5_000
DEPTH_MAX = 32
BYTES_SHOWN = 64
TEXT_SHOWN = 4_000
_NUMBER_MAX = 2**29 - 1
_VARINT, _FIXED64, _BYTES, _GROUP, _GROUP_END, _FIXED32 = range(6)


@dataclass(frozen=True, slots=True)
class _Message:
    fields: list[tuple[int, "str | _Message"]]


class _NoMessage(Exception):
    pass


class _TooMuch(Exception):
    pass


def wire_text(data: bytes, length_max: int) -> tuple[str, bool] | None:
    """Return a line for each field, up to `length_max` characters, and whether there is more; None for what is no
    message.
    """
    try:
        message, _ = _ProtobufReading(data).message(0, len(data), 0)
    except (_NoMessage, _TooMuch):
        return None
    lines: list[str] = []
    is_cut = not _write(message, 0, lines, length_max)
    text = "\n".join(lines)
    return (text[:length_max], is_cut or len(text) > length_max) if message.fields else None


def _write(message: _Message, depth: int, lines: list[str], left: int) -> int:
    """Write the message's lines and return how many characters of the budget are left."""
    for number, value in message.fields:
        begun = "  " * depth + str(number)
        lines.append(f"{begun} {{" if isinstance(value, _Message) else f"{begun}: {value}")
        left -= len(lines[-1]) + 1
        if isinstance(value, _Message) and left > 0:
            left = _write(value, depth + 1, lines, left)
            lines.append("  " * depth + "}")
        if left <= 0:
            return 0
    return left


class _ProtobufReading:
    def __init__(self, data: bytes):
        self._data = data
        self._left = FIELDS_MAX

    def message(self, at: int, end: int, depth: int, group: int = 0) -> tuple[_Message, int]:
        """Decode the bytes from `at` to `end`, or to the end of `group`; return the message and its end.

        Raises _NoMessage, _TooMuch.
        """
        if depth > DEPTH_MAX:
            raise _NoMessage
        fields: list[tuple[int, str | _Message]] = []
        while at < end:
            self._left -= 1
            if self._left < 0:
                raise _TooMuch
            tag, at = self._varint(at, end)
            number, kind = tag >> 3, tag & 7
            if not 0 < number <= _NUMBER_MAX:
                raise _NoMessage
            if kind == _GROUP_END and number == group:
                return _Message(fields), at
            value, at = self._value(kind, number, at, end, depth)
            fields.append((number, value))
        if group:
            raise _NoMessage
        return _Message(fields), at

    def _value(self, kind: int, number: int, at: int, end: int, depth: int) -> "tuple[str | _Message, int]":
        if kind == _VARINT:
            value, at = self._varint(at, end)
            return str(value), at
        if kind == _GROUP:
            return self.message(at, end, depth + 1, number)
        if kind == _BYTES:
            size, at = self._varint(at, end)
            if size > end - at:
                raise _NoMessage
            return self._guessed(at, at + size, depth), at + size
        size = {_FIXED64: 8, _FIXED32: 4}.get(kind, 0)
        if not size or size > end - at:
            raise _NoMessage
        return _fixed(self._data[at : at + size]), at + size

    def _varint(self, at: int, end: int) -> tuple[int, int]:
        value = 0
        for shift in range(0, 70, 7):
            if at >= end:
                break
            byte, at = self._data[at], at + 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80 and value < 2**64:
                return value, at
        raise _NoMessage

    def _guessed(self, at: int, end: int, depth: int) -> "str | _Message":
        """Guess a string or message: text without a control character is no message, whose fields begin with small
        numbers.
        """
        data = self._data[at:end]
        try:
            text = data.decode()
        except UnicodeDecodeError:
            text = None
        if text is not None and text.isprintable():
            return _quoted(text)
        try:
            return self.message(at, end, depth + 1)[0]
        except _NoMessage:
            pass
        if text is not None and all(name.isprintable() or name.isspace() for name in text):
            return _quoted(text)
        return f"{data[:BYTES_SHOWN].hex(' ')}{' …' if len(data) > BYTES_SHOWN else ''} ({len(data)} bytes)"


def _quoted(text: str) -> str:
    return json.dumps(text[:TEXT_SHOWN], ensure_ascii=False) + ("…" if len(text) > TEXT_SHOWN else "")


def _fixed(data: bytes) -> str:
    """Format a fixed number with and without a point: the wire does not say which."""
    (point,) = struct.unpack("<d" if len(data) == 8 else "<f", data)
    return f"0x{int.from_bytes(data, 'little'):0{2 * len(data)}x} ({point:g})"

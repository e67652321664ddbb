"""CBOR (RFC 8949) as JSON, for bytes that are no text. Pure.

Our own, because a record of a stranger must end within bounds: what libraries make of tags (regular expressions, shared
references, numbers of any size) and of keys that collide is more than a page may cost. Like MessagePack it has no mark
unless somebody wrote one: only one whole map or array, with nothing after it, is taken for it.
"""

import json
import math
import struct
from typing import Any, NoReturn

#: A byte may be an item, and a page has many records; what is longer stays hex.
BYTES_MAX = 32 * 1024
DEPTH_MAX = 64
#: Bytes of a number beyond 64 bits that is written as one.
NUMBER_BYTES_MAX = 128
_SELF_DESCRIBED = b"\xd9\xd9\xf7"
_UNSIGNED, _NEGATIVE, _BYTES, _TEXT, _ARRAY, _MAP, _TAG, _SIMPLE = range(8)
_INDEFINITE, _BREAK = 31, 0xFF
_POSITIVE_NUMBER, _NEGATIVE_NUMBER = 2, 3
_WORDS = {20: False, 21: True, 22: None, 23: None}
_FLOATS = {25: ">e", 26: ">f", 27: ">d"}


class _NotCbor(Exception):
    """Or nothing that JSON could say, or too deep."""


def as_json(data: bytes) -> str | None:
    """Return the document as JSON: bytes as hex, tags left out, keys as text; None for what is no map or array."""
    if not 1 < len(data) <= BYTES_MAX:
        return None
    reader = _CborReader(data.removeprefix(_SELF_DESCRIBED))
    try:
        value = reader.item(0)
    except (_NotCbor, UnicodeDecodeError):
        return None
    if not reader.is_through or not isinstance(value, dict | list) or not value:
        return None
    return json.dumps(value, ensure_ascii=False)


class _CborReader:
    def __init__(self, data: bytes):
        self._data, self._at = data, 0

    @property
    def is_through(self) -> bool:
        return self._at == len(self._data)

    def item(self, depth: int) -> Any:
        """Raises _NotCbor, UnicodeDecodeError."""
        if depth > DEPTH_MAX:
            raise _NotCbor
        (head,) = self._take(1)
        kind, argument = head >> 5, head & 31
        if kind == _SIMPLE:
            return self._simple(argument)
        if kind == _TAG:
            return self._tagged(self._number(argument), depth)
        if kind in (_BYTES, _TEXT):
            string = self._string(kind, argument)
            return string.decode() if kind == _TEXT else string.hex()
        if kind == _ARRAY:
            return self._array(argument, depth)
        if kind == _MAP:
            return self._map(argument, depth)
        number = self._number(argument)
        return number if kind == _UNSIGNED else -1 - number

    def _take(self, count: int) -> bytes:
        taken = self._data[self._at : self._at + count]
        if len(taken) < count:
            raise _NotCbor
        self._at += count
        return taken

    def _number(self, argument: int) -> int:
        if argument < 24:
            return argument
        return int.from_bytes(self._take(1 << argument - 24)) if argument < 28 else _refuse()

    def _is_at_break(self) -> bool:
        if self._data[self._at : self._at + 1] != bytes((_BREAK,)):
            return False
        self._at += 1
        return True

    def _string(self, kind: int, argument: int) -> bytes:
        if argument != _INDEFINITE:
            return self._take(self._number(argument))
        parts = []
        while not self._is_at_break():
            (head,) = self._take(1)
            if head >> 5 != kind or head & 31 == _INDEFINITE:
                raise _NotCbor
            parts.append(self._take(self._number(head & 31)))
        return b"".join(parts)

    def _array(self, argument: int, depth: int) -> list[Any]:
        if argument == _INDEFINITE:
            items = []
            while not self._is_at_break():
                items.append(self.item(depth + 1))
            return items
        return [self.item(depth + 1) for _ in range(self._number(argument))]

    def _map(self, argument: int, depth: int) -> dict[str, Any]:
        items: dict[str, Any] = {}
        left = -1 if argument == _INDEFINITE else self._number(argument)
        while left != 0 and not (left < 0 and self._is_at_break()):
            name = self.item(DEPTH_MAX)  # no container: that would be deeper
            key = name if isinstance(name, str) else json.dumps(name)
            if key in items or isinstance(name, dict | list):
                raise _NotCbor
            items[key] = self.item(depth + 1)
            left -= 1
        return items

    def _tagged(self, tag: int, depth: int) -> Any:
        if tag not in (_POSITIVE_NUMBER, _NEGATIVE_NUMBER):
            return self.item(depth + 1)
        (head,) = self._take(1)
        data = self._string(_BYTES, head & 31) if head >> 5 == _BYTES else _refuse()
        if len(data) > NUMBER_BYTES_MAX:
            raise _NotCbor
        return int.from_bytes(data) if tag == _POSITIVE_NUMBER else -1 - int.from_bytes(data)

    def _simple(self, argument: int) -> Any:
        if argument in _WORDS:
            return _WORDS[argument]
        if argument not in _FLOATS:
            return f"simple({self._number(argument)})" if argument <= 24 else _refuse()
        (number,) = struct.unpack(_FLOATS[argument], self._take(1 << argument - 24))
        return number if math.isfinite(number) else str(number)


def _refuse() -> NoReturn:
    raise _NotCbor

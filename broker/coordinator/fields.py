"""Reads and writes the fields of internal topics' keys and values: Kafka's classic encoding, big-endian.

Not the wire codec of `broker.protocol`: these are stored records, no API has them, and a record that cannot be read is
our defect or a damaged log, never the mistake of a peer.
"""

from collections.abc import Sequence
from struct import Struct, error, pack, unpack
from typing import Self, TypeVar

from broker.common.errors import InvariantViolation

#: Longest string, in bytes of UTF-8, that a field can hold.
STRING_BYTES_MAX = 2**15 - 1
#: Text of so many characters fits, whichever they are.
_SHORT_MAX = STRING_BYTES_MAX // 4

_INT8, _INT16, _INT32, _INT64 = Struct(">b"), Struct(">h"), Struct(">i"), Struct(">q")
_Decoded = TypeVar("_Decoded")


def is_too_long(text: str) -> bool:
    """Return whether no field can hold the string: newer requests can carry such, and must be refused before it is
    written.
    """
    return len(text) > _SHORT_MAX and len(text.encode()) > STRING_BYTES_MAX


def text_bytes(text: str) -> int:
    """Return what the letters take in memory at most; Python takes one to four bytes for each of a text."""
    return len(text) if text.isascii() else 4 * len(text)


class FieldWriter:
    """Appends one field after another; every call returns the writer."""

    def __init__(self) -> None:
        self._parts = bytearray()

    def int8(self, value: int) -> Self:
        self._parts += _INT8.pack(value)
        return self

    def int16(self, value: int) -> Self:
        self._parts += _INT16.pack(value)
        return self

    def int32(self, value: int) -> Self:
        self._parts += _INT32.pack(value)
        return self

    def int64(self, value: int) -> Self:
        self._parts += _INT64.pack(value)
        return self

    def int32s(self, values: Sequence[int]) -> Self:
        """Write the number of values, then the values."""
        self._parts += pack(f">i{len(values)}i", len(values), *values)
        return self

    def string(self, value: str) -> Self:
        encoded = value.encode()
        self.int16(len(encoded))
        self._parts += encoded
        return self

    def nullable_string(self, value: str | None) -> Self:
        return self.int16(-1) if value is None else self.string(value)

    def bytes_(self, value: bytes) -> Self:
        self.int32(len(value))
        self._parts += value
        return self

    def to_bytes(self) -> bytes:
        return bytes(self._parts)


class FieldReader:
    """Takes one field after another; raises InvariantViolation where the bytes end too early."""

    def __init__(self, data: bytes):
        self._data = data
        self._at = 0

    def int8(self) -> int:
        return self._unpack(_INT8)

    def int16(self) -> int:
        return self._unpack(_INT16)

    def int32(self) -> int:
        return self._unpack(_INT32)

    def int64(self) -> int:
        return self._unpack(_INT64)

    def int32s(self) -> tuple[int, ...]:
        """Read an array: its length comes first."""
        count = self.int32()
        taken = self._take(4 * count)
        return unpack(f">{count}i", taken)

    def string(self) -> str:
        return self._text(self.int16())

    def nullable_string(self) -> str | None:
        length = self.int16()
        return None if length == -1 else self._text(length)

    def bytes_(self) -> bytes:
        return self._take(self.int32())

    def nullable_bytes(self) -> bytes | None:
        length = self.int32()
        return None if length == -1 else self._take(length)

    def last(self, decoded: _Decoded) -> _Decoded:
        """Return `decoded` if everything was read: bytes left over mean that the format is another one."""
        if self._at != len(self._data):
            raise InvariantViolation(f"{len(self._data) - self._at} bytes too many in a coordinator's record")
        return decoded

    def _unpack(self, layout: Struct) -> int:
        try:
            value: int = layout.unpack_from(self._data, self._at)[0]
        except error:
            raise InvariantViolation("a coordinator's record ends too early") from None
        self._at += layout.size
        return value

    def _text(self, length: int) -> str:
        try:
            return self._take(length).decode()
        except UnicodeDecodeError:
            raise InvariantViolation("a string of a coordinator's record is not UTF-8") from None

    def _take(self, length: int) -> bytes:
        end = self._at + length
        if length < 0 or end > len(self._data):
            raise InvariantViolation("a coordinator's record ends too early")
        taken = bytes(self._data[self._at : end])
        self._at = end
        return taken

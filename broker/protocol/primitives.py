"""The primitive types of Kafka's wire format and the readers and writers that generated code calls.

A primitive of fixed width is a `struct` format character; the code generator merges neighbours into one `struct` call,
so those need no function here. What is left has a length in front: varints, strings, bytes, arrays.

Theory of the readers: nothing checks ahead whether enough bytes are left. A slice past the end comes back short and
`at` moves beyond the end; every later read then fails, and so does the decoder's last check, that `at` equals the size.
So a length costs one comparison, against zero, and nothing is allocated by its value.
"""

from dataclasses import dataclass
from functools import lru_cache
from struct import Struct as Layout
from typing import Any
from uuid import UUID

from broker.common.errors import ProtocolError
from broker.common.limits import TAGGED_FIELDS_MAX

#: A topic id, or no topic id.
ZERO_UUID = UUID(int=0)

#: What byte fields may hold.
Buffer = bytes | bytearray | memoryview

#: Largest value of an unsigned varint on Kafka's wire: it stands for a 32-bit integer.
_UVARINT_MAX = 0xFFFF_FFFF


#: Bytes taken by each integer layout that arrays are made of.
WIDTHS = {"b": 1, "h": 2, "H": 2, "i": 4, "q": 8}


@dataclass(frozen=True, slots=True)
class Primitive:
    """One wire type: `layout` is its `struct` character when its width is fixed, `default` Kafka's implicit default."""

    name: str
    layout: str | None
    default: Any

    def __repr__(self) -> str:
        return self.name


int8 = Primitive("int8", "b", 0)
int16 = Primitive("int16", "h", 0)
int32 = Primitive("int32", "i", 0)
int64 = Primitive("int64", "q", 0)
uint16 = Primitive("uint16", "H", 0)
float64 = Primitive("float64", "d", 0.0)
boolean = Primitive("boolean", "?", False)
uuid = Primitive("uuid", "16s", ZERO_UUID)
string = Primitive("string", None, "")
#: Any bytes-like object when encoding, a memoryview of the decoded buffer when decoding.
bytes_ = Primitive("bytes", None, b"")
#: Record batches; on the wire the same as nullable bytes, but `response_framer` never copies a large one.
records = Primitive("records", None, None)


@dataclass(frozen=True, slots=True)
class Array:
    """A list whose elements are of a primitive type or of a struct."""

    element: Any

    def __repr__(self) -> str:
        return f"array({getattr(self.element, '__name__', self.element)})"


def array(element: Any) -> Array:
    return Array(element)


@lru_cache(maxsize=4096)
def uuid_from_bytes(raw: bytes) -> UUID:
    """Return the UUID; cached because a fetch names the same few topics again and again and a UUID is slow to build."""
    return UUID(bytes=raw)


def read_uvarint(data: Any, at: int) -> tuple[int, int]:
    """Return (value, position after it); at most five bytes and at most 32 bits."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
        shift += 7
        if shift > 28:
            raise ProtocolError("a varint is longer than five bytes")
    if value > _UVARINT_MAX:
        raise ProtocolError("a varint is larger than 32 bits")
    return value, at


def _uvarint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


SHORT_UVARINTS = tuple(_uvarint(value) for value in range(1 << 14))


def uvarint(value: int) -> bytes:
    """Encode an unsigned varint: seven bits to a byte, lowest first."""
    return SHORT_UVARINTS[value] if value < 1 << 14 else _uvarint(value)


def read_compact_length(data: Any, at: int, what: str) -> tuple[int, int]:
    """Return (length plus one, position after it) of something that may not be null."""
    length, at = read_uvarint(data, at)
    if length == 0:
        raise ProtocolError(f"{what} is null")
    return length, at


def refuse_length(length: int, what: str) -> None:
    raise ProtocolError(f"{what} has length {length}")


def refuse_count(count: int, what: str) -> None:
    raise ProtocolError(f"{what} announces {count} elements, more than the rest of the message can hold")


def refuse_entries(entries_max: int) -> None:
    raise ProtocolError(f"its arrays have more than {entries_max} elements together; ask for less at once")


def refuse_size(at: int, size: int) -> None:
    raise ProtocolError(f"the fields need {at} bytes, the message has {size}")


def refuse_tag_size(tag: int, size: int) -> None:
    raise ProtocolError(f"tagged field {tag} does not fill its {size} bytes")


def refuse_absent(field: str) -> None:
    raise ProtocolError(f"{field} has a value but does not exist in this version")


@lru_cache(maxsize=256)
def _integers_layout(count: int, code: str) -> Layout:
    return Layout(f">{count}{code}")


def read_integers(data: Any, at: int, count: int, code: str, what: str) -> tuple[list[int], int]:
    """Return (the integers, position after them)."""
    width = WIDTHS[code]
    if count * width > len(data) - at:
        refuse_count(count, what)
    return list(_integers_layout(count, code).unpack_from(data, at)), at + count * width


def write_integers(values: list[int], code: str) -> bytes:
    return _integers_layout(len(values), code).pack(*values)


def read_tag_count(data: Any, at: int) -> tuple[int, int]:
    """Return (number of tagged fields that follow, position after it)."""
    count, at = read_uvarint(data, at)
    if count > TAGGED_FIELDS_MAX:
        raise ProtocolError(f"a section announces {count} tagged fields")
    return count, at


def skip_tagged_fields(data: Any, at: int) -> int:
    """Return the position after a section of tagged fields none of which is known."""
    count, at = read_tag_count(data, at)
    for _ in range(count):
        _tag, at = read_uvarint(data, at)
        size, at = read_uvarint(data, at)
        at += size
    return at


def tagged_field(tag: int, parts: list[Buffer]) -> bytes:
    body = b"".join(parts)
    return uvarint(tag) + uvarint(len(body)) + body

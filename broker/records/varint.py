"""Zigzag variable-length integers, as the fields of a record are written.

Small absolute values are short: 7 bits a byte, low bits first, the highest bit says that more follows, and the sign is
the lowest bit. A 64-bit value takes at most ten bytes; anything longer is refused instead of being read for ever.
"""

from broker.common.errors import ApiError, ErrorCode

_SHIFT_MAX = 63


def append_varint(out: bytearray, value: int) -> None:
    rest = (value << 1) ^ (value >> 63)
    while rest > 0x7F:
        out.append(rest & 0x7F | 0x80)
        rest >>= 7
    out.append(rest)


def _encoded(value: int) -> bytes:
    out = bytearray()
    append_varint(out, value)
    return bytes(out)


SHORT_MAX = 1_024
#: Of 0 to SHORT_MAX, exclusive, and last, at index -1, of -1: nearly all there are.
SHORT = (*map(_encoded, range(SHORT_MAX)), _encoded(-1))


def varint(value: int) -> bytes:
    return SHORT[value] if -1 <= value < SHORT_MAX else _encoded(value)


def read_varint(buffer: bytes | bytearray | memoryview, at: int) -> tuple[int, int]:
    """Return (value, position after it). Raises IndexError past the end of `buffer`, ApiError(CORRUPT_MESSAGE) if
    endless.
    """
    byte = buffer[at]
    at += 1
    raw = byte & 0x7F
    shift = 7
    while byte & 0x80:
        if shift > _SHIFT_MAX:
            raise ApiError(ErrorCode.CORRUPT_MESSAGE, "a variable-length integer is longer than ten bytes")
        byte = buffer[at]
        at += 1
        raw |= (byte & 0x7F) << shift
        shift += 7
    return (raw >> 1) ^ -(raw & 1), at

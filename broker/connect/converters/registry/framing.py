"""Confluent's wire format: a byte 0, the schema's id in four bytes, then the value. Pure."""

from broker.connect.api import DataError

_MAGIC = b"\0"
HEAD_BYTES = 5


def head(schema_id: int) -> bytes:
    return _MAGIC + schema_id.to_bytes(4)


def split(data: bytes) -> tuple[int, bytes]:
    """Return the id, and what follows it. Raises DataError."""
    if len(data) < HEAD_BYTES:
        raise DataError(
            f"Not written with a schema registry: {len(data)} bytes, the magic byte and an id are {HEAD_BYTES}"
        )
    if data[:1] != _MAGIC:
        raise DataError(
            f"Unknown magic byte! It is {data[0]}, not 0: the record was not written with a schema registry"
        )
    return int.from_bytes(data[1:HEAD_BYTES]), data[HEAD_BYTES:]


def index_bytes(path: tuple[int, ...]) -> bytes:
    """Encode the message indexes of a Protobuf file as zigzag numbers, outermost first; the first message is the single
    byte 0.
    """
    if path == (0,):
        return b"\0"
    return b"".join(map(_varint, (len(path), *path)))


def split_indexes(data: bytes) -> tuple[tuple[int, ...], bytes]:
    """Raises DataError."""
    count, at = _read_varint(data, 0)
    if count == 0:
        return (0,), data[at:]
    if not 0 < count <= _DEPTH_MAX:
        raise DataError(f"Invalid Protobuf message indexes: {count} of them")
    path = []
    for _ in range(count):
        index, at = _read_varint(data, at)
        path.append(index)
    return tuple(path), data[at:]


_DEPTH_MAX = 100


def _varint(value: int) -> bytes:
    left, encoded = value << 1, bytearray()
    while left > 0x7F:
        encoded.append(left & 0x7F | 0x80)
        left >>= 7
    return bytes([*encoded, left])


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 35, 7):
        if at >= len(data):
            break
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value >> 1 ^ -(value & 1), at
    raise DataError("Invalid Protobuf message indexes")

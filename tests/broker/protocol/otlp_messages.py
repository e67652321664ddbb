"""MetricsData of OpenTelemetry as clients encode it: sums and gauges, field by field."""

import struct

GAUGE, SUM = 5, 7
DELTA, CUMULATIVE = 1, 2


def varint(value: int) -> bytes:
    parts = bytearray()
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*parts, value])


def field(number: int, payload: bytes) -> bytes:
    """Return a field of bytes: a text or a nested message."""
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def attribute(key: str, value: str) -> bytes:
    return field(7, field(1, key.encode()) + field(2, field(1, value.encode())))


def point(value: float, **attributes: str) -> bytes:
    """Return a data point: a float is a double, an int a fixed 64-bit integer; with a start time, which is skipped."""
    number = varint(4 << 3 | 1) + struct.pack("<d", value)
    if isinstance(value, int):
        number = varint(6 << 3 | 1) + struct.pack("<q", value)
    named = b"".join(attribute(key, text) for key, text in attributes.items())
    return field(1, varint(2 << 3 | 1) + struct.pack("<Q", 17) + number + named)


def metric(name: str, *points: bytes, kind: int = GAUGE, temporality: int = DELTA) -> bytes:
    body = b"".join(points) + (varint(2 << 3) + varint(temporality) if kind == SUM else b"")
    return field(2, field(1, name.encode()) + field(kind, body))


def metrics_data(*metrics: bytes) -> bytes:
    """Return the message: one resource with one scope."""
    resource = field(1, attribute("client_rack", "r"))
    scope = field(1, field(1, b"scope"))
    return field(1, resource + field(2, scope + b"".join(metrics)))

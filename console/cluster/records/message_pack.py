"""MessagePack as JSON, for bytes that are no text. Pure.

The format has no mark of its own: only one whole map or array, with nothing after it, is taken for it.
"""

import json

import msgpack

#: A parsed document holds some fifty times its bytes; what is longer stays hex.
PACKED_BYTES_MAX = 256 * 1024


def as_json(data: bytes) -> str | None:
    """Return the document as JSON, bytes in it as hex; None for what is no map or array, too long, or has no JSON."""
    if len(data) > PACKED_BYTES_MAX:
        return None
    try:
        value = msgpack.unpackb(data, strict_map_key=True)
        if not value or not isinstance(value, dict | list):
            return None
        return json.dumps(value, ensure_ascii=False, allow_nan=False, default=_written)
    except (ValueError, TypeError, RecursionError, OverflowError, msgpack.UnpackException):
        return None


def _written(value: object) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)

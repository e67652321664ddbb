"""The JSON objects that znodes hold."""

import json
from typing import Any

from broker.zookeeper.errors import MalformedZnode


def encode_fields(fields: dict[str, Any]) -> bytes:
    return json.dumps(fields, separators=(",", ":"), ensure_ascii=False).encode()


def decode_fields(path: str, data: bytes) -> dict[str, Any]:
    """Raises MalformedZnode, naming `path`, when it is no JSON object."""
    try:
        fields = json.loads(data)
    except ValueError as error:
        raise MalformedZnode(f"{path} is not JSON: {error}") from error
    if not isinstance(fields, dict):
        raise MalformedZnode(f"{path} is not a JSON object")
    return fields

"""org.apache.kafka.connect.storage.SimpleHeaderConverter: values as texts; what is read is what the text looks like."""

import json
import re
from typing import Any

from broker.connect.api import DataError, HeaderConverter, Schema, Type
from broker.connect.api import schema as types
from broker.connect.converters.plain import text_of

_INTEGER = re.compile(r"[+-]?\d{1,19}")
_DECIMAL = re.compile(r"[+-]?\d{1,30}\.\d{1,30}(?:[eE][+-]?\d{1,3})?")
_WORDS = {"true": (types.BOOLEAN, True), "false": (types.BOOLEAN, False)}


class SimpleHeaderConverter(HeaderConverter):
    def from_connect_header(self, topic: str, key: str, schema: Schema | None, value: Any) -> bytes | None:
        if value is None:
            return None
        try:
            return text_of(value).encode()
        except UnicodeError as error:
            raise DataError(f"Header {key} is no text: {error}") from None

    def to_connect_header(self, topic: str, key: str, data: bytes | None) -> tuple[Schema | None, Any]:
        """Whole numbers get the smallest type that holds them; objects and arrays of JSON have no schema."""
        if data is None:
            return None, None
        try:
            text = data.decode()
        except UnicodeError:
            return types.BYTES, data
        if text in _WORDS:
            return _WORDS[text]
        if _INTEGER.fullmatch(text):
            return _integer(text)
        if _DECIMAL.fullmatch(text):
            return types.FLOAT64, float(text)
        if text[:1] in ("{", "["):
            try:
                return None, json.loads(text)
            except (ValueError, RecursionError):
                return types.STRING, text
        return types.STRING, text


def _integer(text: str) -> tuple[Schema, Any]:
    value = int(text)
    for bits, kind in ((8, Type.INT8), (16, Type.INT16), (32, Type.INT32), (64, Type.INT64)):
        if -(1 << bits - 1) <= value < 1 << bits - 1:
            return Schema(kind), value
    return types.STRING, text

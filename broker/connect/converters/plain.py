"""Texts, bytes and single numbers, as Java's serializers of the same names write them."""

import codecs
import json
import struct
from collections.abc import Sequence
from typing import Any, ClassVar

from broker.connect.api import ConfigDef, ConfigError, ConfigKey, Converter, DataError, Header, Importance, Schema, Type
from broker.connect.api import schema as types
from broker.connect.api.plugin import Props
from broker.connect.api.schema import validate_value
from broker.connect.converters.json_values import schemaless_to_json


def _encoding(name: str, value: str) -> None:
    try:
        codecs.lookup(value)
    except LookupError:
        raise ConfigError(name, f"Invalid value {value} for configuration {name}: no such encoding") from None


class StringConverter(Converter):
    """Any value as its text; what is read is a text."""

    CONFIG = ConfigDef(
        ConfigKey(
            "converter.encoding",
            default="UTF-8",
            importance=Importance.HIGH,
            documentation="The name of the character set to use for encoding strings as byte arrays.",
            validator=_encoding,
        )
    )

    def __init__(self) -> None:
        self._name = "UTF-8"

    def configure(self, props: Props, is_key: bool) -> None:
        self._name = self.CONFIG.parse(props)["converter.encoding"]

    def from_connect(self, topic: str, headers: Sequence[Header], schema: Schema | None, value: Any) -> bytes | None:
        if value is None:
            return None
        try:
            return text_of(value).encode(self._name)
        except UnicodeError as error:
            raise DataError(f"Failed to serialize to a string: {error}") from None

    def to_connect(self, topic: str, headers: Sequence[Header], data: bytes | None) -> tuple[Schema | None, Any]:
        if data is None:
            return types.OPTIONAL_STRING, None
        try:
            return types.OPTIONAL_STRING, data.decode(self._name)
        except UnicodeError as error:
            raise DataError(f"Failed to deserialize string: {error}") from None


def text_of(value: Any) -> str:
    """A text as it is, true and false as Java writes them, anything with parts as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict | list | tuple | types.Struct | bytes | bytearray | memoryview):
        made = schemaless_to_json(value)
        return made if isinstance(made, str) else json.dumps(made, ensure_ascii=False, separators=(",", ":"))
    return str(value)


class ByteArrayConverter(Converter):
    """Bytes as they are."""

    def from_connect(self, topic: str, headers: Sequence[Header], schema: Schema | None, value: Any) -> bytes | None:
        if schema is not None and schema.type is not Type.BYTES:
            raise DataError(f"Invalid schema type for ByteArrayConverter: {schema.type}")
        if value is not None and not isinstance(value, bytes | bytearray | memoryview):
            raise DataError(f"ByteArrayConverter is not compatible with objects of type {type(value).__name__}")
        return None if value is None else bytes(value)

    def to_connect(self, topic: str, headers: Sequence[Header], data: bytes | None) -> tuple[Schema | None, Any]:
        return types.OPTIONAL_BYTES, data


class _NumberConverter(Converter):
    """One number or truth value in Java's byte order."""

    LAYOUT: ClassVar[struct.Struct]
    TYPE: ClassVar[Type]

    def from_connect(self, topic: str, headers: Sequence[Header], schema: Schema | None, value: Any) -> bytes | None:
        if value is None:
            return None
        validate_value(Schema(self.TYPE), value)
        try:
            return self.LAYOUT.pack(value)
        except (struct.error, OverflowError) as error:
            raise DataError(f"Failed to serialize to {self.TYPE}: {error}") from None

    def to_connect(self, topic: str, headers: Sequence[Header], data: bytes | None) -> tuple[Schema | None, Any]:
        schema = Schema(self.TYPE, optional=True)
        if data is None:
            return schema, None
        if len(data) != self.LAYOUT.size:
            raise DataError(f"Size of data received by {type(self).__name__} is not {self.LAYOUT.size}")
        return schema, self.LAYOUT.unpack(data)[0]


class BooleanConverter(_NumberConverter):
    LAYOUT, TYPE = struct.Struct(">?"), Type.BOOLEAN


class ShortConverter(_NumberConverter):
    LAYOUT, TYPE = struct.Struct(">h"), Type.INT16


class IntegerConverter(_NumberConverter):
    LAYOUT, TYPE = struct.Struct(">i"), Type.INT32


class LongConverter(_NumberConverter):
    LAYOUT, TYPE = struct.Struct(">q"), Type.INT64


class FloatConverter(_NumberConverter):
    LAYOUT, TYPE = struct.Struct(">f"), Type.FLOAT32


class DoubleConverter(_NumberConverter):
    LAYOUT, TYPE = struct.Struct(">d"), Type.FLOAT64

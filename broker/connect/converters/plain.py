"""Texts, bytes and single numbers, as Java's serializers of the same names write them."""

import codecs
import struct
from collections.abc import Sequence
from datetime import date, time
from typing import Any, ClassVar

from broker.connect.api import (
    ConfigDef,
    ConfigError,
    ConfigKey,
    DataError,
    Header,
    Importance,
    Schema,
    Type,
    ValueAndHeaderConverter,
)
from broker.connect.api import schema as types
from broker.connect.api.config import Width
from broker.connect.api.plugin import Props
from broker.connect.api.schema import validate_value
from broker.connect.converters.json_text import dump
from broker.connect.converters.json_values import schemaless_to_json
from broker.connect.converters.value_texts import primitive_text, util_date_text


def _encoding(name: str, value: str) -> None:
    try:
        codecs.lookup(value)
    except LookupError:
        raise ConfigError(name, f"Invalid value {value} for configuration {name}: no such encoding") from None


class StringConverter(ValueAndHeaderConverter):
    """Any value as its text; what is read is a text."""

    CONFIG = ConfigDef(
        ConfigKey(
            "converter.encoding",
            default="UTF-8",
            importance=Importance.HIGH,
            documentation="The name of the character set to use for encoding strings as byte arrays.",
            validator=_encoding,
            width=Width.MEDIUM,
            display_name="Encoding",
        )
    )

    def __init__(self) -> None:
        self._name = "UTF-8"

    def configure(self, props: Props, is_key: bool = False) -> None:
        self._name = self.CONFIG.parse(props)["converter.encoding"]

    def from_connect(self, topic: str, headers: Sequence[Header], schema: Schema | None, value: Any) -> bytes | None:
        if value is None:
            return None
        try:
            return text_of(value, schema).encode(self._name)
        except UnicodeError as error:
            raise DataError(f"Failed to serialize to a string: {error}") from None

    def to_connect(self, topic: str, headers: Sequence[Header], data: bytes | None) -> tuple[Schema | None, Any]:
        if data is None:
            return types.OPTIONAL_STRING, None
        try:
            return types.OPTIONAL_STRING, data.decode(self._name)
        except UnicodeError as error:
            raise DataError(f"Failed to deserialize string: {error}") from None


def text_of(value: Any, schema: Schema | None = None) -> str:
    """Return a text as it is, numbers and times as Java writes them, containers as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict | list | tuple | types.Struct | bytes | bytearray | memoryview):
        made = schemaless_to_json(value)
        return made if isinstance(made, str) else dump(made, False).decode()
    if isinstance(value, date | time):
        return util_date_text(value)
    return primitive_text(value, schema)


class ByteArrayConverter(ValueAndHeaderConverter):
    """Bytes as they are."""

    def from_connect(self, topic: str, headers: Sequence[Header], schema: Schema | None, value: Any) -> bytes | None:
        if schema is not None and schema.type is not Type.BYTES:
            raise DataError(f"Invalid schema type for ByteArrayConverter: {schema.type}")
        if value is not None and not isinstance(value, bytes | bytearray | memoryview):
            raise DataError(f"ByteArrayConverter is not compatible with objects of type {type(value).__name__}")
        return None if value is None else bytes(value)

    def to_connect(self, topic: str, headers: Sequence[Header], data: bytes | None) -> tuple[Schema | None, Any]:
        return types.OPTIONAL_BYTES, data


class _NumberConverter(ValueAndHeaderConverter):
    """One number or truth value in Java's byte order."""

    LAYOUT: ClassVar[struct.Struct]
    TYPE: ClassVar[Type]

    def from_connect(self, topic: str, headers: Sequence[Header], schema: Schema | None, value: Any) -> bytes | None:
        if value is None:
            return None
        validate_value(Schema(self.TYPE), value)
        if schema is not None and schema.type is not self.TYPE:
            raise DataError(f"A value of {schema.type} is none of {self.TYPE}")
        if self.TYPE in (Type.FLOAT32, Type.FLOAT64) and not isinstance(value, float):
            raise DataError(f"A whole number is none of {self.TYPE}")
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

    def from_connect(self, topic: str, headers: Sequence[Header], schema: Schema | None, value: Any) -> bytes | None:
        """Serialize a value; a null of another type is refused as well, as by Kafka's."""
        if schema is not None and schema.type is not Type.BOOLEAN:
            raise DataError(f"Invalid schema type for BooleanConverter: {schema.type}")
        return super().from_connect(topic, headers, schema, value)

    def to_connect(self, topic: str, headers: Sequence[Header], data: bytes | None) -> tuple[Schema | None, Any]:
        if data is not None and data not in (b"\0", b"\1"):
            raise DataError(f"Unexpected bytes received by BooleanConverter: {data[:8].hex()}")
        return super().to_connect(topic, headers, data)


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

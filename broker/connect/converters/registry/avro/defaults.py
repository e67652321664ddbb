"""Defaults of a schema as Avro writes them in JSON: bytes are texts of one character each. Pure."""

import math
from collections.abc import Callable
from typing import Any

from broker.connect.api import DataError, Schema, Struct, Type
from broker.connect.api.schema import validate_value
from broker.connect.converters.logical import from_primitive, to_primitive


def default_to_json(schema: Schema, value: Any, rename: Callable[[str], str] = str) -> Any:
    """Return the document, its fields called as `rename` says. Raises DataError for what JSON has no word for."""
    if value is None:
        return None
    inner = schema.value_schema
    if schema.type is Type.STRUCT:
        return {rename(field.name): default_to_json(field.schema, value[field.name], rename) for field in schema.fields}
    if schema.type is Type.ARRAY and inner:
        return [default_to_json(inner, item, rename) for item in value]
    if schema.type is Type.MAP and inner and schema.key_schema:
        keys = schema.key_schema
        pairs = [
            (default_to_json(keys, key, rename), default_to_json(inner, item, rename)) for key, item in value.items()
        ]
        return dict(pairs) if has_text_keys(schema) else [{"key": key, "value": pair} for key, pair in pairs]
    value = to_primitive(schema, value)
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).decode("latin-1")
    if isinstance(value, float) and not math.isfinite(value):
        raise DataError(f"A default in Avro cannot be {value}")
    return value


def default_from_json(schema: Schema, document: Any) -> Any:
    """Convert a default from JSON to Connect's value. Raises DataError."""
    if document is None:
        return None
    try:
        value = _value(schema, document)
    except (TypeError, ValueError, KeyError, AttributeError, UnicodeError) as error:
        raise DataError(f"Invalid default of {schema.type}: {error!r}") from None
    validate_value(schema, value, "default")
    return value


def _value(schema: Schema, value: Any) -> Any:
    inner = schema.value_schema
    if schema.type is Type.STRUCT:
        return Struct(
            schema, {field.name: default_from_json(field.schema, value.get(field.name)) for field in schema.fields}
        )
    if schema.type is Type.ARRAY and inner:
        return [default_from_json(inner, item) for item in value]
    if schema.type is Type.MAP and inner and schema.key_schema:
        pairs = value.items() if has_text_keys(schema) else [(config["key"], config["value"]) for config in value]
        return {default_from_json(schema.key_schema, key): default_from_json(inner, pair) for key, pair in pairs}
    if schema.type is Type.BYTES:
        value = value.encode("latin-1")
    elif schema.type in (Type.FLOAT32, Type.FLOAT64) and not isinstance(value, bool):
        value = float(value)
    return from_primitive(schema, value)


def has_text_keys(schema: Schema) -> bool:
    """Return whether keys are texts and never null, as Avro's maps need; other maps become arrays of entries."""
    return schema.key_schema is not None and schema.key_schema.type is Type.STRING and not schema.key_schema.optional

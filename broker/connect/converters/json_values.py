"""Values as JSON's, by their schema: what stands in `payload` of JsonConverter's envelope."""

import base64
import math
from collections.abc import Mapping
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

from broker.common.java.base64 import decode_jackson
from broker.common.java.numbers import (
    decimal_of_number,
    decimal_text,
    double_of,
    double_text,
    float_text,
    integer_of,
    to_float32,
)
from broker.connect.api import DataError, Schema, Struct, Type
from broker.connect.api.schema import BITS, DECIMAL, is_logical, validate_value
from broker.connect.converters.json_schema_form import DEPTH_MAX
from broker.connect.converters.json_text import java_number
from broker.connect.converters.logical import (
    decimal_of,
    from_primitive,
    scale_of,
    timestamp_to_ms,
    to_primitive,
    unscaled,
)

_DIGITS_OF_INT64 = 19
_FLOATS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_NAME_OF_FLOAT = {math.inf: "Infinity", -math.inf: "-Infinity"}


class JsonValues:
    """`numeric_decimals`: decimal.format=NUMERIC. `replace_null`: replace.null.with.default."""

    def __init__(self, numeric_decimals: bool = False, replace_null: bool = True):
        self._numeric_decimals = numeric_decimals
        self._replace_null = replace_null

    def to_json(self, schema: Schema, value: Any) -> Any:
        """Raises DataError if the value does not fit its schema."""
        if value is None:
            if schema.default is not None and self._replace_null:
                return self.to_json(schema, schema.default)
            if not schema.optional and schema.default is None:
                raise DataError("Conversion error: null value for field that is required and has no default value")
            return None
        match schema.type:
            case Type.STRUCT:
                return self._struct_to_json(schema, value)
            case Type.ARRAY:
                return [self.to_json(_inner(schema), item) for item in _of(value, (list, tuple), schema)]
            case Type.MAP:
                return self._map_to_json(schema, _of(value, (dict,), schema))
        if schema.name == DECIMAL and self._numeric_decimals:
            return decimal_of(unscaled(value, scale_of(schema)), scale_of(schema))
        validate_value(schema, value)
        if isinstance(value, float):
            return _float_to_json(value, schema.type is Type.FLOAT32)
        return _primitive_to_json(to_primitive(schema, value))

    def _struct_to_json(self, schema: Schema, value: Any) -> dict[str, Any]:
        if not isinstance(value, Struct) or (value.schema is not schema and value.schema != schema):
            raise DataError("Mismatching schema.")
        return {field.name: self.to_json(field.schema, value.without_default(field.name)) for field in schema.fields}

    def _map_to_json(self, schema: Schema, value: dict[Any, Any]) -> Any:
        keys, values = _keys(schema), _inner(schema)
        pairs = [(self.to_json(keys, key), self.to_json(values, item)) for key, item in value.items()]
        return dict(pairs) if is_object(schema) else [list(pair) for pair in pairs]

    def from_json(self, schema: Schema, value: Any) -> Any:
        """Convert a JSON value to Connect's; numbers with a point may be Decimal. Raises DataError."""
        if value is None:
            if schema.default is not None and self._replace_null:
                return schema.default
            if not schema.optional and schema.default is None:
                raise DataError(f"Invalid null value for required {schema.type} field")
            return None
        match schema.type:
            case Type.STRUCT:
                members = _of(value, (dict,), schema)
                return Struct(
                    schema,
                    {field.name: self.from_json(field.schema, members.get(field.name)) for field in schema.fields},
                )
            case Type.ARRAY:
                return [self.from_json(_inner(schema), item) for item in _of(value, (list,), schema)]
            case Type.MAP:
                return self._map_from_json(schema, value)
        return self._primitive_from_json(schema, value)

    def _map_from_json(self, schema: Schema, value: Any) -> dict[Any, Any]:
        keys, values = _keys(schema), _inner(schema)
        if is_object(schema):
            pairs = list(_of(value, (dict,), schema).items())
        else:
            pairs = _of(value, (list,), schema)
            if not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
                raise DataError("Found invalid map entry: each must be an array of two elements")
        try:
            return {self.from_json(keys, key): self.from_json(values, pair) for key, pair in pairs}
        except TypeError:
            raise DataError("A map whose keys cannot be compared") from None

    @staticmethod
    def _primitive_from_json(schema: Schema, value: Any) -> Any:
        if schema.name == DECIMAL and isinstance(value, int | float | Decimal) and not isinstance(value, bool):
            scale = scale_of(schema)
            return decimal_of(unscaled(decimal_of_number(value), scale), scale)
        if schema.type is Type.BYTES:
            value = _from_base64(value)
        elif schema.type in (Type.FLOAT32, Type.FLOAT64):
            value = _to_float(value)
            value = to_float32(value) if schema.type is Type.FLOAT32 else value
        elif schema.type in BITS and isinstance(value, bool | float | Decimal):
            if is_logical(schema):
                raise DataError(f"Invalid type for {schema.name}: no whole number")
            value = _to_whole(value)
        value = from_primitive(schema, value)
        validate_value(schema, value)
        return value


def schemaless_to_json(value: Any, depth: int = 0) -> Any:
    """Convert a value without schema to JSON; bytes as Base64, dates as Connect's numbers. Raises DataError."""
    if depth > DEPTH_MAX:
        raise DataError(f"A value of more than {DEPTH_MAX} levels")
    if isinstance(value, Mapping):
        pairs = [(key, schemaless_to_json(item, depth + 1)) for key, item in value.items()]
        if all(isinstance(key, str) for key, _ in pairs):
            return dict(pairs)
        return [[schemaless_to_json(key, depth + 1), pair] for key, pair in pairs]
    if isinstance(value, list | tuple):
        return [schemaless_to_json(item, depth + 1) for item in value]
    if isinstance(value, datetime):
        return timestamp_to_ms(value)
    if isinstance(value, date | time | Decimal):
        return decimal_text(value) if isinstance(value, Decimal) else value.isoformat()
    return _primitive_to_json(value)


def _primitive_to_json(value: Any) -> Any:
    if isinstance(value, float):
        return _float_to_json(value, is_single=False)
    if isinstance(value, bytes | bytearray | memoryview):
        return base64.b64encode(value).decode()
    if value is None or isinstance(value, str | int | float):
        return value
    raise DataError(f"Couldn't convert {type(value).__name__} to JSON.")


def _float_to_json(value: float, is_single: bool) -> Any:
    """Write a number with Java's digits; NaN and infinities as Java's names. Python and Java write most doubles
    alike.
    """
    if not math.isfinite(value):
        return _NAME_OF_FLOAT.get(value, "NaN")
    if is_single:
        return java_number(float_text(value))
    return value if 1e-3 <= abs(value) < 1e7 or value == 0 else java_number(double_text(value))


def has_decimals(schema: Schema) -> bool:
    """Return whether a value of the schema may hold a decimal."""
    inner = [field.schema for field in schema.fields]
    parts = [*inner, *(part for part in (schema.key_schema, schema.value_schema) if part is not None)]
    return schema.name == DECIMAL or any(map(has_decimals, parts))


def _of(value: Any, kinds: tuple[type, ...], schema: Schema) -> Any:
    if not isinstance(value, kinds):
        raise DataError(f"Invalid type for {schema.type}: {type(value).__name__}")
    return value


def _inner(schema: Schema) -> Schema:
    if schema.value_schema is None:
        raise DataError(f"A schema of type {schema.type} without the schema of its elements")
    return schema.value_schema


def _keys(schema: Schema) -> Schema:
    if schema.key_schema is None:
        raise DataError(f"A schema of type {schema.type} without the schema of its keys")
    return schema.key_schema


def is_object(schema: Schema) -> bool:
    """Return whether a map becomes a JSON object: its keys are texts and never null."""
    keys = schema.key_schema
    return keys is not None and keys.type is Type.STRING and not keys.optional


def _from_base64(value: Any) -> bytes:
    try:
        return decode_jackson(value)
    except (ValueError, TypeError):
        raise DataError("Invalid bytes field: not Base64") from None


def _to_whole(value: bool | float | Decimal) -> Any:
    """Return 1 for 1.0; a fraction or boolean stays, and so fails."""
    if isinstance(value, bool):
        return value
    is_short = isinstance(value, float) or abs(value.adjusted()) <= _DIGITS_OF_INT64
    return integer_of(value) if is_short and value == value // 1 else value


def _to_float(value: Any) -> float:
    if isinstance(value, str) and value in _FLOATS:
        return _FLOATS[value]
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise DataError(f"Invalid type for a float: {type(value).__name__}")
    try:
        return double_of(value)
    except OverflowError:
        raise DataError("A number too large for a float") from None

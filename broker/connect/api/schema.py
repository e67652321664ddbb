"""Connect's types. Without a schema (None) a value is Python's dict, list, str, int, float, bool, bytes or None.

A logical type is a schema with a name of Kafka's: its value in Python is a Decimal, date, time or datetime in UTC.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time
from decimal import Decimal
from enum import StrEnum
from functools import cached_property
from typing import Any

from broker.connect.api.errors import DataError

DECIMAL = "org.apache.kafka.connect.data.Decimal"
DATE = "org.apache.kafka.connect.data.Date"
TIME = "org.apache.kafka.connect.data.Time"
TIMESTAMP = "org.apache.kafka.connect.data.Timestamp"
#: Parameter of a DECIMAL schema: digits behind the point, the same for each of its values.
SCALE = "scale"


class Type(StrEnum):
    INT8 = "int8"
    INT16 = "int16"
    INT32 = "int32"
    INT64 = "int64"
    FLOAT32 = "float32"
    FLOAT64 = "float64"
    BOOLEAN = "boolean"
    STRING = "string"
    BYTES = "bytes"
    ARRAY = "array"
    MAP = "map"
    STRUCT = "struct"

    @property
    def is_primitive(self) -> bool:
        return self not in (Type.ARRAY, Type.MAP, Type.STRUCT)


@dataclass(frozen=True)
class Field:
    """A field of a struct; its index is its place in the schema's `fields`."""

    name: str
    schema: "Schema"


@dataclass(frozen=True)
class Schema:
    """The type of a value. ARRAY has `value_schema`, MAP `key_schema` and `value_schema`, STRUCT `fields`."""

    type: Type
    optional: bool = False
    name: str | None = None
    version: int | None = None
    doc: str | None = None
    parameters: Mapping[str, str] = field(default_factory=dict, hash=False)
    default: Any = field(default=None, hash=False)
    fields: tuple[Field, ...] = ()
    key_schema: "Schema | None" = None
    value_schema: "Schema | None" = None

    @cached_property
    def fields_by_name(self) -> dict[str, Field]:
        return {item.name: item for item in self.fields}

    def field(self, name: str) -> Field | None:
        return self.fields_by_name.get(name)


class Struct(Mapping[str, Any]):
    """A value of a STRUCT schema, its fields by name. A field that was never set reads as its default, or None."""

    __slots__ = ("schema", "values_by_name")

    def __init__(self, schema: Schema, values: Mapping[str, Any] | None = None):
        """Raises DataError for a name that is no field of the schema; values are looked at by `validate`."""
        if schema.type is not Type.STRUCT:
            raise DataError(f"Not a struct schema: {schema.type}")
        self.schema = schema
        self.values_by_name = dict(values or {})
        unknown = self.values_by_name.keys() - schema.fields_by_name.keys()
        if unknown:
            raise DataError(f"{min(unknown)} is not a valid field name")

    def __getitem__(self, name: str) -> Any:
        value = self.values_by_name.get(name)
        if value is not None:
            return value
        return self.schema.fields_by_name[name].schema.default

    def without_default(self, name: str) -> Any:
        """Return the value that was set, also None where the schema has a default."""
        return self.values_by_name.get(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.schema.fields_by_name)

    def __len__(self) -> int:
        return len(self.schema.fields)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Struct) and self.schema == other.schema and dict(self) == dict(other)

    __hash__ = None  # type: ignore[assignment]  # as any class that has __eq__ and no __hash__

    def __repr__(self) -> str:
        return f"Struct({dict(self)})"

    def validate(self) -> None:
        """Raises DataError naming the first field whose value does not fit its schema."""
        for item in self.schema.fields:
            validate_value(item.schema, self[item.name], item.name)


BITS = {Type.INT8: 8, Type.INT16: 16, Type.INT32: 32, Type.INT64: 64}
_LOGICAL: dict[str, type] = {DECIMAL: Decimal, DATE: date, TIME: time, TIMESTAMP: datetime}
_PYTHON: dict[Type, tuple[type, ...]] = {
    Type.FLOAT32: (float, int),
    Type.FLOAT64: (float, int),
    Type.BOOLEAN: (bool,),
    Type.STRING: (str,),
    Type.BYTES: (bytes, bytearray, memoryview),
    Type.ARRAY: (list, tuple),
    Type.MAP: (dict,),
    Type.STRUCT: (Struct,),
}


def validate_value(schema: Schema, value: Any, name: str = "value") -> None:
    """Raises DataError unless `value` is one of `schema`, down to the last element."""
    if value is None:
        if not schema.optional and schema.default is None:
            raise DataError(f"Invalid value: null used for required field: {name}, schema type: {schema.type}")
        return
    if not _fits(schema, value):
        raise DataError(f"Invalid value of {name}: {type(value).__name__} does not fit {schema.name or schema.type}")
    if schema.type is Type.ARRAY and schema.value_schema:
        for entry in value:
            validate_value(schema.value_schema, entry, f"{name}[]")
    elif schema.type is Type.MAP and schema.key_schema and schema.value_schema:
        for key, item in value.items():
            validate_value(schema.key_schema, key, f"{name}'s key")
            validate_value(schema.value_schema, item, f"{name}'s value")
    elif schema.type is Type.STRUCT:
        if value.schema is not schema and value.schema != schema:
            raise DataError(f"Struct schemas do not match in {name}")
        value.validate()


def is_logical(schema: Schema) -> bool:
    """Return whether its values in Python are of another type than its own."""
    return schema.name in _LOGICAL


def _fits(schema: Schema, value: Any) -> bool:
    logical = _LOGICAL.get(schema.name or "")
    if logical:
        return isinstance(value, logical) and not (logical is date and isinstance(value, datetime))
    bits = BITS.get(schema.type)
    if bits:
        return isinstance(value, int) and not isinstance(value, bool) and -(1 << bits - 1) <= value < 1 << bits - 1
    if isinstance(value, bool):
        return schema.type is Type.BOOLEAN
    return isinstance(value, _PYTHON[schema.type])


INT8, INT16, INT32, INT64 = (Schema(type_) for type_ in (Type.INT8, Type.INT16, Type.INT32, Type.INT64))
FLOAT32, FLOAT64, BOOLEAN = (Schema(type_) for type_ in (Type.FLOAT32, Type.FLOAT64, Type.BOOLEAN))
STRING, BYTES = (Schema(type_) for type_ in (Type.STRING, Type.BYTES))
OPTIONAL_STRING, OPTIONAL_BYTES = (Schema(type_, optional=True) for type_ in (Type.STRING, Type.BYTES))


def decimal_schema(scale: int, optional: bool = False) -> Schema:
    return Schema(Type.BYTES, optional, DECIMAL, 1, parameters={SCALE: str(scale)})


def date_schema(optional: bool = False) -> Schema:
    return Schema(Type.INT32, optional, DATE, 1)


def time_schema(optional: bool = False) -> Schema:
    return Schema(Type.INT32, optional, TIME, 1)


def timestamp_schema(optional: bool = False) -> Schema:
    return Schema(Type.INT64, optional, TIMESTAMP, 1)

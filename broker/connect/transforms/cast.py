"""Cast: fields, or the whole value, as another primitive type."""

import base64
import dataclasses
import math
from collections.abc import Callable
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

from broker.common.java.numbers import (
    double_of,
    integer_of,
    is_nonzero,
    parse_boolean,
    parse_double,
    parse_float,
    parse_integer,
    to_float32,
    trim,
)
from broker.connect.api import (
    ConfigDef,
    ConfigError,
    ConfigKey,
    ConfigType,
    ConnectRecord,
    DataError,
    Field,
    Importance,
    Schema,
    Struct,
    Type,
)
from broker.connect.api.config import not_empty
from broker.connect.api.plugin import Props
from broker.connect.api.schema import BITS, is_logical, validate_value
from broker.connect.converters.logical import to_primitive
from broker.connect.converters.value_texts import primitive_text, single
from broker.connect.transforms.sides import REPLACE_NULL, Remembered, SideTransform, with_fields

_TARGETS = {number.value: number for number in Type if number.is_primitive and number is not Type.BYTES}


def _spec(name: str, entries: list[str]) -> dict[str | None, Type]:
    """Parse types by field; the whole value's has the name None."""
    made: dict[str | None, Type] = {}
    for entry in entries:
        parts = [trim(part) for part in entry.rstrip(":").split(":")]
        kind = parts[-1].lower()
        if len(parts) > 2 or kind not in _TARGETS:
            raise ConfigError(name, f"Invalid value {entry} for configuration {name}: cannot cast to {kind}")
        made[parts[0] if len(parts) == 2 else None] = _TARGETS[kind]
    if None in made and len(entries) > 1:
        raise ConfigError(name, "Cast transformations of a whole value take one type only")
    return made


def _is_spec(name: str, entries: list[str]) -> None:
    not_empty(name, entries)
    _spec(name, entries)


class CastValue(SideTransform):
    """A number that does not fit its new type is refused where Java would cut its bits off."""

    CONFIG = ConfigDef(
        ConfigKey(
            "spec",
            ConfigType.LIST,
            importance=Importance.HIGH,
            documentation="field:type, or one type for the whole.",
            validator=_is_spec,
        ),
        REPLACE_NULL,
    )

    def configure(self, props: Props) -> None:
        super().configure(props)
        self._spec = _spec("spec", self.values["spec"])
        self._casted = Remembered(self._cast_schema)

    def _cast_schema(self, schema: Schema) -> Schema:
        if None in self._spec:
            named = Schema(schema.type, doc=schema.doc) if is_logical(schema) else schema
            return dataclasses.replace(_as(schema, self._spec[None]), **_basics(named))
        cast = [
            Field(field.name, _as(field.schema, self._spec[field.name]) if field.name in self._spec else field.schema)
            for field in schema.fields
        ]
        return with_fields(schema, cast)

    def change(self, record: ConnectRecord, schema: Schema | None, value: Any) -> tuple[Schema | None, Any]:
        if value is None:
            return schema, None
        if None in self._spec:
            made = schema and self._casted(schema)
            return made, cast_value(value, schema, self._spec[None])
        members = self.members(schema, value, "cast types")
        if schema is None:
            casts = {
                name: cast_value(members.get(name), None, kind) for name, kind in self._spec.items() if name is not None
            }
            return None, {**members, **casts}
        cast = {
            name: cast_value(item, schema.fields_by_name[name].schema, self._spec[name]) if name in self._spec else item
            for name, item in members.items()
        }
        made = self._casted(schema)
        return made, Struct(made, cast)


class CastKey(CastValue):
    SIDE = "key"


def _basics(schema: Schema) -> dict[str, Any]:
    return {"name": schema.name, "version": schema.version, "doc": schema.doc, "parameters": schema.parameters}


def _as(schema: Schema, kind: Type) -> Schema:
    default = None if schema.default is None else cast_value(schema.default, schema, kind)
    return Schema(kind, schema.optional, default=default)


def cast_value(value: Any, schema: Schema | None, kind: Type) -> Any:
    """Cast a value. Raises DataError naming the value that cannot be cast."""
    if value is None:
        return None
    if kind is Type.STRING:
        return _text(value, schema)
    if isinstance(value, datetime | date | time) and schema is not None:
        value = to_primitive(schema, value)
    if not isinstance(value, bool | int | float | str | Decimal):
        raise DataError(f"Unexpected type in Cast transformation: {type(value).__name__}")
    try:
        made = _parsed(value, kind) if isinstance(value, str) else _number(value, kind)
    except (ValueError, OverflowError, ArithmeticError):
        raise DataError(f"Value ({value!s:.100}) was out of range for requested data type {kind}") from None
    validate_value(Schema(kind), made)
    return made if kind is not Type.FLOAT32 or schema is not None else single(made)


def _text(value: Any, schema: Schema | None) -> str:
    if isinstance(value, bytes | bytearray | memoryview):
        return base64.b64encode(value).decode()
    if isinstance(value, datetime | date | time) and schema is None:
        raise DataError(f"Unexpected type in Cast transformation: {type(value).__name__}")
    if not isinstance(value, bool | int | float | str | Decimal | date | time):
        raise DataError(f"Cast transformation does not support casting from {type(value).__name__}")
    return primitive_text(value, schema)


def _number(value: bool | float | Decimal, kind: Type) -> Any:
    match kind:
        case Type.BOOLEAN:
            return is_nonzero(value)
        case Type.FLOAT64:
            return double_of(value)
        case Type.FLOAT32:
            return to_float32(double_of(value))
    if isinstance(value, float) and math.isinf(value):
        raise OverflowError(value)
    return integer_of(value)


_PARSERS: dict[Type, Callable[[str], Any]] = {
    Type.BOOLEAN: parse_boolean,
    Type.FLOAT64: parse_double,
    Type.FLOAT32: parse_float,
}


def _parsed(text: str, kind: Type) -> Any:
    return _PARSERS[kind](text) if kind in _PARSERS else parse_integer(text, BITS[kind])

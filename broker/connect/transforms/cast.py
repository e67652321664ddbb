"""Cast: fields, or the whole value, as another primitive type."""

import dataclasses
import struct
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

from broker.connect.api import (
    ConfigDef,
    ConfigError,
    ConfigKey,
    ConfigType,
    ConnectRecord,
    DataError,
    Field,
    Schema,
    Struct,
    Type,
)
from broker.connect.api.config import not_empty
from broker.connect.api.plugin import Props
from broker.connect.api.schema import validate_value
from broker.connect.converters.logical import to_primitive
from broker.connect.transforms.sides import Remembered, SideTransform, fields_of, with_fields

_TARGETS = {number.value: number for number in Type if number.is_primitive and number is not Type.BYTES}
_WHOLE = ""


def _spec(name: str, entries: list[str]) -> dict[str, Type]:
    made: dict[str, Type] = {}
    for entry in entries:
        field, _, kind = entry.rpartition(":")
        if kind.lower() not in _TARGETS:
            raise ConfigError(name, f"Invalid value {entry} for configuration {name}: cannot cast to {kind}")
        made[field] = _TARGETS[kind.lower()]
    if _WHOLE in made and len(entries) > 1:
        raise ConfigError(name, "Cast transformations of a whole value take one type only")
    return made


def _is_spec(name: str, entries: list[str]) -> None:
    not_empty(name, entries)
    _spec(name, entries)


class CastValue(SideTransform):
    """A number that does not fit its new type is refused where Java would cut its bits off."""

    CONFIG = ConfigDef(
        ConfigKey("spec", ConfigType.LIST, documentation="field:type, or one type for the whole.", validator=_is_spec)
    )

    def configure(self, props: Props) -> None:
        super().configure(props)
        self._spec = _spec("spec", self.values["spec"])
        self._casted = Remembered(self._cast_schema)

    def _cast_schema(self, schema: Schema) -> Schema:
        if _WHOLE in self._spec:
            return _as(schema, self._spec[_WHOLE])
        cast = [
            Field(field.name, _as(field.schema, self._spec[field.name]) if field.name in self._spec else field.schema)
            for field in schema.fields
        ]
        return with_fields(schema, cast)

    def change(self, record: ConnectRecord, schema: Schema | None, value: Any) -> tuple[Schema | None, Any]:
        if value is None:
            return schema, None
        if _WHOLE in self._spec:
            made = schema and self._casted(schema)
            return made, cast_value(value, schema, self._spec[_WHOLE])
        members = fields_of(schema, value, "cast types")
        cast = {
            name: cast_value(item, schema and schema.fields_by_name[name].schema, self._spec[name])
            if name in self._spec
            else item
            for name, item in members.items()
        }
        if schema is None:
            return None, cast
        made = self._casted(schema)
        return made, Struct(made, cast)


class CastKey(CastValue):
    SIDE = "key"


def _as(schema: Schema, kind: Type) -> Schema:
    default = None if schema.default is None else cast_value(schema.default, schema, kind)
    return dataclasses.replace(
        schema, type=kind, name=None, version=None, parameters={}, default=default, fields=(), value_schema=None
    )


def cast_value(value: Any, schema: Schema | None, kind: Type) -> Any:
    """Raises DataError naming what cannot be cast."""
    if value is None:
        return None
    if isinstance(value, datetime | date | time) and schema is not None:
        value = to_primitive(schema, value)
    if not isinstance(value, bool | int | float | str | Decimal):
        raise DataError(f"Unexpected type in Cast transformation: {type(value).__name__}")
    try:
        made = _cast(value, kind)
    except (ValueError, OverflowError, ArithmeticError):
        raise DataError(f"Value ({str(value)[:100]}) was out of range for requested data type {kind}") from None
    validate_value(Schema(kind), made)
    return made


def _cast(value: Any, kind: Type) -> Any:
    match kind:
        case Type.STRING:
            return ("true" if value else "false") if isinstance(value, bool) else str(value)
        case Type.BOOLEAN:
            return value.lower() == "true" if isinstance(value, str) else bool(value)
        case Type.FLOAT64:
            return float(value)
        case Type.FLOAT32:
            return struct.unpack(">f", struct.pack(">f", float(value)))[0]
    return int(value)

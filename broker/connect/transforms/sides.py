"""The key's and the value's variant of a transform, and what it does to maps and structs alike."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from broker.connect.api import (
    ConfigError,
    ConfigKey,
    ConfigType,
    ConnectRecord,
    DataError,
    Field,
    Schema,
    Struct,
    Transformation,
    Type,
)
from broker.connect.api.plugin import Props

#: Schemas a transform remembers the outcome of: each topic has a handful.
SCHEMAS_REMEMBERED_MAX = 64
_REPLACES = "replace.null.with.default"
#: KIP-1040.
REPLACE_NULL = ConfigKey(
    _REPLACES, ConfigType.BOOLEAN, True, documentation="Whether a null of a field that has a default becomes that."
)


class SideTransform(Transformation):
    """`change` gets a schema and a value and returns both; everything else of the record stays."""

    SIDE: ClassVar[str] = "value"

    def configure(self, props: Props) -> None:
        self.values: dict[str, Any] = self.CONFIG.parse(props)

    def change(self, record: ConnectRecord, schema: Schema | None, value: Any) -> tuple[Schema | None, Any]:
        raise NotImplementedError

    def members(self, schema: Schema | None, value: Any, purpose: str) -> Mapping[str, Any]:
        """Return the fields of a map or struct, nulls as their defaults unless the configuration leaves them."""
        members = fields_of(schema, value, purpose)
        if isinstance(members, Struct) and not self.values.get(_REPLACES, True):
            return {name: members.without_default(name) for name in members}
        return members

    def apply(self, record: ConnectRecord) -> ConnectRecord | None:
        schema, value = self.side_of(record)
        return self.with_side(record, *self.change(record, schema, value))

    def side_of(self, record: ConnectRecord) -> tuple[Schema | None, Any]:
        return (record.key_schema, record.key) if self.SIDE == "key" else (record.value_schema, record.value)

    def with_side(self, record: ConnectRecord, schema: Schema | None, value: Any) -> ConnectRecord:
        changed: dict[str, Any] = {self.SIDE: value, f"{self.SIDE}_schema": schema}
        return dataclasses.replace(record, **changed)


class Remembered:
    """What was made of a schema, by the schema's identity: the same object comes with every record of a topic."""

    def __init__(self, make: Callable[[Schema], Schema]):
        self._make = make
        self._made: dict[int, tuple[Schema, Schema]] = {}

    def __call__(self, schema: Schema) -> Schema:
        cached = self._made.get(id(schema))
        if cached is None:
            if len(self._made) >= SCHEMAS_REMEMBERED_MAX:
                self._made.clear()
            cached = self._made[id(schema)] = (schema, self._make(schema))
        return cached[1]


def map_of(value: Any, purpose: str) -> dict[str, Any]:
    """Raises DataError unless it is a map."""
    if not isinstance(value, Mapping) or isinstance(value, Struct):
        raise DataError(f"Only Map objects supported in absence of schema for [{purpose}], found: {_name(value)}")
    return dict(value)


def struct_of(value: Any, purpose: str) -> Struct:
    """Raises DataError unless it is a struct."""
    if not isinstance(value, Struct):
        raise DataError(f"Only Struct objects supported for [{purpose}], found: {_name(value)}")
    return value


def fields_of(schema: Schema | None, value: Any, purpose: str) -> Mapping[str, Any]:
    return map_of(value, purpose) if schema is None else struct_of(value, purpose)


def with_fields(schema: Schema, fields: list[Field]) -> Schema:
    """Return the struct with other fields. Raises DataError if two have one name, or one has none."""
    if not all(field.name for field in fields):
        raise DataError("fieldName cannot be null.")
    if len({field.name for field in fields}) < len(fields):
        raise DataError("Cannot create field because of field name duplication")
    return dataclasses.replace(schema, type=Type.STRUCT, fields=tuple(fields), default=None)


def pairs_of(name: str, entries: list[str]) -> dict[str, str]:
    """Parse `a:b` entries of a list. Raises ConfigError."""
    split = [entry.rstrip(":").split(":") for entry in entries]
    if any(len(items) != 2 for items in split):
        raise ConfigError(name, f"Invalid value for configuration {name}: each entry must be of the form a:b")
    return {items[0]: items[1] for items in split}


def _name(value: Any) -> str:
    return "null" if value is None else type(value).__name__

"""Flatten: nested structs and maps become fields of one, their names joined."""

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from broker.connect.api import ConfigDef, ConfigKey, ConnectRecord, DataError, Field, Schema, Struct, Type
from broker.connect.api.plugin import Props
from broker.connect.transforms.sides import Remembered, SideTransform, map_of, with_fields

_DEPTH_MAX = 100


class FlattenValue(SideTransform):
    CONFIG = ConfigDef(ConfigKey("delimiter", default=".", documentation="Delimiter to insert between names."))

    def configure(self, props: Props) -> None:
        super().configure(props)
        self._flat = Remembered(lambda schema: with_fields(schema, list(self._fields(schema, "", schema.optional))))

    def change(self, record: ConnectRecord, schema: Schema | None, value: Any) -> tuple[Schema | None, Any]:
        if value is None:
            return schema, None
        if schema is None:
            return None, self._unique(list(self._members(map_of(value, "flattening"), "")))
        if schema.type is not Type.STRUCT:
            raise DataError(f"Flatten needs a struct, not {schema.type}")
        flat = self._flat(schema)
        return flat, Struct(flat, dict(self._values(schema, value, "")))

    def _name(self, prefix: str, name: str) -> str:
        return f"{prefix}{self.values['delimiter']}{name}" if prefix else f"{name}"

    def _fields(self, schema: Schema, prefix: str, is_optional: bool) -> Iterator[Field]:
        for field in schema.fields:
            name, optional = self._name(prefix, field.name), is_optional or field.schema.optional
            if field.schema.type is Type.STRUCT:
                yield from self._fields(field.schema, name, optional)
            elif field.schema.type is Type.MAP:
                raise DataError(f"Flatten transformation does not support a map with a schema (field {name})")
            else:
                yield Field(name, dataclasses.replace(field.schema, optional=optional))

    def _values(self, schema: Schema, value: Any, prefix: str) -> Iterator[tuple[str, Any]]:
        for field in schema.fields:
            name, member = self._name(prefix, field.name), None if value is None else value[field.name]
            if field.schema.type is Type.STRUCT:
                yield from self._values(field.schema, member, name)
            else:
                yield name, member

    def _members(self, value: Mapping[str, Any], prefix: str, depth: int = 0) -> Iterator[tuple[str, Any]]:
        if depth > _DEPTH_MAX:
            raise DataError(f"A value of more than {_DEPTH_MAX} levels")
        for key, item in value.items():
            name = self._name(prefix, key)
            if isinstance(item, dict):
                yield from self._members(item, name, depth + 1)
            else:
                yield name, item

    @staticmethod
    def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) < len(pairs):
            raise DataError("Two fields have one name when flattened")
        return made


class FlattenKey(FlattenValue):
    SIDE = "key"

"""A field out of a value, a value into a field, fields of the value as the key."""

import dataclasses
from typing import Any

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
from broker.connect.api.config import OneOf, not_empty
from broker.connect.api.plugin import Props
from broker.connect.transforms.sides import REPLACE_NULL, Remembered, SideTransform, fields_of, map_of, with_fields


class ExtractFieldValue(SideTransform):
    """The field takes the place of the value. V2 follows dots into what is nested; backticks keep a name whole."""

    CONFIG = ConfigDef(
        ConfigKey("field", documentation="Field name to extract."),
        REPLACE_NULL,
        ConfigKey(
            "field.syntax.version",
            default="V1",
            importance=Importance.HIGH,
            documentation="V1 or V2.",
            validator=OneOf("V1", "V2"),
        ),
    )

    def configure(self, props: Props) -> None:
        super().configure(props)
        is_nested = self.values["field.syntax.version"].upper() == "V2"
        self._path = path_of(self.values["field"]) if is_nested else [self.values["field"]]

    def change(self, record: ConnectRecord, schema: Schema | None, value: Any) -> tuple[Schema | None, Any]:
        for at, name in enumerate(self._path):
            if value is not None:
                is_last = at == len(self._path) - 1
                members = (self.members if is_last else fields_of)(schema, value, "field extraction")
                value = members[name] if schema and schema.field(name) else members.get(name)
            if schema is not None:
                if (field := schema.field(name)) is None:
                    raise DataError(f"Unknown field: {self.values['field']}")
                schema = field.schema
        return schema, value


class ExtractFieldKey(ExtractFieldValue):
    SIDE = "key"


def path_of(text: str) -> list[str]:
    """Parse a path of KIP-821 into names: `a.b`, with `` `a.b`.c `` for a name that has a dot."""
    path, at = [], 0
    while at <= len(text):
        if text[at : at + 1] == "`":
            name, at = _quoted(text, at)
            path.append(name)
        else:
            end = text.find(".", at)
            end = len(text) if end < 0 else end
            path.append(text[at:end])
            at = end + 1
    return path


def _quoted(text: str, at: int) -> tuple[str, int]:
    """Return a name between backticks and where the next begins. Only a backtick before a dot or the end closes it,
    unless a backslash stands before that.
    """
    parts: list[str] = []
    begin, end = at + 1, at
    while (end := text.find("`", end + 1)) >= 0:
        is_escaped, is_last = text[end - 1] == "\\", end == len(text) - 1
        if not is_last and text[end + 1] != ".":
            continue
        if not is_escaped:
            return "".join([*parts, text[begin:end]]), end + 2
        if is_last:
            break
        parts += [text[begin : end - 1], "`"]
        begin = end + 1
    raise ConfigError("field", f"Incomplete backtick pair in path: [{text}], a backslash before a backtick escapes it")


class HoistFieldValue(SideTransform):
    CONFIG = ConfigDef(ConfigKey("field", documentation="Field name for the single field that will be created."))

    def configure(self, props: Props) -> None:
        super().configure(props)
        name = self.values["field"]
        self._hoisted = Remembered(lambda schema: with_fields(Schema(Type.STRUCT), [Field(name, schema)]))

    def change(self, record: ConnectRecord, schema: Schema | None, value: Any) -> tuple[Schema | None, Any]:
        if schema is None:
            return None, {self.values["field"]: value}
        hoisted = self._hoisted(schema)
        return hoisted, Struct(hoisted, {self.values["field"]: value})


class HoistFieldKey(HoistFieldValue):
    SIDE = "key"


class ValueToKey(SideTransform):
    CONFIG = ConfigDef(
        ConfigKey(
            "fields",
            ConfigType.LIST,
            importance=Importance.HIGH,
            documentation="Field names on the record value.",
            validator=not_empty,
        ),
        REPLACE_NULL,
    )

    def configure(self, props: Props) -> None:
        super().configure(props)
        self._names: list[str] = self.values["fields"]
        self._key = Remembered(self._key_of)

    def _key_of(self, schema: Schema) -> Schema:
        missing = [name for name in self._names if schema.field(name) is None]
        if missing:
            raise DataError(f"Field does not exist: {missing[0]}")
        return Schema(Type.STRUCT, fields=tuple(schema.fields_by_name[name] for name in self._names))

    def apply(self, record: ConnectRecord) -> ConnectRecord | None:
        members = self.members(record.value_schema, record.value, "copying fields from value to key")
        if record.value_schema is None:
            members = map_of(members, "copying fields from value to key")
            return dataclasses.replace(record, key_schema=None, key={name: members.get(name) for name in self._names})
        schema = self._key(record.value_schema)
        key = Struct(schema, {name: members[name] for name in self._names})
        return dataclasses.replace(record, key_schema=schema, key=key)

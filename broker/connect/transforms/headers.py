"""Headers set, dropped, and taken out of fields."""

import dataclasses
from typing import Any

from broker.connect.api import (
    ConfigDef,
    ConfigError,
    ConfigKey,
    ConfigType,
    ConnectRecord,
    DataError,
    Header,
    Importance,
    Struct,
    Transformation,
)
from broker.connect.api.config import OneOf, not_empty
from broker.connect.api.plugin import Props
from broker.connect.converters.value_texts import parse_string
from broker.connect.transforms.sides import REPLACE_NULL, Remembered, SideTransform, with_fields


class DropHeaders(Transformation):
    CONFIG = ConfigDef(
        ConfigKey(
            "headers",
            ConfigType.LIST,
            importance=Importance.HIGH,
            documentation="Names of the headers to be removed.",
            validator=not_empty,
        )
    )

    def configure(self, props: Props) -> None:
        self._names = set(self.CONFIG.parse(props)["headers"])

    def apply(self, record: ConnectRecord) -> ConnectRecord | None:
        kept = tuple(header for header in record.headers if header.key not in self._names)
        return dataclasses.replace(record, headers=kept)


class InsertHeader(Transformation):
    CONFIG = ConfigDef(
        ConfigKey("header", importance=Importance.HIGH, documentation="The name of the header."),
        ConfigKey(
            "value.literal",
            importance=Importance.HIGH,
            documentation="The literal value of the header, of the type it looks like.",
        ),
    )

    def configure(self, props: Props) -> None:
        values = self.CONFIG.parse(props)
        self._header = Header(values["header"], *parse_string(values["value.literal"]))

    def apply(self, record: ConnectRecord) -> ConnectRecord | None:
        return dataclasses.replace(record, headers=(*record.headers, self._header))


class HeaderFromValue(SideTransform):
    """Moves or copies fields into headers. A field that is not there is a null header, with a schema an error."""

    CONFIG = ConfigDef(
        ConfigKey(
            "fields",
            ConfigType.LIST,
            importance=Importance.HIGH,
            documentation="Names of the fields.",
            validator=not_empty,
        ),
        ConfigKey(
            "headers",
            ConfigType.LIST,
            importance=Importance.HIGH,
            documentation="Names of the headers, in order.",
            validator=not_empty,
        ),
        ConfigKey(
            "operation",
            importance=Importance.HIGH,
            documentation="move or copy.",
            validator=OneOf("move", "copy", is_exact=True),
        ),
        REPLACE_NULL,
    )

    def configure(self, props: Props) -> None:
        super().configure(props)
        if len(self.values["fields"]) != len(self.values["headers"]):
            raise ConfigError("headers", "'fields' config must have the same number of elements as 'headers' config.")
        self._pairs = list(zip(self.values["fields"], self.values["headers"], strict=True))
        self._moves = self.values["operation"] == "move"
        self._gone = frozenset(self.values["fields"])
        self._remaining = Remembered(
            lambda schema: with_fields(schema, [field for field in schema.fields if field.name not in self._gone])
        )

    def apply(self, record: ConnectRecord) -> ConnectRecord | None:
        schema, value = self.side_of(record)
        members = self.members(schema, value, "header from")
        schemas = {name: field.schema for name, field in schema.fields_by_name.items()} if schema else {}
        if schema and (missing := [name for name, _ in self._pairs if name not in schemas]):
            raise DataError(f"Field does not exist: {missing[0]}")
        added = [Header(header, schemas.get(name), members.get(name)) for name, header in self._pairs]
        record = dataclasses.replace(record, headers=(*record.headers, *added))
        return self.with_side(record, *self._without(schema, members)) if self._moves else record

    def _without(self, schema: Any, members: Any) -> tuple[Any, Any]:
        kept = {name: item for name, item in members.items() if name not in self._gone}
        if schema is None:
            return None, kept
        remaining = self._remaining(schema)
        return remaining, Struct(remaining, kept)


class HeaderFromKey(HeaderFromValue):
    SIDE = "key"

"""ExtractNewRecordState of Debezium: the row of a change event, in place of the event."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from broker.connect.api import (
    ConfigDef,
    ConfigError,
    ConfigKey,
    ConfigType,
    ConnectRecord,
    DataError,
    Field,
    Header,
    Schema,
    Struct,
    Transformation,
)
from broker.connect.api import schema as types
from broker.connect.api.config import OneOf
from broker.connect.api.plugin import Props
from broker.connect.transforms.sides import with_fields

_ENVELOPE = ".Envelope"
_DELETED = "__deleted"
_MODES = OneOf("drop", "tombstone", "rewrite", "rewrite-with-tombstone", "delete-to-tombstone")
_OLD_MODES = OneOf("none", "drop", "rewrite")
_OF_EVENT = frozenset({"op", "ts_ms", "ts_us", "ts_ns"})
_OF_TRANSACTION = frozenset({"id", "data_collection_order", "total_order"})


def _is_not_supported(name: str, value: str) -> None:
    if value:
        raise ConfigError(name, f"{name} is not supported: use ReplaceField after this transform")


@dataclass(frozen=True)
class EventField:
    """A field of the event, within `parent` or of the event itself, that is added to the row as `name`."""

    parent: str | None
    field: str
    name: str

    def schema_in(self, schema: Schema) -> Schema | None:
        """Return its schema as an optional one; None where the event has no such field."""
        around = schema if self.parent is None else getattr(schema.field(self.parent), "schema", None)
        field = (around.field(self.field) if around is not None else None) or schema.field(self.field)
        return None if field is None else dataclasses.replace(field.schema, optional=True, default=None)

    def value_in(self, event: Struct) -> Any:
        around = event if self.parent is None else event.values_by_name.get(self.parent)
        if isinstance(around, Struct) and around.schema.field(self.field) is not None:
            return around.without_default(self.field)
        return event.values_by_name.get(self.field)


class ExtractNewRecordState(Transformation):
    """Values that are no change events of Debezium pass as they are."""

    CONFIG = ConfigDef(
        ConfigKey(
            "delete.tombstone.handling.mode",
            default="",
            documentation="What a deletion becomes: a tombstone unless drop, rewrite or rewrite-with-tombstone.",
        ),
        ConfigKey(
            "drop.tombstones", ConfigType.BOOLEAN, None, documentation="In place of the mode: tombstones are left out."
        ),
        ConfigKey(
            "delete.handling.mode",
            default=None,
            documentation="In place of the mode: none is a tombstone, drop nothing, rewrite the row with __deleted.",
            validator=_OLD_MODES,
        ),
        ConfigKey("add.fields", ConfigType.LIST, [], documentation="Fields of the event that the row gets."),
        ConfigKey("add.fields.prefix", default="__", documentation="What their names begin with."),
        ConfigKey("add.headers", ConfigType.LIST, [], documentation="Fields of the event that become headers."),
        ConfigKey("add.headers.prefix", default="__", documentation="What the headers' names begin with."),
        ConfigKey("route.by.field", default="", documentation="The row's field whose text is the new topic."),
        ConfigKey("drop.fields.header.name", default="", documentation="Not supported.", validator=_is_not_supported),
    )

    def configure(self, props: Props) -> None:
        values = self.CONFIG.parse(props)
        self._keeps_tombstones, self._deletion = _handling(values)
        self._fields = [_event_field(text, values["add.fields.prefix"], "add.fields") for text in values["add.fields"]]
        self._headers = [
            _event_field(text, values["add.headers.prefix"], "add.headers") for text in values["add.headers"]
        ]
        self._route = values["route.by.field"]

    def apply(self, record: ConnectRecord) -> ConnectRecord | None:
        if record.value is None:
            deletions = [Header(item.name, types.STRING, "d") for item in self._headers if item.field == "op"]
            return _with_headers(record, deletions) if self._keeps_tombstones else None
        event = record.value
        if not isinstance(event, Struct) or not (event.schema.name or "").endswith(_ENVELOPE):
            return record
        record = _with_headers(record, self._headers_of(event))
        row, is_deletion = event.without_default("after"), event.without_default("after") is None
        if is_deletion:
            if self._deletion == "drop":
                return None
            if self._deletion == "tombstone":
                after = event.schema.field("after")
                return dataclasses.replace(record, value=None, value_schema=after.schema if after else None)
            row = event.without_default("before")
        if not isinstance(row, Struct):
            raise DataError("The change event has no row: neither after nor before is a struct")
        if self._route and isinstance(topic := row.get(self._route), str) and topic:
            record = dataclasses.replace(record, topic=topic)
        value = self._widened(row, event, is_deletion)
        return dataclasses.replace(record, value=value, value_schema=value.schema)

    def _headers_of(self, event: Struct) -> list[Header]:
        wanted = [(item, item.schema_in(event.schema)) for item in self._headers]
        return [Header(item.name, schema, item.value_in(event)) for item, schema in wanted if schema is not None]

    def _widened(self, row: Struct, event: Struct, is_deletion: bool) -> Struct:
        added: list[Field] = []
        values: dict[str, Any] = {}
        for item in self._fields:
            schema = item.schema_in(event.schema)
            if schema is None:
                raise DataError(f"The change event has no field {item.field} for add.fields")
            added.append(Field(item.name, schema))
            values[item.name] = item.value_in(event)
        if self._deletion == "rewrite":
            added.append(Field(_DELETED, types.OPTIONAL_STRING))
            values[_DELETED] = "true" if is_deletion else "false"
        if not added:
            return row
        return Struct(with_fields(row.schema, [*row.schema.fields, *added]), {**row.values_by_name, **values})


def _handling(values: Mapping[str, Any]) -> tuple[bool, str]:
    """Return whether tombstones stay, and what becomes of a deletion: drop, tombstone or rewrite."""
    mode = values["delete.tombstone.handling.mode"].lower()
    if mode:
        _MODES("delete.tombstone.handling.mode", mode)
        deletion = "tombstone" if mode == "delete-to-tombstone" else mode.removesuffix("-with-tombstone")
        return mode == "rewrite-with-tombstone", deletion
    old = values["delete.handling.mode"]
    if old is None and values["drop.tombstones"] is None:
        return False, "tombstone"
    deletion = {"none": "tombstone"}.get((old or "drop").lower(), (old or "drop").lower())
    return values["drop.tombstones"] is False, deletion


def _event_field(text: str, prefix: str, key: str) -> EventField:
    """Parse `field`, `parent.field` or either with `:name`. Raises ConfigError."""
    path, colon, name = text.partition(":")
    parent, dot, field = path.rpartition(".")
    if not field or "." in parent or (colon and not name):
        raise ConfigError(
            key, f"Invalid value {text} for configuration {key}: field, parent.field, or either with :name"
        )
    if dot:
        return EventField(parent, field, prefix + (name or f"{parent}_{field}"))
    known = None if field in _OF_EVENT else "transaction" if field in _OF_TRANSACTION else "source"
    return EventField(known, field, prefix + (name or field))


def _with_headers(record: ConnectRecord, headers: list[Header]) -> ConnectRecord:
    return dataclasses.replace(record, headers=(*record.headers, *headers)) if headers else record

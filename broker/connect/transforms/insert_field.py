"""InsertField: where a record came from, when, and a text, as fields."""

from typing import Any

from broker.connect.api import (
    ConfigDef,
    ConfigError,
    ConfigKey,
    ConnectRecord,
    DataError,
    Field,
    Schema,
    SinkRecord,
    Struct,
)
from broker.connect.api import schema as types
from broker.connect.api.plugin import Props
from broker.connect.converters.logical import ms_to_timestamp
from broker.connect.transforms.sides import REPLACE_NULL, Remembered, SideTransform, with_fields

_KINDS = {"topic": types.STRING, "partition": types.INT32, "offset": types.INT64, "timestamp": types.timestamp_schema()}
_SAID = "Field name for the record's {}. Suffix with ! to make this a required field, or ? to keep it optional."


class InsertFieldValue(SideTransform):
    """A record without value or key stays as it is."""

    CONFIG = ConfigDef(
        *(ConfigKey(f"{kind}.field", default=None, documentation=_SAID.format(kind)) for kind in _KINDS),
        ConfigKey("static.field", default=None, documentation=_SAID.format("static text")),
        ConfigKey("static.value", default=None, documentation="The text of static.field."),
        REPLACE_NULL,
    )

    def configure(self, props: Props) -> None:
        super().configure(props)
        kinds = [kind for kind in (*_KINDS, "static") if self.values[f"{kind}.field"] is not None]
        if not kinds:
            raise ConfigError("topic.field", "No field insertion configured")
        if "static" in kinds and self.values["static.value"] is None:
            raise ConfigError("static.value", "No value specified for static field: static.value")
        self._wanted = [(kind, *_named(self.values[f"{kind}.field"])) for kind in kinds]
        self._widened = Remembered(self._widen)

    def _widen(self, schema: Schema) -> Schema:
        added = []
        for kind, name, is_optional in self._wanted:
            base = _KINDS.get(kind, types.STRING)
            added.append(Field(name, Schema(base.type, is_optional, base.name, base.version)))
        return with_fields(schema, [*schema.fields, *added])

    def change(self, record: ConnectRecord, schema: Schema | None, value: Any) -> tuple[Schema | None, Any]:
        if value is None:
            return schema, None
        members = self.members(schema, value, "field insertion")
        inserted = {name: self._value(record, kind, schema is not None) for kind, name, _ in self._wanted}
        values = {name: item for name, item in inserted.items() if item is not None}
        if schema is None:
            return None, {**members, **values}
        widened = self._widened(schema)
        return widened, Struct(widened, {**members, **values})

    def _value(self, record: ConnectRecord, kind: str, has_schema: bool) -> Any:
        if kind == "static":
            return self.values["static.value"]
        if kind == "offset":
            if not isinstance(record, SinkRecord):
                raise DataError("Offset insertion is only supported for sink connectors")
            return record.offset
        if kind == "timestamp":
            moment = record.timestamp_ms
            return moment if moment is None or not has_schema else ms_to_timestamp(moment)
        return record.topic if kind == "topic" else record.partition


class InsertFieldKey(InsertFieldValue):
    SIDE = "key"


def _named(text: str) -> tuple[str, bool]:
    if text.endswith("!"):
        return text[:-1], False
    return text.removesuffix("?"), True

"""TimestampConverter: a moment as a text, a number, or one of Connect's types."""

import dataclasses
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from broker.common.java.numbers import trim
from broker.connect.api import (
    ConfigDef,
    ConfigError,
    ConfigKey,
    ConnectRecord,
    DataError,
    Field,
    Importance,
    Schema,
    Struct,
    Type,
)
from broker.connect.api import schema as types
from broker.connect.api.config import OneOf
from broker.connect.api.plugin import Props
from broker.connect.api.schema import is_logical
from broker.connect.converters.value_texts import moment_ms
from broker.connect.transforms.patterns import date_format
from broker.connect.transforms.sides import REPLACE_NULL, Remembered, SideTransform, with_fields

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY_MS = 86_400_000
_INT64_MAX = (1 << 63) - 1
#: How many of each are one second.
_PER_SECOND = {"seconds": 1, "milliseconds": 1_000, "microseconds": 1_000_000, "nanoseconds": 1_000_000_000}
_TARGETS = {
    "string": types.STRING,
    "unix": types.INT64,
    "Date": types.date_schema(),
    "Time": types.time_schema(),
    "Timestamp": types.timestamp_schema(),
}


class TimestampConverterValue(SideTransform):
    CONFIG = ConfigDef(
        ConfigKey(
            "field",
            default="",
            importance=Importance.HIGH,
            documentation="The field with the timestamp; empty: the whole value is one.",
        ),
        ConfigKey(
            "target.type",
            importance=Importance.HIGH,
            documentation="What it becomes.",
            validator=OneOf(*_TARGETS, is_exact=True),
        ),
        ConfigKey("format", default="", documentation="SimpleDateFormat of texts, in UTC."),
        ConfigKey(
            "unix.precision",
            default="milliseconds",
            importance=Importance.LOW,
            documentation="Of numbers.",
            validator=OneOf(*_PER_SECOND, is_exact=True),
        ),
        REPLACE_NULL,
    )

    def configure(self, props: Props) -> None:
        super().configure(props)
        self._target = self.values["target.type"]
        pattern = self.values["format"]
        if self._target == "string" and not trim(pattern):
            raise ConfigError("format", "TimestampConverter requires format option when using type string")
        self._format = date_format("format", pattern) if trim(pattern) else None
        self._per_second = _PER_SECOND[self.values["unix.precision"]]
        self._converted = Remembered(self._convert_schema)

    def _convert_schema(self, schema: Schema) -> Schema:
        target = _TARGETS[self._target]
        if not self.values["field"]:
            return dataclasses.replace(target, optional=schema.optional)
        fields = [
            Field(field.name, dataclasses.replace(target, optional=field.schema.optional))
            if field.name == self.values["field"]
            else field
            for field in schema.fields
        ]
        return with_fields(schema, fields)

    def change(self, record: ConnectRecord, schema: Schema | None, value: Any) -> tuple[Schema | None, Any]:
        if value is None:
            return (self._converted(schema) if schema else None), None
        field = self.values["field"]
        if not field:
            return schema and self._converted(schema), self._convert(value, schema)
        members = dict(self.members(schema, value, "converting timestamp formats"))
        if schema is None:
            return None, {**members, field: self._convert(members.get(field), None)}
        if field in members:
            members[field] = self._convert(members[field], schema.fields_by_name[field].schema)
        made = self._converted(schema)
        return made, Struct(made, members)

    def _convert(self, value: Any, schema: Schema | None) -> Any:
        if value is None:
            return None
        ms = self._ms_of(value, schema)
        try:
            return self._as_target(ms)
        except OverflowError:
            raise DataError(f"A moment before the year 1 or after 9999: {ms} ms") from None

    def _as_target(self, ms: int) -> Any:
        match self._target:
            case "string":
                return self._format.format(ms)  # type: ignore[union-attr]  # `string` has one: see above
            case "unix":
                return _scaled(ms, self._per_second, 1_000)
            case "Date":
                return (_EPOCH + timedelta(days=ms // _DAY_MS)).date()
            case "Time":
                return (_EPOCH + timedelta(milliseconds=ms % _DAY_MS)).time()
        return _EPOCH + timedelta(milliseconds=ms)

    def _ms_of(self, value: Any, schema: Schema | None) -> int:
        """Return milliseconds by the schema where there is one, else by the value's type."""
        if isinstance(value, datetime | date | time) and (schema is None or is_logical(schema)):
            return moment_ms(value)
        if isinstance(value, str):
            if self._format is None:
                raise DataError("TimestampConverter requires format option to read texts")
            try:
                return self._format.parse(value)
            except ValueError as error:
                raise DataError(f"Could not parse timestamp: {error}") from None
        is_long = schema is None or schema.type is Type.INT64
        if isinstance(value, int) and not isinstance(value, bool) and is_long:
            return _scaled(value, 1_000, self._per_second)
        raise DataError(f"TimestampConverter does not convert {type(value).__name__}")


class TimestampConverterKey(TimestampConverterValue):
    SIDE = "key"


def _scaled(value: int, times: int, per: int) -> int:
    """Convert as Java's TimeUnit: towards zero, and to the largest number where it is too large."""
    scaled = abs(value) * times // per
    return min(scaled, _INT64_MAX) if value >= 0 else max(-scaled, -_INT64_MAX - 1)

"""TimestampConverter: a moment as a text, a number, or one of Connect's types."""

import dataclasses
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from broker.connect.api import ConfigDef, ConfigError, ConfigKey, ConnectRecord, DataError, Field, Schema, Struct
from broker.connect.api import schema as types
from broker.connect.api.config import OneOf
from broker.connect.api.plugin import Props
from broker.connect.transforms.patterns import DateFormat
from broker.connect.transforms.sides import Remembered, SideTransform, fields_of, with_fields

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UNITS = {"seconds": 1_000_000, "milliseconds": 1_000, "microseconds": 1, "nanoseconds": 0}
_TARGETS = {
    "string": types.STRING,
    "unix": types.INT64,
    "date": types.date_schema(),
    "time": types.time_schema(),
    "timestamp": types.timestamp_schema(),
}


class TimestampConverterValue(SideTransform):
    CONFIG = ConfigDef(
        ConfigKey("field", default="", documentation="The field with the timestamp; empty: the whole value is one."),
        ConfigKey(
            "target.type",
            documentation="What it becomes.",
            validator=OneOf("string", "unix", "Date", "Time", "Timestamp"),
        ),
        ConfigKey("format", default="", documentation="SimpleDateFormat of texts, in UTC."),
        ConfigKey("unix.precision", default="milliseconds", documentation="Of numbers.", validator=OneOf(*_UNITS)),
    )

    def configure(self, props: Props) -> None:
        super().configure(props)
        self._target = self.values["target.type"].lower()
        if self._target == "string" and not self.values["format"]:
            raise ConfigError("format", "TimestampConverter requires format option when using type string")
        self._format = DateFormat("format", self.values["format"]) if self.values["format"] else None
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
            return schema and self._converted(schema), self._convert(value)
        members = dict(fields_of(schema, value, "converting timestamp formats"))
        if field not in members:
            if schema is None:
                return None, members
            raise DataError(f"Field {field} is not there")
        members[field] = None if members[field] is None else self._convert(members[field])
        if schema is None:
            return None, members
        made = self._converted(schema)
        return made, Struct(made, members)

    def _convert(self, value: Any) -> Any:
        moment = self._moment(value)
        match self._target:
            case "string":
                return self._format.format(moment)  # type: ignore[union-attr]  # `string` has one: see above
            case "unix":
                micros = (moment - _EPOCH) // timedelta(microseconds=1)
                unit = _UNITS[self.values["unix.precision"].lower()]
                return micros // unit if unit else micros * 1000
            case "date":
                return moment.date()
            case "time":
                return moment.time()
        return moment

    def _moment(self, value: Any) -> datetime:
        if isinstance(value, datetime):
            return value if value.tzinfo else value.replace(tzinfo=UTC)
        if isinstance(value, date):
            return datetime(value.year, value.month, value.day, tzinfo=UTC)
        if isinstance(value, time):
            return datetime.combine(date(1970, 1, 1), value, UTC)
        if isinstance(value, str) and self._format:
            return self._format.parse(value)
        if isinstance(value, int) and not isinstance(value, bool):
            unit = _UNITS[self.values["unix.precision"].lower()]
            try:
                return _EPOCH + timedelta(microseconds=value * unit if unit else value // 1000)
            except OverflowError:
                raise DataError(f"No moment: {value}") from None
        raise DataError(f"TimestampConverter does not convert {type(value).__name__} (format is needed for texts)")


class TimestampConverterKey(TimestampConverterValue):
    SIDE = "key"

"""MaskField: replaces the values of fields."""

from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

from broker.common.java.numbers import double_of, parse_decimal
from broker.connect.api import (
    ConfigDef,
    ConfigKey,
    ConfigType,
    ConnectRecord,
    DataError,
    Importance,
    Schema,
    Struct,
    Type,
)
from broker.connect.api.config import not_empty
from broker.connect.api.schema import BITS
from broker.connect.converters.value_texts import wrapped_integer
from broker.connect.transforms.sides import REPLACE_NULL, SideTransform

_ZERO: dict[type, Any] = {
    bool: False,
    int: 0,
    float: 0.0,
    str: "",
    Decimal: Decimal(0),
    datetime: datetime(1970, 1, 1, tzinfo=UTC),
    date: date(1970, 1, 1),
    time: time(0),
}


class MaskFieldValue(SideTransform):
    """Replaces texts and numbers by `replacement`, without it by the zero of their type."""

    CONFIG = ConfigDef(
        ConfigKey(
            "fields",
            ConfigType.LIST,
            importance=Importance.HIGH,
            documentation="Names of fields to mask.",
            validator=not_empty,
        ),
        ConfigKey(
            "replacement",
            default=None,
            importance=Importance.LOW,
            documentation="Custom value of texts and numbers.",
            validator=not_empty,
        ),
        REPLACE_NULL,
    )

    def change(self, record: ConnectRecord, schema: Schema | None, value: Any) -> tuple[Schema | None, Any]:
        members = self.members(schema, value, "mask fields")
        wanted = dict.fromkeys(self.values["fields"])
        if schema is None:
            return None, {**members, **{name: self._mask(members.get(name), None) for name in wanted}}
        masked = {
            name: self._mask(item, schema.fields_by_name[name].schema) if name in wanted else item
            for name, item in members.items()
        }
        return schema, Struct(schema, masked)

    def _mask(self, value: Any, schema: Schema | None) -> Any:
        if value is None:
            return None
        kind = type(value)
        if self.values["replacement"] is not None:
            return self._replaced(kind, self.values["replacement"], schema)
        if isinstance(value, list | tuple):
            return []
        if isinstance(value, dict):
            return {}
        if kind not in _ZERO:
            raise DataError(f"Cannot mask value of type: {kind.__name__}")
        return Decimal(0).scaleb(value.as_tuple().exponent) if kind is Decimal else _ZERO[kind]

    @staticmethod
    def _replaced(kind: type, replacement: str, schema: Schema | None) -> Any:
        """Convert a text to a number of the type that it replaces, cut to the bits of whole numbers as BigDecimal
        does.
        """
        if kind is str:
            return replacement
        if kind not in (int, float, Decimal):
            raise DataError(f"Cannot mask value of type {kind.__name__} with custom replacement.")
        try:
            number = parse_decimal(replacement)
        except ValueError:
            raise DataError(f"Unable to convert the replacement to a {kind.__name__}") from None
        if kind is int:
            return wrapped_integer(number, BITS[schema.type if schema else Type.INT64])
        return double_of(number) if kind is float else number


class MaskFieldKey(MaskFieldValue):
    SIDE = "key"

"""MaskField: values that nobody is to see."""

from datetime import UTC, date, datetime, time
from decimal import Decimal, InvalidOperation
from typing import Any

from broker.connect.api import ConfigDef, ConfigKey, ConfigType, ConnectRecord, DataError, Schema, Struct
from broker.connect.api.config import not_empty
from broker.connect.transforms.sides import SideTransform, fields_of

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
    """With `replacement` texts and numbers become that, without it the zero of their type."""

    CONFIG = ConfigDef(
        ConfigKey("fields", ConfigType.LIST, documentation="Names of fields to mask.", validator=not_empty),
        ConfigKey("replacement", default=None, documentation="Custom value of texts and numbers.", validator=not_empty),
    )

    def change(self, record: ConnectRecord, schema: Schema | None, value: Any) -> tuple[Schema | None, Any]:
        if value is None:
            return schema, None
        members = fields_of(schema, value, "mask fields")
        wanted = self.values["fields"]
        masked = {name: self._mask(item) if name in wanted else item for name, item in members.items()}
        return schema, masked if schema is None else Struct(schema, masked)

    def _mask(self, value: Any) -> Any:
        if value is None:
            return None
        kind = type(value)
        if self.values["replacement"] is not None:
            try:
                if kind in (str, int, float, Decimal):
                    return kind(self.values["replacement"])
            except (ValueError, InvalidOperation):
                raise DataError(f"Unable to convert the replacement to a {kind.__name__}") from None
            raise DataError(f"Cannot mask value of type {kind.__name__} with custom replacement.")
        if isinstance(value, list | tuple):
            return []
        if isinstance(value, dict):
            return {}
        if kind not in _ZERO:
            raise DataError(f"Cannot mask value of type: {kind.__name__}")
        return Decimal(0).scaleb(value.as_tuple().exponent) if kind is Decimal else _ZERO[kind]


class MaskFieldKey(MaskFieldValue):
    SIDE = "key"

"""Values of Connect's logical types as the well-known messages that stand for them, and back."""

from collections.abc import Callable
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

from broker.connect.api import DataError, Schema
from broker.connect.api.schema import DATE, DECIMAL, TIME, TIMESTAMP
from broker.connect.converters.logical import (
    DECIMAL_DIGITS_MAX,
    decimal_of,
    ms_to_timestamp,
    scale_of,
    timestamp_to_ms,
    to_primitive,
)

_PRECISION = 64


def _decimal_to(make: Any, schema: Schema, value: Decimal) -> Any:
    return make(value=to_primitive(schema, value), precision=_PRECISION, scale=scale_of(schema))


def _decimal_of(schema: Schema, message: Any) -> Decimal:
    if len(message.value) > DECIMAL_DIGITS_MAX // 3 or abs(message.scale) > DECIMAL_DIGITS_MAX:
        raise DataError("A Decimal of more digits than are supported")
    return decimal_of(int.from_bytes(message.value, "big", signed=True), message.scale)


def _date_to(make: Any, schema: Schema, value: date) -> Any:
    return make(year=value.year, month=value.month, day=value.day)


def _date_of(schema: Schema, message: Any) -> date:
    return date(message.year, message.month, message.day)


def _time_to(make: Any, schema: Schema, value: time) -> Any:
    nanos = value.microsecond // 1000 * 1_000_000
    return make(hours=value.hour, minutes=value.minute, seconds=value.second, nanos=nanos)


def _time_of(schema: Schema, message: Any) -> time:
    return time(message.hours, message.minutes, message.seconds, message.nanos // 1_000_000 * 1000)


def _timestamp_to(make: Any, schema: Schema, value: datetime) -> Any:
    seconds, ms = divmod(timestamp_to_ms(value), 1000)
    return make(seconds=seconds, nanos=ms * 1_000_000)


def _timestamp_of(schema: Schema, message: Any) -> datetime:
    return ms_to_timestamp(message.seconds * 1000 + message.nanos // 1_000_000)


def _checked(of: Callable[[Schema, Any], Any]) -> Callable[[Schema, Any], Any]:
    def checked(schema: Schema, message: Any) -> Any:
        try:
            return of(schema, message)
        except (ValueError, OverflowError, ArithmeticError) as error:
            raise DataError(f"Not a value of {schema.name}: {error}") from None

    return checked


#: By name: what makes the message of a value, given its class, and the value of a message.
LOGICAL_VALUES: dict[str, tuple[Callable[[Any, Schema, Any], Any], Callable[[Schema, Any], Any]]] = {
    DECIMAL: (_decimal_to, _checked(_decimal_of)),
    DATE: (_date_to, _checked(_date_of)),
    TIME: (_time_to, _checked(_time_of)),
    TIMESTAMP: (_timestamp_to, _checked(_timestamp_of)),
}

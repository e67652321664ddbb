"""Values of logical types as the numbers and bytes that travel: Kafka's org.apache.kafka.connect.data classes."""

from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Context, Decimal
from typing import Any

from broker.common.java.numbers import integer_of, parse_integer
from broker.connect.api import DataError, Schema
from broker.connect.api.schema import DATE, DECIMAL, SCALE, TIME, TIMESTAMP

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EPOCH_DAY = date(1970, 1, 1).toordinal()
_MILLISECOND = timedelta(milliseconds=1)
_DAY_MS = 86_400_000
#: Digits of a decimal: no database has more, and a number of a million digits takes seconds to print.
DECIMAL_DIGITS_MAX = 1_000
_EXACT = Context(prec=DECIMAL_DIGITS_MAX)


def scale_of(schema: Schema) -> int:
    """Raises DataError if a DECIMAL schema does not say it."""
    try:
        scale = parse_integer(schema.parameters[SCALE], 32)
    except (KeyError, ValueError):
        raise DataError("Invalid Decimal schema: scale parameter not found or not a number") from None
    if abs(scale) > DECIMAL_DIGITS_MAX:
        raise DataError(f"Invalid Decimal schema: a scale of {scale}")
    return scale


def unscaled(value: Decimal, scale: int) -> int:
    """Return the digits of `value` with `scale` of them behind the point. Raises DataError if that would lose any."""
    if not value.is_finite() or value.adjusted() + scale > DECIMAL_DIGITS_MAX:
        raise DataError(f"A Decimal cannot be {value:.20E}")
    shifted = value.scaleb(scale, _EXACT)
    if shifted != shifted.to_integral_value():
        raise DataError(f"Decimal value has mismatching scale for given Decimal schema: {value}, scale {scale}")
    return integer_of(shifted)


def decimal_of(number: int, scale: int) -> Decimal:
    """Return the Decimal of an unscaled number; all digits stay, whatever Python's own context keeps."""
    return Decimal(number).scaleb(-scale, _EXACT)


def _decimal_to_bytes(value: Decimal, schema: Schema) -> bytes:
    number = unscaled(value, scale_of(schema))
    return number.to_bytes((number if number >= 0 else ~number).bit_length() // 8 + 1, "big", signed=True)


def _bytes_to_decimal(value: bytes, schema: Schema) -> Decimal:
    if len(value) > DECIMAL_DIGITS_MAX // 3:
        raise DataError("A Decimal of more digits than are supported")
    return decimal_of(int.from_bytes(value, "big", signed=True), scale_of(schema))


def _date_to_days(value: date, _schema: Schema) -> int:
    return value.toordinal() - _EPOCH_DAY


def _days_to_date(value: int, _schema: Schema) -> date:
    return date.fromordinal(value + _EPOCH_DAY)


def _time_to_ms(value: time, _schema: Schema) -> int:
    return ((value.hour * 60 + value.minute) * 60 + value.second) * 1000 + value.microsecond // 1000


def _ms_to_time(value: int, _schema: Schema) -> time:
    if not 0 <= value < _DAY_MS:
        raise DataError(f"Time values must use number of milliseconds in a day, not {value}")
    return (_EPOCH + timedelta(milliseconds=value)).time()


def timestamp_to_ms(value: datetime, _schema: Schema | None = None) -> int:
    """Return milliseconds since 1970; a value without zone is UTC."""
    return ((value if value.tzinfo else value.replace(tzinfo=UTC)) - _EPOCH) // _MILLISECOND


def ms_to_timestamp(value: int, _schema: Schema | None = None) -> datetime:
    """Raises OverflowError outside of the years 1 to 9999."""
    return _EPOCH + timedelta(milliseconds=value)


Change = Callable[[Any, Schema], Any]
_TO_PRIMITIVE: dict[str, Change] = {
    DECIMAL: _decimal_to_bytes,
    DATE: _date_to_days,
    TIME: _time_to_ms,
    TIMESTAMP: timestamp_to_ms,
}
_FROM_PRIMITIVE: dict[str, Change] = {
    DECIMAL: _bytes_to_decimal,
    DATE: _days_to_date,
    TIME: _ms_to_time,
    TIMESTAMP: ms_to_timestamp,
}


def to_primitive(schema: Schema, value: Any) -> Any:
    """Return the int or bytes of a logical value; what is not of a logical type stays. Raises DataError."""
    return _changed(_TO_PRIMITIVE, schema, value)


def from_primitive(schema: Schema, value: Any) -> Any:
    """Convert an int or bytes to a logical value. Raises DataError."""
    return _changed(_FROM_PRIMITIVE, schema, value)


def _changed(changes: dict[str, Change], schema: Schema, value: Any) -> Any:
    change = changes.get(schema.name or "")
    if change is None:
        return value
    try:
        return change(value, schema)
    except (OverflowError, ValueError, TypeError, AttributeError, ArithmeticError) as error:
        raise DataError(f"Not a value of {schema.name}: {error}") from error

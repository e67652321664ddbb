"""org.apache.kafka.connect.data.Values: values as texts, and what a text looks like. Pure."""

import base64
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from broker.common.java.dates import DateFormat
from broker.common.java.numbers import decimal_text, double_text, float_text, integer_of, parse_double
from broker.connect.api import DataError, Schema, Struct, Type
from broker.connect.converters.text_values import TextParser, Unparsed

_DAY_MS = 86_400_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TIME, _DATE = DateFormat("HH:mm:ss.SSS'Z'", 0), DateFormat("yyyy-MM-dd", 0)
_TIMESTAMP = DateFormat("yyyy-MM-dd'T'HH:mm:ss.SSS'Z'", 0)
_UTIL_DATE = DateFormat("EEE MMM dd HH:mm:ss zzz yyyy", 0)


def moment_ms(value: date | time) -> int:
    """Return the milliseconds of java.util.Date; a value without zone is UTC."""
    if isinstance(value, datetime):
        moment = value if value.tzinfo else value.replace(tzinfo=UTC)
    elif isinstance(value, date):
        moment = datetime(value.year, value.month, value.day, tzinfo=UTC)
    else:
        moment = datetime.combine(_EPOCH, value, UTC)
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def moment_text(ms: int) -> str:
    """Return the text of Values.dateFormatFor: a time on the first day and before, a date at midnight."""
    if ms < _DAY_MS:
        return _TIME.format(ms)
    return (_TIMESTAMP if ms % _DAY_MS else _DATE).format(ms)


def util_date_text(value: date | time) -> str:
    """Return java.util.Date.toString in UTC."""
    return _UTIL_DATE.format(moment_ms(value))


def primitive_text(value: Any, schema: Schema | None = None) -> str:
    """Return the text of a value that has no parts; a float of a FLOAT32 schema has the digits of 32 bits."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return float_text(value) if schema is not None and schema.type is Type.FLOAT32 else double_text(value)
    if isinstance(value, Decimal):
        return decimal_text(value)
    if isinstance(value, date | time):
        return moment_text(moment_ms(value))
    return f"{value}"


def single(value: float) -> float:
    """Return the double whose text is that of a number of 32 bits, for a value that has no schema to say so."""
    return parse_double(float_text(value))


def wrapped_integer(value: Decimal, bits: int) -> int:
    """Return a number without its fraction, cut to so many bits: `(byte) new BigDecimal(…).longValue()`."""
    if value.adjusted() > 400:
        return 0  # all of the bits that are kept are those of a power of ten
    half = 1 << bits - 1
    return (integer_of(value) + half) % (2 * half) - half


def to_text(schema: Schema | None, value: Any) -> str:
    """Return the text of Values.convertToString; a text within a list or map is quoted."""
    return _text(schema, value, is_embedded=False)


def _text(schema: Schema | None, value: Any, is_embedded: bool = True) -> str:
    if value is None:
        return "null"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"' if is_embedded else value
    if isinstance(value, bytes | bytearray | memoryview):
        encoded = base64.b64encode(value).decode()
        return f'"{encoded}"' if is_embedded else encoded
    if isinstance(value, Struct):
        fields = value.schema.fields_by_name
        return _joined((name, None, value[name], fields[name].schema) for name in fields)
    inner, keys = (schema.value_schema, schema.key_schema) if schema is not None else (None, None)
    if isinstance(value, Mapping):
        return _joined((key, keys, item, inner) for key, item in value.items())
    if isinstance(value, list | tuple):
        return "[" + ",".join(_text(inner, item) for item in value) + "]"
    return primitive_text(value, schema)


def _joined(entries: Iterable[tuple[Any, Schema | None, Any, Schema | None]]) -> str:
    pairs = (f"{_text(keys, key)}:{_text(inner, item)}" for key, keys, item, inner in entries)
    return "{" + ",".join(pairs) + "}"


def parse_string(text: str) -> tuple[Schema | None, Any]:
    """Return schema and value of what a text looks like (Values.parseString): null, true, a number, a moment, a list or
    map of these, else the text itself."""
    if not text:
        return Schema(Type.STRING), text
    try:
        return TextParser(text).whole()
    except (Unparsed, DataError):
        return Schema(Type.STRING), text

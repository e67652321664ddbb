"""JSON as text: fast where it can be, with all digits of decimals where they are numbers."""

import json
from decimal import Decimal
from typing import Any

import orjson

from broker.common.java.numbers import decimal_text
from broker.connect.api import ConfigKey, ConfigType, DataError, Importance
from broker.connect.api.config import OneOf, Width

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_FORMATS = OneOf("BASE64", "NUMERIC")
DECIMAL_FORMAT = ConfigKey(
    "decimal.format",
    ConfigType.STRING,
    "BASE64",
    Importance.LOW,
    "How decimals are written: BASE64 of their digits, or NUMERIC, a JSON number. Both are read.",
    _FORMATS,
    recommender=_FORMATS,
    group="Serialization",
    order=0,
    width=Width.MEDIUM,
    display_name="Decimal Format",
)


def dump(value: Any, has_decimals: bool) -> bytes:
    """Write JSON. `has_decimals`: a Decimal may be in it, and is a number. Raises DataError."""
    try:
        if has_decimals:
            return _with_decimals(value).encode()
        return orjson.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return _dump_slowly(value)


def load(data: bytes, has_decimals: bool) -> Any:
    """Raises DataError."""
    try:
        if has_decimals:
            return json.loads(data.removeprefix(_BYTE_ORDER_MARK), parse_float=Decimal, parse_constant=_refuse)
        return orjson.loads(data.removeprefix(_BYTE_ORDER_MARK))
    except (ValueError, RecursionError) as error:
        raise DataError(f"Converting byte[] to Kafka Connect data failed: {error}") from None


def _dump_slowly(value: Any) -> bytes:
    """Write what orjson does not: integers beyond 64 bits. Lone surrogates are not valid text."""
    try:
        return _with_decimals(value).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise DataError(f"Converting Kafka Connect data to byte[] failed due to serialization error: {error}") from None


def java_number(text: str) -> orjson.Fragment:
    """Return a number that is written with just this text."""
    return orjson.Fragment(text)


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _with_decimals(value: Any) -> str:
    """Write JSON in which a Decimal keeps all of its digits."""
    if isinstance(value, orjson.Fragment):
        return orjson.dumps(value).decode()
    if isinstance(value, Decimal):
        return decimal_text(value)
    if isinstance(value, dict):
        pairs = (f"{json.dumps(key, ensure_ascii=False)}:{_with_decimals(item)}" for key, item in value.items())
        return "{" + ",".join(pairs) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_with_decimals, value)) + "]"
    return json.dumps(value, ensure_ascii=False, allow_nan=False)

"""What a text looks like to org.apache.kafka.connect.data.Values: tokens between delimiters. Pure."""

import math
from datetime import UTC, datetime, timedelta
from typing import Any

from broker.common.java.dates import DateFormat
from broker.common.java.numbers import double_of, integer_of, parse_decimal, parse_double, parse_float, trim
from broker.connect.api import Schema, Type
from broker.connect.api import schema as types
from broker.connect.converters.logical import from_primitive

_DELIMITERS = frozenset(':,{}[]"')
_DEPTH_MAX = 100
_EXPONENT_MAX = 1_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NUMBERS = [Type.INT8, Type.INT16, Type.INT32, Type.INT64, Type.FLOAT32, Type.FLOAT64]
#: By the length of the text.
_MOMENTS = {
    13: (types.time_schema(), DateFormat("HH:mm:ss.SSS'Z'", 0)),
    24: (types.timestamp_schema(), DateFormat("yyyy-MM-dd'T'HH:mm:ss.SSS'Z'", 0)),
    10: (types.date_schema(), DateFormat("yyyy-MM-dd", 0)),
}

Parsed = tuple[Schema | None, Any]


class Unparsed(Exception):
    """The text is no more than a text."""


class TextParser:
    """`at` is behind the last token, `_pending` a token that was looked at and not taken."""

    def __init__(self, text: str):
        self._text, self._at, self._depth = text, 0, 0
        self._pending: str | None = None
        self._previous = ""

    def whole(self) -> Parsed:
        """Return schema and value. Raises Unparsed, DataError."""
        return self._value(is_embedded=False)

    def _value(self, is_embedded: bool) -> Parsed:
        if not self._has_next():
            return None, None
        if is_embedded and self._takes('"'):
            return self._quoted()
        for literal, parsed in (("null", None), ("true", True), ("false", False)):
            if self._takes_literal(literal, is_embedded):
                return (None if parsed is None else types.BOOLEAN), parsed
        start = self._mark()
        self._depth += 1
        if self._depth > _DEPTH_MAX:
            raise Unparsed
        try:
            if self._takes("["):
                return self._list()
            if self._takes("{"):
                return self._map()
        except Unparsed:
            self._rewind(start)
        finally:
            self._depth -= 1
        token = self._next()
        return self._scalar(trim(token), is_embedded) if token.strip() else (types.STRING, token)

    def _scalar(self, token: str, is_embedded: bool) -> Parsed:
        is_digit = token[0].isdecimal()
        if is_digit and (moment := self._moment(token)) is not None:
            return moment
        if is_digit or token[0] in "+-":
            try:
                return _number(token)
            except ValueError:
                pass  # no number: a text, if a text may stand here
        if is_embedded:
            raise Unparsed
        return types.STRING, self._text

    def _moment(self, token: str) -> Parsed | None:
        """Parse a date or time; a time has colons, so that it is five tokens."""
        start = self._mark()
        taken = [self._next() for _ in range(4) if self._has_next()]
        if len(taken) == 4 and (moment := _moment(token + self._text[start : self._at])) is not None:
            return moment
        self._rewind(start)
        return _moment(token)

    def _quoted(self) -> Parsed:
        parts = []
        while self._has_next() and not self._takes('"'):
            parts.append(self._next())
        text = "".join(parts)
        return _moment(text) or (types.STRING, text)

    def _list(self) -> Parsed:
        values: list[Any] = []
        common = _CommonSchema()
        while self._has_next():
            if self._takes("]"):
                schema = common.schema
                aligned = values if schema is None else [_aligned(schema, value) for value in values]
                return Schema(Type.ARRAY, value_schema=schema), aligned
            if self._takes(","):
                raise Unparsed
            schema, value = self._value(is_embedded=True)
            common.add(schema)
            values.append(value)
            here = self._mark()
            if self._takes("]"):
                self._rewind(here)
            elif not self._takes(","):
                raise Unparsed
        raise Unparsed

    def _map(self) -> Parsed:
        pairs: list[tuple[Any, Any]] = []
        keys, values = _CommonSchema(), _CommonSchema()
        while self._has_next():
            if self._takes("}"):
                return _map_of(pairs, keys.schema, values.schema)
            if self._takes(","):
                raise Unparsed
            key_schema, key = self._value(is_embedded=True)
            if key is None or isinstance(key, list | dict) or not self._takes(":"):
                raise Unparsed
            schema, value = self._value(is_embedded=True)
            pairs.append((key, value))
            self._takes(",")
            keys.add(key_schema)
            values.add(schema)
        raise Unparsed

    def _has_next(self) -> bool:
        return self._pending is not None or self._at < len(self._text)

    def _mark(self) -> int:
        return self._at - len(self._pending or "")

    def _rewind(self, at: int) -> None:
        self._at, self._pending = at, None

    def _next(self) -> str:
        token, self._pending = (self._token() if self._pending is None else self._pending), None
        return token

    def _takes_literal(self, literal: str, is_embedded: bool) -> bool:
        start = self._mark()
        if self._takes(literal) and (is_embedded or not self._has_next()):
            return True
        self._rewind(start)
        return False

    def _takes(self, expected: str) -> bool:
        """Return whether that stands next, blanks aside, and is passed."""
        if not self._has_next():
            return False
        token = self._token() if self._pending is None else self._pending
        while not token.strip() and self._at < len(self._text):
            token = self._token()
        self._pending = token
        if trim(token) != expected:
            return False
        self._pending = None
        return True

    def _token(self) -> str:
        start, is_escaped = self._at, False
        while self._at < len(self._text):
            char = self._text[self._at]
            if char in _DELIMITERS and not is_escaped:
                self._at += self._at == start
                break
            is_escaped = char == "\\" and not is_escaped
            self._at += 1
        return self._text[start : self._at]


class _CommonSchema:
    """The widest of the schemas that were added, None while there is none, and once two have nothing in common."""

    def __init__(self) -> None:
        self.schema: Schema | None = None
        self._is_compatible = True

    def add(self, schema: Schema | None) -> None:
        if schema is None or not self._is_compatible:
            return
        known = self.schema
        if known is None or known.type is schema.type:
            self.schema = schema
        elif known.type in _NUMBERS and schema.type in _NUMBERS:
            self.schema = max(known, schema, key=lambda number: _NUMBERS.index(number.type))
        else:
            self.schema, self._is_compatible = None, False


def _map_of(pairs: list[tuple[Any, Any]], keys: Schema | None, values: Schema | None) -> Parsed:
    if keys is None:
        return Schema(Type.MAP), dict(pairs)
    schema = Schema(Type.MAP, key_schema=keys, value_schema=values)
    return schema, {_aligned(keys, key): value if values is None else _aligned(values, value) for key, value in pairs}


def _aligned(schema: Schema, value: Any) -> Any:
    if value is None:
        raise Unparsed
    if isinstance(value, int) and not isinstance(value, bool):
        return double_of(value) if schema.type in (Type.FLOAT32, Type.FLOAT64) else from_primitive(schema, value)
    return value


def _number(token: str) -> Parsed:
    """Return the smallest type that holds it. Raises ValueError."""
    decimal = parse_decimal(token)
    _, digits, exponent = decimal.as_tuple()
    if not isinstance(exponent, int) or abs(exponent) > _EXPONENT_MAX or len(digits) > _EXPONENT_MAX:
        raise ValueError(f"too many digits: {token[:100]}")
    if decimal == decimal.to_integral_value():
        whole = integer_of(decimal)
        for bits, kind in ((8, Type.INT8), (16, Type.INT16), (32, Type.INT32), (64, Type.INT64)):
            if -(1 << bits - 1) <= whole < 1 << bits - 1:
                return Schema(kind), whole
    for schema, parse in ((types.FLOAT32, parse_float), (types.FLOAT64, parse_double)):
        if exponent and math.isfinite(number := parse(f"{decimal}")):
            return schema, number
    return types.decimal_schema(-exponent), decimal


def _moment(text: str) -> Parsed | None:
    text = text.replace("\\:", ":")
    if len(text) not in _MOMENTS:
        return None
    schema, form = _MOMENTS[len(text)]
    try:
        moment = _EPOCH + timedelta(milliseconds=form.parse(text))
    except (ValueError, OverflowError):
        return None
    if schema.name == types.DATE:
        return schema, moment.date()
    return schema, moment.time() if schema.name == types.TIME else moment

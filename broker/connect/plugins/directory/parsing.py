"""What the bytes of one record say, by the file's format. Pure; raises DataError for what cannot be told."""

import json
import math
from typing import Any, Protocol

from broker.connect.api import DataError, Field, Schema, Struct, Type
from broker.connect.api.schema import STRING

#: A column of CSV has text, or nothing: the format knows no other type.
_COLUMN = Schema(Type.STRING, optional=True)
_COLUMNS_MAX = 2_000
Parsed = tuple[Schema | None, Any]


class Parser(Protocol):
    def __call__(self, raw: bytes) -> Parsed | None:
        """Return schema and value of a record; None for a blank line."""
        ...


def parse_line(raw: bytes) -> Parsed:
    return STRING, _text(raw)


def parse_json(raw: bytes) -> Parsed | None:
    """Parse any JSON value, without a schema."""
    text = _text(raw)
    if not text.strip():
        return None
    try:
        return None, json.loads(text, parse_float=_finite, parse_constant=_finite)
    except RecursionError:
        raise DataError("not JSON that can be read: nested too deeply") from None
    except ValueError as error:
        raise DataError(f"not JSON: {error}") from None


class CsvParser:
    """Rows as structs whose fields are the columns of the file's first row. RFC 4180, with any separator."""

    def __init__(self, header: bytes, separator: str):
        self._separator = separator
        names = split_row(_text(header), separator)
        if len(names) > _COLUMNS_MAX:
            raise DataError(f"{len(names)} columns, more than {_COLUMNS_MAX}")
        if "" in names or len(set(names)) < len(names):
            raise DataError("the first row has to name each column, and each by another name")
        self._names = names
        self._schema = Schema(Type.STRUCT, fields=tuple(Field(name, _COLUMN) for name in names))

    def __call__(self, raw: bytes) -> Parsed | None:
        text = _text(raw)
        if not text:
            return None
        values = split_row(text, self._separator)
        if len(values) != len(self._names):
            raise DataError(f"{len(values)} columns where the first row has {len(self._names)}")
        return self._schema, Struct(self._schema, dict(zip(self._names, values, strict=True)))


def split_row(text: str, separator: str) -> list[str]:
    """Return the fields of a row; a quoted one may hold separators, line ends and doubled quotes."""
    if '"' not in text:
        return text.split(separator)
    fields: list[str] = []
    at = 0
    while True:
        if text.startswith('"', at):
            field, at = _quoted(text, at + 1)
        else:
            end = text.find(separator, at)
            end = len(text) if end < 0 else end
            field, at = text[at:end], end
            if '"' in field:
                raise DataError("a quote within a field that does not begin with one")
        fields.append(field)
        if at == len(text):
            return fields
        if not text.startswith(separator, at):
            raise DataError("something between a closing quote and the next separator")
        at += len(separator)


def _quoted(text: str, at: int) -> tuple[str, int]:
    """Return the field whose opening quote is before `at`, and the place behind its closing one."""
    begin = at
    while True:
        end = text.find('"', at)
        if end < 0:
            raise DataError("a quote is not closed")
        if not text.startswith('"', end + 1):
            return text[begin:end].replace('""', '"'), end + 1
        at = end + 2


def _text(raw: bytes) -> str:
    try:
        return raw.removesuffix(b"\r").decode()
    except UnicodeDecodeError as error:
        raise DataError(f"not UTF-8 ({error.reason})") from None


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is no number of JSON")
    return value

"""Many values in JsonConverter's envelope at once: the schema in front of them is the same bytes, read once. Pure."""

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

import orjson

from broker.connect.api import DataError, Schema, Type
from broker.connect.converters.columns import Convert, converted
from broker.connect.converters.json_values import has_decimals

_PAYLOAD = b'"payload"'
#: orjson's own is 1,024 for an envelope, and what stands in one is a level less deep.
_LEVELS_MAX = 1_000
_END = ord("}")


class EnvelopeColumns:
    """`read_schema` understands what stands in `schema`, `convert` makes a value of a payload's member."""

    def __init__(self, read_schema: Callable[[Any], Schema | None], convert: Convert):
        self._read_schema, self._convert = read_schema, convert
        self._head, self._schema = b"", Schema(Type.STRUCT)
        self._is_flat = True

    def read(self, values: Sequence[bytes]) -> tuple[Schema, list[list[Any]]] | None:
        """Read values into columns; None unless all share one struct schema and have a member for each of its fields.
        Raises DataError or ValueError for malformed values.

        Raises DataError or ValueError for what cannot be read at all.
        """
        if not self._head or not values[0].startswith(self._head):
            self._learn(values[0])
        if not self._head:
            return None
        head, schema = self._head, self._schema
        at = len(head)
        # What stands between a head and the last brace is the payload if it is JSON by itself.
        rows = [orjson.loads(value[at:-1]) for value in values if value.startswith(head) and value[-1] == _END]
        count = len(schema.fields)
        if not count or len(rows) < len(values) or set(map(type, rows)) != {dict}:
            return None
        if not (self._is_flat and set(map(len, rows)) == {count}) and any(map(_may_be_deep, values)):
            return None
        return schema, [self._column(field.name, field.schema, rows) for field in schema.fields]

    def _column(self, name: str, schema: Schema, rows: list[dict[str, Any]]) -> list[Any]:
        try:
            column = list(map(itemgetter(name), rows))
        except KeyError:
            raise DataError(f"A payload without {name}") from None
        if schema.type is Type.FLOAT32:  # the text of 32 bits is another number of 64
            return [self._convert(schema, item) for item in column]
        return converted(schema, column, self._convert)

    def _learn(self, value: bytes) -> None:
        """Learn the schema in front of a payload that stands last. Raises DataError, ValueError."""
        self._head = b""
        end = 0
        while (at := value.find(_PAYLOAD, end)) >= 0:
            end = at + len(_PAYLOAD)
            head = value[:end] + _colon(value, end)
            try:
                read = orjson.loads(head + b"null}")
            except ValueError:  # a word within the schema, or within a text
                continue
            if isinstance(read, dict) and read.keys() == {"schema", "payload"} and read["payload"] is None:
                schema = self._read_schema(read["schema"])
                if schema is not None and schema.type is Type.STRUCT and not has_decimals(schema):
                    self._head, self._schema = head, schema
                    self._is_flat = all(field.schema.type.is_primitive for field in schema.fields)
                return


def _may_be_deep(value: bytes) -> bool:
    return value.count(b"{") + value.count(b"[") > _LEVELS_MAX


def _colon(value: bytes, at: int) -> bytes:
    rest = value[at : at + 8]
    return rest[: rest.find(b":") + 1]

"""Records as connectors and transforms see them: converted, with their schemas beside them.

Nobody changes a record that somebody else holds. They are not frozen because making one would take four times as long.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from broker.connect.api.schema import Schema


class ConnectPartition(NamedTuple):
    topic: str
    partition: int


@dataclass(frozen=True, slots=True)
class Header:
    key: str
    schema: Schema | None
    value: Any


@dataclass(slots=True)
class SourceRecord:
    """One record to be written. `source_partition` names a part of the source, `source_offset` the place behind this
    record; both are JSON objects that only the connector understands. `partition` None: the producer chooses."""

    source_partition: Mapping[str, Any]
    source_offset: Mapping[str, Any]
    topic: str
    partition: int | None
    key_schema: Schema | None
    key: Any
    value_schema: Schema | None
    value: Any
    timestamp_ms: int | None = None
    headers: tuple[Header, ...] = ()


@dataclass(slots=True)
class SinkRecord:
    """One record that was read. After transforms `topic` and `partition` may be others than those it was read from;
    the worker keeps the original ones for commits."""

    topic: str
    partition: int
    offset: int
    key_schema: Schema | None
    key: Any
    value_schema: Schema | None
    value: Any
    timestamp_ms: int | None = None
    headers: tuple[Header, ...] = ()


@dataclass(slots=True)
class SinkColumns:
    """Records that were read one after the other from one partition, all of one struct schema, by its fields.

    `columns` are in the order of `schema.fields`; a value is what a `Struct` would hold, None where it would hold none.
    Keys and headers were converted, and are not kept."""

    topic: str
    partition: int
    offsets: list[int]
    timestamps_ms: list[int | None]
    schema: Schema
    columns: list[list[Any]]

    def __len__(self) -> int:
        return len(self.offsets)

    def rows(self, start: int, end: int) -> list[list[Any]]:
        """Return the columns' values for a range of the records."""
        return [column[start:end] for column in self.columns]


#: What transforms and predicates are given; `dataclasses.replace` makes a changed one and keeps everything else.
ConnectRecord = SourceRecord | SinkRecord

"""Which records make one file: pure, and of the records alone, so that a redelivery makes the same files again.

No clock has a say unless `rotate.schedule.interval.ms` is set. A file begins at the offset behind the last one, and
ends where a record would exceed its bounds, belongs to another stretch of time, or has another schema.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from operator import add
from typing import Any

from broker.connect.api import Schema, SinkColumns, SinkRecord, Struct


@dataclass(frozen=True)
class RollBounds:
    records: int
    bytes: int
    interval_ms: int
    duration_ms: int
    #: By the clock, not by records; 0: never.
    schedule_ms: int = 0


@dataclass
class ObjectFile:
    topic: str
    partition: int
    first_offset: int
    first_ms: int
    bucket_ms: int
    schema: Schema | None
    bytes: int = 0
    #: By the worker's clock.
    opened_ms: int = 0
    #: Of its records.
    offsets: list[int] = field(default_factory=list)
    #: In order: values one by one, or some rows as a list for each of the schema's fields.
    parts: list["Values | ColumnRows"] = field(default_factory=list)

    @property
    def count(self) -> int:
        return len(self.offsets)

    @property
    def name(self) -> str:
        """Kafka Connect's S3 sink calls it so too: the first offset with ten digits, or more if it has more."""
        return f"{self.topic}+{self.partition}+{self.first_offset:010}"

    def takes(self, moment: int, schema: Schema | None, size: int, bounds: RollBounds) -> bool:
        """Return whether the open file takes a record of this time, schema and size."""
        return (
            self.count < bounds.records
            and self.bytes + size <= bounds.bytes
            and self.bucket_ms == moment // bounds.duration_ms * bounds.duration_ms
            and (bounds.interval_ms <= 0 or moment - self.first_ms < bounds.interval_ms)
            and (schema is self.schema or schema == self.schema)
        )

    def add(self, offset: int, value: Any, size: int) -> None:
        if not self.parts or not isinstance(self.parts[-1], Values):
            self.parts.append(Values())
        self.parts[-1].append(value)
        self.offsets.append(offset)
        self.bytes += size

    def add_rows(self, offsets: list[int], rows: "ColumnRows", size: int) -> None:
        self.parts.append(rows)
        self.offsets += offsets
        self.bytes += size

    def only(self, start: int, end: int) -> "ObjectFile":
        """Return the same file with records from `start` to `end` only."""
        parts: list[Values | ColumnRows] = []
        at = 0
        for part in self.parts:
            size = len(part[0]) if isinstance(part, ColumnRows) and part else len(part)
            first, last = max(start - at, 0), max(end - at, 0)
            parts.append(
                ColumnRows(item[first:last] for item in part)
                if isinstance(part, ColumnRows)
                else Values(part[first:last])
            )
            at += size
        return replace(self, offsets=self.offsets[start:end], parts=parts)

    def is_due(self, now_ms: int, bounds: RollBounds) -> bool:
        """Return whether a multiple of the schedule has passed since the file was opened."""
        return bounds.schedule_ms > 0 and now_ms // bounds.schedule_ms > self.opened_ms // bounds.schedule_ms

    def is_full(self, bounds: RollBounds) -> bool:
        return self.count >= bounds.records or self.bytes >= bounds.bytes


class Values(list[Any]):
    """Values one by one."""


class ColumnRows(list[list[Any]]):
    """Columns of some rows."""


@dataclass
class ColumnStretch:
    """Columns that come, from `at` on; sizes up to each record, to be asked for any stretch of them."""

    columns: SinkColumns
    at: int = 0

    def __post_init__(self) -> None:
        self._moments = [item or 0 for item in self.columns.timestamps_ms]
        self._until = list(accumulate(sizes_of(self.columns), initial=0))

    def __bool__(self) -> bool:
        return self.at < len(self._moments)

    def begins(self, bounds: RollBounds) -> ObjectFile:
        """Begin a file with its first record, whatever its size."""
        columns, at = self.columns, self.at
        file = _begun(columns.topic, columns.partition, columns.offsets[at], self._moments[at], columns.schema, bounds)
        self._move(file, at + 1)
        return file

    def flows_into(self, file: ObjectFile, bounds: RollBounds) -> None:
        """Move records to the file: as many as it takes, perhaps none."""
        self._move(file, self._end(file, bounds))

    def _move(self, file: ObjectFile, end: int) -> None:
        if end > self.at:
            size = self._until[end] - self._until[self.at]
            file.add_rows(self.columns.offsets[self.at : end], ColumnRows(self.columns.rows(self.at, end)), size)
            self.at = end

    def _end(self, file: ObjectFile, bounds: RollBounds) -> int:
        at, end = self.at, min(len(self._moments), self.at + bounds.records - file.count)
        if end <= at:
            return at
        size, schema, moments = self._until[end] - self._until[at], self.columns.schema, self._moments
        if all(file.takes(moment, schema, size, bounds) for moment in (min(moments[at:end]), max(moments[at:end]))):
            return end
        for index in range(at, end):
            if not file.takes(moments[index], schema, self._until[index + 1] - self._until[at], bounds):
                return index
        return end


def begun_with(record: SinkRecord, bounds: RollBounds) -> ObjectFile:
    moment = record.timestamp_ms or 0
    return _begun(record.topic, record.partition, record.offset, moment, record.value_schema, bounds)


def _begun(
    topic: str, partition: int, offset: int, moment: int, schema: Schema | None, bounds: RollBounds
) -> ObjectFile:
    bucket_ms = moment // bounds.duration_ms * bounds.duration_ms
    return ObjectFile(topic, partition, offset, moment, bucket_ms, schema)


#: Looked at first: asking a number whether it is a Mapping costs more than all the rest.
_FIXED = frozenset({int, float, bool, type(None)})


def size_of(value: Any) -> int:
    """Estimate the size of a value; the same value always has the same size."""
    kind = type(value)
    if kind in _FIXED:
        return 8
    if kind is str or kind is bytes:
        return len(value) + 8
    if kind is Struct:
        return sum(map(size_of, value.values_by_name.values()))
    if isinstance(value, Mapping):
        return sum(size_of(key) + size_of(item) for key, item in value.items())
    if isinstance(value, Sequence):
        return sum(map(size_of, value)) + 8
    return 8


def sizes_of(columns: SinkColumns) -> list[int]:
    """Return `size_of` the struct of each record."""
    fixed, sizes = 0, [0] * len(columns)
    for column in columns.columns:
        kinds = set(map(type, column))
        if kinds <= _FIXED:
            fixed += 8
        elif kinds == {str} or kinds == {bytes}:
            fixed += 8
            sizes = list(map(add, sizes, map(len, column)))
        else:
            sizes = list(map(add, sizes, map(size_of, column)))
    return [size + fixed for size in sizes]

"""Which records make one file: pure, and of the records alone, so that a redelivery makes the same files again.

No clock has a say. A file begins at the offset behind the last one, and ends where a record would exceed its bounds,
belongs to another stretch of time, or has another schema.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from broker.connect.api import Schema, SinkRecord, Struct


@dataclass(frozen=True)
class Bounds:
    records: int
    bytes: int
    interval_ms: int
    duration_ms: int


@dataclass
class OpenFile:
    topic: str
    partition: int
    first_offset: int
    first_ms: int
    bucket_ms: int
    schema: Schema | None
    values: list[Any] = field(default_factory=list)
    bytes: int = 0

    @property
    def name(self) -> str:
        """Kafka Connect's S3 sink calls it so too: the first offset with ten digits, or more if it has more."""
        return f"{self.topic}+{self.partition}+{self.first_offset:010}"

    def takes(self, record: SinkRecord, size: int, bounds: Bounds) -> bool:
        moment = record.timestamp_ms or 0
        return (
            len(self.values) < bounds.records
            and self.bytes + size <= bounds.bytes
            and self.bucket_ms == moment // bounds.duration_ms * bounds.duration_ms
            and (bounds.interval_ms <= 0 or moment - self.first_ms < bounds.interval_ms)
            and (record.value_schema is self.schema or record.value_schema == self.schema)
        )

    def add(self, record: SinkRecord, size: int) -> None:
        self.values.append(record.value)
        self.bytes += size

    def is_full(self, bounds: Bounds) -> bool:
        return len(self.values) >= bounds.records or self.bytes >= bounds.bytes


def begun_with(record: SinkRecord, bounds: Bounds) -> OpenFile:
    moment = record.timestamp_ms or 0
    bucket_ms = moment // bounds.duration_ms * bounds.duration_ms
    return OpenFile(record.topic, record.partition, record.offset, moment, bucket_ms, record.value_schema)


#: Looked at first: asking a number whether it is a Mapping costs more than all the rest.
_FIXED = frozenset({int, float, bool, type(None)})


def size_of(value: Any) -> int:
    """About what a value takes; the same whenever it comes again."""
    kind = type(value)
    if kind in _FIXED:
        return 8
    if kind is str or kind is bytes:
        return len(value) + 8
    if kind is Struct:
        return sum(map(size_of, value.values_by_name.values()))
    if isinstance(value, Mapping):
        return sum(size_of(key) + size_of(each) for key, each in value.items())
    if isinstance(value, Sequence):
        return sum(map(size_of, value)) + 8
    return 8

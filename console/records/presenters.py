"""A record with what a page shows of it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property

from console.gateway.record_views import RecordView
from console.records.text import Text, text_of

#: Of a key or value opened in a row; the record's own page shows more.
ROW_TEXT_LENGTH_MAX = 8 * 1024
TITLES = ("partition", "offset", "time", "key", "value", "headers", "bytes")


@dataclass
class ShownRecord:
    record: RecordView
    shown_as: str
    length_max: int = ROW_TEXT_LENGTH_MAX

    @cached_property
    def key(self) -> Text:
        return text_of(self.record.key, self.shown_as, self.length_max)

    @cached_property
    def value(self) -> Text:
        return text_of(self.record.value, self.shown_as, self.length_max)

    @cached_property
    def headers(self) -> list[tuple[str, Text]]:
        return [(name, text_of(value, self.shown_as, self.length_max)) for name, value in self.record.headers]


def shown_records(records: Iterable[RecordView], shown_as: str) -> list[ShownRecord]:
    """For the rows of a table, where a tree is shown as laid out JSON."""
    return [ShownRecord(record, "json" if shown_as == "tree" else shown_as) for record in records]


def record_rows(records: Iterable[RecordView], shown_as: str) -> Iterator[tuple[object, ...]]:
    """Rows of a file; a null key or value is an empty cell."""
    for each in records:
        shown = ShownRecord(each, shown_as, length_max=64 * 1024)
        at = None if each.at_ms is None else datetime.fromtimestamp(each.at_ms / 1000, UTC)
        key = None if each.key is None else shown.key.text if each.key else ""
        value = None if each.value is None else shown.value.text if each.value else ""
        headers = [f"{name}={text.text}" for name, text in shown.headers]
        yield (each.partition, each.offset, at, key, value, headers, each.size_bytes)

"""A record with what a page shows of it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property

from console.gateway.record_views import RecordView
from console.records.text import Text, text_of
from console.schemas.codec import PageDecoder

#: Of a key or value opened in a row; the record's own page shows more.
ROW_TEXT_LENGTH_MAX = 8 * 1024
#: Forms in which a record is shown as what its schema makes of it.
_DECODED_FORMS = ("auto", "json", "tree")
TITLES = ("partition", "offset", "time", "key", "value", "headers", "bytes")


@dataclass
class ShownRecord:
    record: RecordView
    shown_as: str
    length_max: int
    decoder: PageDecoder

    @cached_property
    def key(self) -> Text:
        return self._text(self.record.key)

    @cached_property
    def value(self) -> Text:
        return self._text(self.record.value)

    @cached_property
    def headers(self) -> list[tuple[str, Text]]:
        return [(name, text_of(value, self.shown_as, self.length_max)) for name, value in self.record.headers]

    def _text(self, data: bytes | None) -> Text:
        """By its schema, if it has one that is known; else its bytes, and why."""
        found = self.decoder.decode(data) if self.shown_as in _DECODED_FORMS else None
        if found is None or data is None:
            return text_of(data, self.shown_as, self.length_max)
        if found.problem:
            note = f"schema {found.schema_id}, not decoded: {found.problem}"
            return replace(text_of(data, "hex", self.length_max), note=note, schema_id=found.schema_id)
        text = text_of(found.text.encode(), self.shown_as, self.length_max)
        note = "; ".join(filter(None, (f"{found.type.capitalize()}, schema {found.schema_id}", text.note)))
        return replace(text, size_bytes=len(data), note=note, schema_id=found.schema_id)


def shown_records(records: Iterable[RecordView], shown_as: str) -> list[ShownRecord]:
    """For the rows of a table, where a tree is shown as laid out JSON."""
    decoder, form = PageDecoder(), "json" if shown_as == "tree" else shown_as
    return [ShownRecord(record, form, ROW_TEXT_LENGTH_MAX, decoder) for record in records]


def record_rows(records: Iterable[RecordView], shown_as: str) -> Iterator[tuple[object, ...]]:
    """Rows of a file; a null key or value is an empty cell."""
    decoder = PageDecoder()
    for each in records:
        shown = ShownRecord(each, shown_as, 64 * 1024, decoder)
        at = None if each.at_ms is None else datetime.fromtimestamp(each.at_ms / 1000, UTC)
        key = None if each.key is None else shown.key.text if each.key else ""
        value = None if each.value is None else shown.value.text if each.value else ""
        headers = [f"{name}={text.text}" for name, text in shown.headers]
        yield (each.partition, each.offset, at, key, value, headers, each.size_bytes)

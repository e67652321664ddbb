"""A record with what a page shows of it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from itertools import islice

from console.cluster.records.columns import (
    RecordColumn,
    cell_at,
    default_paths,
    offered_paths,
    parse_columns,
    parse_document,
)
from console.cluster.records.decoders import DecodedText, RecordDecoder
from console.cluster.records.histogram import Histogram, HistogramBar
from console.cluster.records.query import RecordQuery
from console.cluster.records.text import (
    DOCUMENT_BYTES_MAX,
    WHOLE_LENGTH_MAX,
    Text,
    TextBudget,
    document_text,
    text_of,
)
from console.kit.common.clock import utc
from console.kit.gateway.records.interface import RecordView

#: Of a key or value opened in a row; the record's own page shows more.
ROW_TEXT_LENGTH_MAX = 8 * 1024
#: Forms in which a record is shown as what its schema makes of it.
_DECODED_FORMS = ("auto", "json", "tree")
#: Records whose paths are offered as columns.
OFFERED_FROM = 25
#: Of all records of a page; larger ones are parsed for columns that are asked for only.
DEFAULT_COLUMNS_BYTES_MAX = 4 * 1024 * 1024
#: Letters of JSON, unpacked, that one page parses for its columns. What is parsed takes up to 35 times as many bytes,
#: and 300 bytes of gzip become as much JSON as a column looks into.
PAGE_DOCUMENTS_LENGTH_MAX = 4 * 1024 * 1024
#: Headers of a record that a row shows, and its own page: a record may have hundreds of thousands.
ROW_HEADERS_MAX, PAGE_HEADERS_MAX = 20, 500
#: Bytes, unpacked, of the keys, values and headers that the rows of one page lay out.
PAGE_TEXTS_BYTES_MAX = 8 * 1024 * 1024
_NOT_PARSED = "… (not parsed: the JSON of this page is too large)"
_TOO_MUCH = object()
TITLES = ("partition", "offset", "time", "key", "value", "headers", "bytes")


class ParseBudget:
    """Letters of JSON that may still be parsed, and are held until the page is drawn."""

    def __init__(self, length_max: int):
        self._left = length_max

    def take(self, length: int) -> bool:
        """Return whether a text of this length may be parsed; if so, it counts."""
        if length > self._left:
            return False
        self._left -= length
        return True


@dataclass
class ShownRecord:
    """A record with its texts, and with its JSON as far as columns look into it and `budget` allows."""

    record: RecordView
    shown_as: str
    length_max: int
    decoder: RecordDecoder
    columns: tuple[RecordColumn, ...] = ()
    budget: ParseBudget = field(default_factory=lambda: ParseBudget(PAGE_DOCUMENTS_LENGTH_MAX))
    #: Of what the row shows; None: of this record alone.
    texts: TextBudget | None = None

    @cached_property
    def key(self) -> Text:
        return self._text("key", self.record.key)

    @cached_property
    def value(self) -> Text:
        return self._text("value", self.record.value)

    @property
    def headers(self) -> Iterator[tuple[str, Text]]:
        """Yield all of them; pages show some."""
        for name, value in self.record.headers:
            yield name, text_of(value, self.shown_as, self.length_max, self.texts)

    @property
    def row_headers(self) -> list[tuple[str, Text]]:
        return list(islice(self.headers, ROW_HEADERS_MAX))

    @property
    def page_headers(self) -> list[tuple[str, Text]]:
        return list(islice(self.headers, PAGE_HEADERS_MAX))

    @property
    def left_out_of_row(self) -> int:
        """The count of headers that the row does not show."""
        return max(0, len(self.record.headers) - ROW_HEADERS_MAX)

    @property
    def left_out_of_page(self) -> int:
        """The count of headers that the record's own page does not show."""
        return max(0, len(self.record.headers) - PAGE_HEADERS_MAX)

    @property
    def cells(self) -> list[str]:
        """The cells of the picked columns."""
        return [self._cell(column) for column in self.columns]

    def _cell(self, column: RecordColumn) -> str:
        document = self._document_of(column.part)
        return _NOT_PARSED if document is _TOO_MUCH else cell_at(document, column.steps)

    @property
    def named_cells(self) -> list[tuple[str, str]]:
        return [(column.text, cell) for column, cell in zip(self.columns, self.cells, strict=True)]

    @property
    def value_document(self) -> object:
        return self._document_of("value")

    @property
    def documents(self) -> list[tuple[str, object]]:
        return [(part, self._document_of(part)) for part in ("value", "key", "headers")]

    def _document_of(self, part: str) -> object:
        """Return what is parsed of `part`, or _TOO_MUCH; nothing is parsed that no column looks into."""
        if part not in self._parsed:
            self._parsed[part] = self._parse_headers() if part == "headers" else self._parse(part)
        return self._parsed[part]

    @cached_property
    def _parsed(self) -> dict[str, object]:
        return {}

    def _parse_headers(self) -> object:
        headers = {name: (value or b"").decode(errors="replace") for name, value in self.record.headers}
        if not self.budget.take(sum(map(len, headers.values()))):
            return _TOO_MUCH
        return {
            name: (parse_document(text) if len(text) <= DOCUMENT_BYTES_MAX else None) or text
            for name, text in headers.items()
        }

    def _parse(self, part: str) -> object:
        decoded = self._decoded[part]
        text = decoded.text if decoded is not None else document_text(getattr(self.record, part))
        return parse_document(text) if self.budget.take(len(text)) else _TOO_MUCH

    @cached_property
    def _decoded(self) -> dict[str, DecodedText | None]:
        return {part: self.decoder.decode(part, getattr(self.record, part)) for part in ("key", "value")}

    def _text(self, part: str, data: bytes | None) -> Text:
        """Return the text by a schema or a decoder, if one applies; else the bytes, and why."""
        decoded = self._decoded[part] if self.shown_as in _DECODED_FORMS else None
        if decoded is None or data is None:
            return text_of(data, self.shown_as, self.length_max, self.texts)
        if not decoded.text:
            return replace(text_of(data, "hex", self.length_max), note=decoded.note, schema_id=decoded.schema_id)
        text = text_of(decoded.text.encode(errors="replace"), self.shown_as, self.length_max, self.texts)
        note = "; ".join(filter(None, (decoded.note, text.note)))
        return replace(text, size_bytes=len(data), note=note, schema_id=decoded.schema_id)


def shown_records(topic: str, records: Iterable[RecordView], query: RecordQuery) -> list[ShownRecord]:
    """Return the records as table rows, with documents as formatted JSON."""
    decoder, form = RecordDecoder(topic), "json" if query.shown_as == "tree" else query.shown_as
    budget, texts = ParseBudget(PAGE_DOCUMENTS_LENGTH_MAX), TextBudget(PAGE_TEXTS_BYTES_MAX)
    return [ShownRecord(record, form, ROW_TEXT_LENGTH_MAX, decoder, query.columns, budget, texts) for record in records]


def offered_columns(shown: Iterable[ShownRecord]) -> list[str]:
    """Return paths that are in the first of these records."""
    return offered_paths(document for record in islice(shown, OFFERED_FROM) for document in record.documents)


def with_default_columns(shown: list[ShownRecord], query: RecordQuery) -> tuple[RecordColumn, ...]:
    """Give the records the columns of the query or, if it names none and does not refuse them, those of most values."""
    columns = query.columns
    is_small = sum(record.record.size_bytes for record in shown) <= DEFAULT_COLUMNS_BYTES_MAX
    if not columns and query.has_default_columns and is_small:
        columns = parse_columns(default_paths([record.value_document for record in shown[:OFFERED_FROM]]))
    for record in shown:
        record.columns = columns
    return columns


def titles(query: RecordQuery) -> tuple[str, ...]:
    return (*TITLES, *(column.text for column in query.columns))


def record_rows(
    topic: str, records: Iterable[RecordView], query: RecordQuery, decoder: RecordDecoder | None = None
) -> Iterator[tuple[object, ...]]:
    """Yield rows of a file; a null key or value is an empty cell, and a text that is cut says so. `decoder`: one with
    more time than a page has.
    """
    decoder = decoder or RecordDecoder(topic)
    for record in records:
        shown = ShownRecord(record, query.shown_as, WHOLE_LENGTH_MAX, decoder, query.columns)
        at = None if record.at_ms is None else utc(record.at_ms) or record.at_ms
        key = None if record.key is None else _whole(shown.key) if record.key else ""
        value = None if record.value is None else _whole(shown.value) if record.value else ""
        headers = [f"{name}={_whole(text)}" for name, text in shown.headers]
        yield (record.partition, record.offset, at, key, value, headers, record.size_bytes, *shown.cells)


def _whole(text: Text) -> str:
    return f"{text.text}… (cut: {text.size_bytes} bytes in all)" if text.is_cut else text.text


@dataclass(frozen=True, slots=True)
class DrawnBar:
    bar: HistogramBar
    #: Out of 100; what is not nothing is seen.
    height: float

    @property
    def top(self) -> float:
        return 100 - self.height

    @property
    def begins(self) -> datetime | None:
        return utc(self.bar.from_ms)


def drawn(histogram: Histogram) -> list[DrawnBar]:
    largest = max(histogram.largest, 1)
    return [DrawnBar(bar, max(100 * bar.count / largest, 3) if bar.count else 0) for bar in histogram.bars]

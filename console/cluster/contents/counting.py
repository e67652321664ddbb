"""What some thousand records have in common, counted as they come, and bounded whatever they are."""

import time
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from console.cluster.contents.estimates import Distinct, Frequent, Sizes, hash_of
from console.cluster.contents.fields import Fields
from console.cluster.contents.order import Order
from console.cluster.records.columns import parse_document
from console.cluster.records.decoders import RecordDecoder
from console.cluster.records.text import document_text, text_of
from console.kit.gateway.records.interface import RecordView

#: Records whose bytes are looked into, spread over what is read, and the time for that: the web process does it.
DOCUMENTS_MAX = 5_000
DOCUMENT_SECONDS = 10.0
KEYS_SHOWN = 20
KEY_BYTES_KEPT = 1_024
HEADER_NAMES_MAX = 200
FORMATS_MAX = 50
EXAMPLE_LENGTH = 160
_PARTS = ("key", "value")


class Contents:
    """`expected`: records that will come at most; of them every so many is looked into."""

    def __init__(self, topic: str, expected: int, now_s: Callable[[], float] = time.monotonic):
        self._topic, self._now_s = topic, now_s
        self._stride = max(1, -(-expected // DOCUMENTS_MAX))
        self._left_s = DOCUMENT_SECONDS
        self._looked_into = 0
        self.records = self.tombstones = self.empty_values = self.no_key = self.with_headers = 0
        self._distinct, self._frequent, self._order = Distinct(), Frequent(), Order()
        self._sizes = {name: Sizes() for name in ("key", "value", "record")}
        self._headers: Counter[str] = Counter()
        self._headers_left_out = 0
        self._formats = {part: Counter[str]() for part in _PARTS}
        self._fields = {part: Fields() for part in _PARTS}

    def add(self, records: Iterable[RecordView]) -> None:
        """Count the records, each partition's in order."""
        decoder = RecordDecoder(self._topic)
        for record in records:
            self._count(record)
            if (self.records - 1) % self._stride == 0 and self._left_s > 0:
                began_s = self._now_s()
                self._looked_into += 1
                for part in _PARTS:
                    self._look_into(part, getattr(record, part), decoder)
                self._left_s -= self._now_s() - began_s

    def _count(self, record: RecordView) -> None:
        self.records += 1
        self._order.add(record)
        self._sizes["record"].add(record.size_bytes)
        if record.key is None:
            self.no_key += 1
        else:
            hashed = hash_of(record.key)
            self._distinct.add(hashed)
            self._frequent.add(hashed, record.key[:KEY_BYTES_KEPT])
            self._sizes["key"].add(len(record.key))
        if record.value is None:
            self.tombstones += 1
        else:
            self.empty_values += not record.value
            self._sizes["value"].add(len(record.value))
        self.with_headers += bool(record.headers)
        for name in {name for name, _ in record.headers}:
            if name in self._headers or len(self._headers) < HEADER_NAMES_MAX:
                self._headers[name] += 1
            else:
                self._headers_left_out += 1

    def _look_into(self, part: str, data: bytes | None, decoder: RecordDecoder) -> None:
        written, document = read(part, data, decoder)
        formats = self._formats[part]
        formats[written if written in formats or len(formats) < FORMATS_MAX else "others"] += 1
        if isinstance(document, dict | list):
            self._fields[part].add(document)

    def as_json(self) -> dict[str, Any]:
        """Return the profile as JSON."""
        return {
            "records": self.records,
            "looked_into": self._looked_into,
            "tombstones": self.tombstones,
            "empty_values": self.empty_values,
            "with_headers": self.with_headers,
            "keys": self._keys(),
            "sizes": {name: dict(sizes.figures()) for name, sizes in self._sizes.items()},
            "headers": [[name[:EXAMPLE_LENGTH], count] for name, count in self._headers.most_common()],
            "headers_left_out": self._headers_left_out,
            "formats": {part: [list(format_) for format_ in self._formats[part].most_common()] for part in _PARTS},
            "fields": {part: self._fields_of(self._fields[part]) for part in _PARTS},
            "order": {name: item for name, item in vars(self._order).items() if not name.startswith("_")},
        }

    def _keys(self) -> dict[str, Any]:
        decoder = RecordDecoder(self._topic)
        top = [[_preview(decoder, key), count] for key, count in self._frequent.top(KEYS_SHOWN)]
        return {
            "none": self.no_key,
            "distinct": self._distinct.count,
            "is_exact": self._distinct.is_exact,
            "top": top,
            "missed": self._frequent.missed,
        }

    @staticmethod
    def _fields_of(fields: Fields) -> dict[str, Any]:
        rows = [
            [path, field.count, [list(kind) for kind in field.types.most_common()], field.example]
            for path, field in fields.by_path()
        ]
        return {"documents": fields.documents, "left_out": fields.left_out, "rows": rows}


def read(part: str, data: bytes | None, decoder: RecordDecoder) -> tuple[str, object]:
    """Return the format of `data`, and its content if that is a document."""
    if not data:
        return ("null" if data is None else "empty"), None
    decoded = decoder.decode(part, data)
    if decoded is not None:
        return decoded.note[:EXAMPLE_LENGTH], parse_document(decoded.text)
    shown = text_of(data, "auto", EXAMPLE_LENGTH)
    names = {"json": "JSON", "string": "text", "hex": "bytes"}
    written = names.get(shown.kind, shown.kind)
    if shown.note and "control character" not in shown.note:
        written = shown.note if shown.kind == "json" else f"{shown.note}; {written}"
    return written, parse_document(document_text(data))


def _preview(decoder: RecordDecoder, key: bytes) -> str:
    decoded = decoder.decode("key", key)
    if decoded is not None and decoded.text:
        return " ".join(decoded.text[: 2 * EXAMPLE_LENGTH].split())[:EXAMPLE_LENGTH]
    return text_of(key, "auto", 8 * EXAMPLE_LENGTH).preview

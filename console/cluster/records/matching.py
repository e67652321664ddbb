"""Which records a search, a tail's filter or a file is for. What matches is what the page shows of a record.

A key or a value is searched as its bytes, and as the page shows it: decoded by its schema, by a file or an installed
decoder, unpacked, and laid out. An expression is given the decoded document.
"""

import re
from typing import Protocol

from console.cluster.records.decoders import DecodedText, RecordDecoder
from console.cluster.records.expression import Expression
from console.cluster.records.text import CONTROL, plain_bytes, text_of
from console.kit.gateway.records.interface import RecordView

#: Decoding of one read of a search, a thousand records at most; the search's own time bounds all of them.
DECODING_SECONDS = 20.0
SCHEMA_LOOKUPS = 100
#: Letters for which the layout of JSON and XML makes a difference; a text without one is found in the bytes.
_LAID_OUT = re.compile(r"[\s{}\[\],:<>]")
_WHITE_SPACE = re.compile(r"\s+")


class Matcher(Protocol):
    """Whether a record matches. `note` names the records for which it could not be decided as the page shows them."""

    def __call__(self, record: RecordView) -> bool: ...

    @property
    def note(self) -> str: ...

    @property
    def undecoded(self) -> str:
        """The part of `note` on records whose decoder failed; empty if none did."""
        ...

    def renew(self) -> None:
        """Give the next records their own time for decoding."""
        ...

    def close(self) -> None: ...


def matcher(topic: str, search: str, searched: str) -> Matcher:
    """Return a matcher. `searched` is a key of SEARCHED (`query.py`). Raises BadExpression."""
    if search and searched == "cel":
        return ExpressionMatcher(topic, search)
    return EVERY_RECORD if not search else TextMatcher(topic, search, searched)


class _EveryRecord:
    note = undecoded = ""

    def __call__(self, record: RecordView) -> bool:
        return True

    def renew(self) -> None:
        return

    def close(self) -> None:
        return


EVERY_RECORD: Matcher = _EveryRecord()


class DecodedParts:
    """Keys and values of one topic as the page shows them, and a count of those that could not be decoded."""

    def __init__(self, topic: str):
        self._decoder = RecordDecoder(topic, seconds=DECODING_SECONDS, lookups=SCHEMA_LOOKUPS)
        self._last_failed: tuple[int, int] | None = None
        self._failed_count = 0
        self._first_failure = ""

    @property
    def note(self) -> str:
        if not self._failed_count:
            return ""
        count = "1 record" if self._failed_count == 1 else f"{self._failed_count:,} records"
        return f"{count} could not be decoded, and only the bytes were searched; the first at {self._first_failure}"

    def renew(self) -> None:
        self._decoder.renew()

    def decoded(self, part: str, record: RecordView) -> DecodedText | None:
        """Return what a decoder makes of the part, or None where none takes it."""
        decoded = self._decoder.decode(part, getattr(record, part))
        if decoded is not None and not decoded.text:
            self._count_failure(record, decoded.note)
        return decoded

    def _count_failure(self, record: RecordView, reason: str) -> None:
        place = (record.partition, record.offset)
        if place == self._last_failed:
            return  # its other part
        self._last_failed = place
        self._failed_count += 1
        where = f"partition {record.partition} offset {record.offset}: {reason}"
        self._first_failure = self._first_failure or where


class ExpressionMatcher:
    """Raises BadExpression on construction and when called."""

    def __init__(self, topic: str, expression: str):
        self._parts = DecodedParts(topic)
        self._expression = Expression(expression)

    def __call__(self, record: RecordView) -> bool:
        return self._expression(record, self._document("key", record), self._document("value", record))

    def _document(self, part: str, record: RecordView) -> bytes | None:
        data: bytes | None = getattr(record, part)
        decoded = self._parts.decoded(part, record)
        if decoded is not None and decoded.text:
            return decoded.text.encode(errors="replace")
        return plain_bytes(data) if data and decoded is None else data

    @property
    def note(self) -> str:
        return "; ".join(filter(None, (self._expression.note, self.undecoded)))

    @property
    def undecoded(self) -> str:
        return self._parts.note

    def renew(self) -> None:
        self._parts.renew()

    def close(self) -> None:
        self._expression.close()


class TextMatcher:
    """Whether a record holds the text, in any letter case. The text is never read as a pattern."""

    def __init__(self, topic: str, search: str, searched: str):
        self._needle, self._searched = search.lower(), searched
        self._is_laid_out = _LAID_OUT.search(self._needle) is not None
        self._bare_needle = _WHITE_SPACE.sub("", self._needle)
        self._parts = DecodedParts(topic)

    def __call__(self, record: RecordView) -> bool:
        searched = self._searched
        return (
            (searched in ("any", "key") and self._holds("key", record))
            or (searched in ("any", "value") and self._holds("value", record))
            or (
                searched in ("any", "header")
                and any(self._needle in name.lower() or self._shows(value) for name, value in record.headers)
            )
        )

    def _holds(self, part: str, record: RecordView) -> bool:
        data: bytes | None = getattr(record, part)
        if not data:
            return False
        decoded = self._parts.decoded(part, record)
        if decoded is None or not decoded.text:
            return self._shows(data)
        return (
            self._shows(decoded.text.encode(errors="replace")) or self._needle in data.decode(errors="replace").lower()
        )

    def _shows(self, data: bytes | None) -> bool:
        """Return whether the text is in the bytes, or in what the page makes of them."""
        if not data:
            return False
        text = data.decode(errors="replace").lower()
        if self._needle in text:
            return True
        is_plain = "\ufffd" not in text and CONTROL.search(text) is None
        if is_plain and not (self._is_laid_out and self._bare_needle in _WHITE_SPACE.sub("", text)):
            return False
        return self._needle in text_of(data, "auto").text.lower()

    @property
    def note(self) -> str:
        return self.undecoded

    @property
    def undecoded(self) -> str:
        return self._parts.note

    def renew(self) -> None:
        self._parts.renew()

    def close(self) -> None:
        return

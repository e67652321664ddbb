"""Where an error quotes what a config provider returned, its text shows the reference instead.

Statuses, dead letters and logs have more readers than a worker's secrets. `traces.py` is where errors become texts: it
hides what the references of the current thread's connector or task stand for (`redacting`), also parts of a value and
its usual encodings. Validation shows no such text at all (`herder/validation.py`): its caller chooses both the
references and what errors quote, so a replacement would answer guesses.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple
from urllib.parse import quote, quote_plus

_REFERENCE = re.compile(r"\$\{[^}]*\}")
#: A run of so many characters of a value is a part of it; shorter ones are in too many words by chance.
PART_LENGTH = 6
#: Shorter values are replaced where they stand alone: not within a word or number.
_WITHIN_WORDS_MIN = 4


#: `Providers.resolve`: a configuration without its references. Raises ConfigError.
Resolve = Callable[[Mapping[str, str]], dict[str, str]]


class _Resolved(NamedTuple):
    value: str  #: in lower case
    reference: str


def _lower(text: str) -> str:
    """Return the text in lower case, with as many characters: URLs and headers are often quoted so."""
    lower = text.lower()
    return lower if len(lower) == len(text) else "".join(c if len(c.lower()) != 1 else c.lower() for c in text)


def _encodings(value: str) -> Iterator[str]:
    """Yield how texts quote a value: as it is, as Python, JSON or a URL writes it."""
    text = value.encode("utf-8", "surrogatepass")
    yield from (value, repr(value)[1:-1], repr(text)[2:-1], json.dumps(value)[1:-1], quote(text, safe=""))
    yield quote_plus(text)


def _entries(value: str) -> Iterator[str]:
    """Yield what is no longer than a part: the value, its lines and the entries of a list."""
    for entry in (value, *value.split(","), *value.splitlines()):
        yield from (form for form in (entry, entry.strip()) if len(form) < PART_LENGTH)


def _longest_first(values: Mapping[str, str]) -> list[_Resolved]:
    named = (_Resolved(value, reference) for value, reference in values.items() if value.strip())
    return sorted(named, key=lambda resolved: -len(resolved.value))


def _places_of(text: str, value: str) -> Iterator[tuple[int, int]]:
    start = text.find(value)
    while start >= 0:
        if _stands_alone(text, start, start + len(value)):
            yield start, start + len(value)
        start = text.find(value, start + len(value))


def _short_ones(text: str, values: Mapping[str, str]) -> Iterator[tuple[tuple[int, int], str]]:
    """Yield where the text has one of the short values, and the reference for it."""
    for length in sorted({len(value) for value in values}, reverse=True):
        for start in range(len(text) - length + 1):
            reference = values.get(text[start : start + length])
            if reference is not None and _stands_alone(text, start, start + length):
                yield (start, start + length), reference


def _stands_alone(text: str, start: int, end: int) -> bool:
    is_long = end - start >= _WITHIN_WORDS_MIN
    return is_long or not (_is_word(text, start - 1) or _is_word(text, end))


def _is_word(text: str, at: int) -> bool:
    return 0 <= at < len(text) and text[at].isalnum()


def _parts_of(text: str) -> dict[str, list[int]]:
    """Return where each run of PART_LENGTH characters begins in the text."""
    places: dict[str, list[int]] = {}
    for at in range(len(text) - PART_LENGTH + 1):
        places.setdefault(text[at : at + PART_LENGTH], []).append(at)
    return places


def _common_runs(parts: Mapping[str, list[int]], value: str) -> Iterator[tuple[int, int]]:
    """Yield where a text has a part of the value. A value may be a megabyte, so it is cut one part at a time.

    A part that the value has again and again is looked for once: each of its places takes a step.
    """
    seen: set[str] = set()
    for at in range(len(value) - PART_LENGTH + 1):
        part = value[at : at + PART_LENGTH]
        if part in parts and part not in seen and any(letter.isalnum() for letter in part):
            seen.add(part)
            yield from ((start, start + PART_LENGTH) for start in parts[part])


def _mark(marks: list[str | None], places: Iterable[tuple[int, int]], reference: str) -> None:
    for start, end in places:
        for at in range(start, end):
            marks[at] = marks[at] or reference


def _joined(text: str, marks: list[str | None]) -> Iterator[str]:
    before = None
    for letter, reference in zip(text, marks, strict=True):
        if reference is None:
            yield letter
        elif reference != before:
            yield reference
        before = reference


class Redaction:
    """The values that the references of configurations stand for."""

    def __init__(self, resolve: Resolve, *configs: Mapping[str, str]):
        """configs: with their references. Raises ConfigError, as `resolve` does."""
        whole: dict[str, str] = {}
        single: dict[str, str] = {}
        for config in configs:
            changed = {text: value for key, value in resolve(config).items() if (text := config[key]) != value}
            whole |= {_lower(value): text for text, value in changed.items()}
            references = dict.fromkeys(name for text in changed for name in _REFERENCE.findall(text))
            for reference, value in resolve({name: name for name in references}).items():
                if value != reference:
                    single |= {_lower(form): reference for form in _encodings(value)}
        #: Longer ones first: one may be part of another.
        self._whole = _longest_first(whole)
        self._single = _longest_first(single)
        self._short = {form: name for value, name in single.items() for form in _entries(value) if form.strip()}

    def hide(self, text: str) -> str:
        """Return the text with references in place of values."""
        if not self._whole:
            return text
        folded = _lower(text)
        marks: list[str | None] = [None] * len(text)
        parts = _parts_of(folded)
        for value, reference in self._whole:
            _mark(marks, _places_of(folded, value), reference)
        for value, reference in self._single:
            _mark(marks, _common_runs(parts, value), reference)
        for place, reference in _short_ones(folded, self._short):
            _mark(marks, [place], reference)
        return "".join(_joined(text, marks))


#: Of a configuration without references.
NO_REFERENCES = Redaction(dict)
_current: ContextVar[Redaction] = ContextVar("redaction", default=NO_REFERENCES)


@contextmanager
def redacting(redaction: Redaction) -> Iterator[None]:
    """Hide the values of the redaction in all error texts that this thread makes meanwhile."""
    token = _current.set(redaction)
    try:
        yield
    finally:
        _current.reset(token)


def hide(text: str) -> str:
    """Return the text without values of the current thread's connector or task."""
    return _current.get().hide(text)

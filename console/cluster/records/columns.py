"""Columns of a table of records: paths into their JSON, as `value.order.id`, `key.region` or `headers.trace`. Pure.

The words are those of the search by expression. What stands under a path is shown as it is written, letter by letter:
parsing keeps numbers as their digits.
"""

import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from console.kit.common.foreign_json import parse_foreign_json

COLUMNS_MAX = 8
PATH_LENGTH_MAX = 200
#: Letters of one cell.
CELL_LENGTH_MAX = 120
_CELL_DEPTH_MAX = 20
OFFERED_MAX = 40
#: Columns of a page that names none.
DEFAULT_MAX = 4
_OFFERED_DEPTH = 3
_OFFERED_KEYS_MAX = 50
_PARTS = ("key", "value", "headers")
_NOTHING = object()
_STEP = re.compile(r"\.([^.\[\]]+)|\[([0-9]{1,6})\]")


@dataclass(frozen=True, slots=True)
class RecordColumn:
    """`part` is key, value or headers; `steps` lead down from there, by name or by number."""

    text: str
    part: str
    steps: tuple[str | int, ...]


def parse_columns(texts: Iterable[str]) -> tuple[RecordColumn, ...]:
    """Return the first COLUMNS_MAX valid paths, each once; a path that names no part of the record is of its value."""
    columns: dict[str, RecordColumn] = {}
    for text in texts:
        column = parse_path(text.strip())
        if column is not None and len(columns) < COLUMNS_MAX:
            columns.setdefault(column.text, column)
    return tuple(columns.values())


def parse_path(text: str) -> RecordColumn | None:
    """Parse a column's path; one without a known first part is of the value. None if invalid."""
    if not text or len(text) > PATH_LENGTH_MAX or not text.isprintable():
        return None
    part = re.split(r"[.\[]", text, maxsplit=1)[0]
    if part not in _PARTS:
        part, text = "value", f"value{'' if text.startswith('[') else '.'}{text}"
    rest, steps, at = text[len(part) :], [], 0
    while at < len(rest):
        step = _STEP.match(rest, at)
        if step is None:
            return None
        steps.append(step[1] if step[1] is not None else int(step[2]))
        at = step.end()
    return RecordColumn(text, part, tuple(steps)) if steps else None


def parse_document(text: str) -> object:
    """Parse JSON; None for anything else. Numbers are texts of their digits."""
    try:
        return parse_foreign_json(text, parse_int=Digits, parse_float=Digits, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is no JSON")


class Digits(str):
    """A number as it is written."""

    __slots__ = ()


def cell_at(document: object, steps: Iterable[str | int]) -> str:
    """Return the value at the path, shortened; empty if there is none."""
    for step in steps:
        if isinstance(document, dict):
            document = document.get(step, _NOTHING)
        elif isinstance(document, list) and isinstance(step, int):
            document = document[step] if step < len(document) else _NOTHING
        else:
            return ""
    if document is _NOTHING:
        return ""
    return _shortened(document)


def offered_paths(documents: Iterable[tuple[str, object]]) -> list[str]:
    """Return paths to choose from, the most frequent first; `documents` are (part, document)."""
    counts: Counter[str] = Counter()
    for part, document in documents:
        counts.update(set(_paths_of(document, part, 1)))
    return [path for path, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:OFFERED_MAX]]


def default_paths(documents: Sequence[object]) -> list[str]:
    """Return paths into the values that most of them have, in their order there; none unless most are JSON objects."""
    objects = [document for document in documents if isinstance(document, dict) and document]
    if 2 * len(objects) <= len(documents):
        return []
    counts = Counter(path for document in objects for path in dict.fromkeys(_paths_of(document, "value", 1)))
    return [path for path, count in counts.items() if 2 * count > len(objects)][:DEFAULT_MAX]


def _paths_of(document: object, path: str, depth: int) -> Iterator[str]:
    if not isinstance(document, dict) or depth > _OFFERED_DEPTH:
        return
    for name in list(document)[:_OFFERED_KEYS_MAX]:
        inner = f"{path}.{name}"
        if parse_path(inner) is None or re.search(r"[.\[\]]", name):
            continue
        if isinstance(document[name], dict) and document[name]:
            yield from _paths_of(document[name], inner, depth + 1)
        else:
            yield inner


def _shortened(value: object) -> str:
    text = str(value) if isinstance(value, str) else _beginning(value)
    line = " ".join(text[: 2 * CELL_LENGTH_MAX].split())
    return line if len(line) <= CELL_LENGTH_MAX else f"{line[:CELL_LENGTH_MAX]}…"


def written(document: object) -> str:
    """Format a parsed JSON document, its numbers unchanged. Raises RecursionError."""
    return "".join(_tokens(document, 0, sys.maxsize))


def _beginning(value: object) -> str:
    """Return the value's beginning as JSON, as far as a cell has room for it."""
    text = ""
    for token in _tokens(value, 0, _CELL_DEPTH_MAX):
        text += token
        if len(text) > CELL_LENGTH_MAX:
            break
    return text


def _tokens(value: object, depth: int, depth_max: int) -> Iterator[str]:
    if depth > depth_max:
        yield "…"
    elif isinstance(value, dict):
        for number, (name, inner) in enumerate(value.items()):
            yield f"{', ' if number else '{'}{json.dumps(name, ensure_ascii=False)}: "
            yield from _tokens(inner, depth + 1, depth_max)
        yield "}" if value else "{}"
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield ", " if number else "["
            yield from _tokens(inner, depth + 1, depth_max)
        yield "]" if value else "[]"
    else:
        yield str(value) if isinstance(value, Digits) else json.dumps(value, ensure_ascii=False)

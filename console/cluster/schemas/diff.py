"""Two versions side by side, line by line. Pure."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

from console.kit.common.foreign_json import parse_foreign_json

#: Of each side; comparing takes the product of both at worst.
LINES_MAX = 1_500
LINE_LENGTH_MAX = 2_000


@dataclass(frozen=True, slots=True)
class DiffRow:
    """One row of the diff: `kind` is same, changed, gone or come; a number is None if the side lacks the line."""

    kind: str
    old_number: int | None
    old: str
    new_number: int | None
    new: str


def laid_out(text: str) -> str:
    """Lay JSON out over several lines; other text stays as it is."""
    try:
        return json.dumps(parse_foreign_json(text), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return text


def rows_of(old: str, new: str) -> list[DiffRow]:
    one, other = _lines(old), _lines(new)
    diff_rows: list[DiffRow] = []
    for tag, at, to, new_at, new_to in SequenceMatcher(None, one, other, autojunk=True).get_opcodes():
        diff_rows += _pairs("same" if tag == "equal" else "changed", one, range(at, to), other, range(new_at, new_to))
    return diff_rows


def is_cut(old: str, new: str) -> bool:
    return max(len(old.splitlines()), len(new.splitlines())) > LINES_MAX


def _lines(text: str) -> list[str]:
    return [line[:LINE_LENGTH_MAX] for line in text.splitlines()[:LINES_MAX]]


def _pairs(kind: str, one: list[str], olds: range, other: list[str], news: range) -> Iterator[DiffRow]:
    for step in range(max(len(olds), len(news))):
        has_old, has_new = step < len(olds), step < len(news)
        yield DiffRow(
            kind if has_old and has_new else "gone" if has_old else "come",
            olds[step] + 1 if has_old else None,
            one[olds[step]] if has_old else "",
            news[step] + 1 if has_new else None,
            other[news[step]] if has_new else "",
        )

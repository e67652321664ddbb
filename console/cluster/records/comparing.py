"""Two texts beside one another, line by line, with what they share left out but for a few lines around. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest

#: Of each text; finding what they share takes as long as the product.
LINES_MAX = 1_000
LINE_LENGTH_MAX = 500
_AROUND = 3


@dataclass(frozen=True, slots=True)
class Pair:
    """`kind` is same, changed, left, right, or skipped: then `count` lines are left out."""

    kind: str
    left: str = ""
    right: str = ""
    count: int = 0


@dataclass(frozen=True, slots=True)
class RecordComparison:
    pairs: tuple[Pair, ...]
    #: One of them has more lines than were looked at.
    is_cut: bool

    @property
    def is_same(self) -> bool:
        return not self.is_cut and all(pair.kind in ("same", "skipped") for pair in self.pairs)


def compare(left: str, right: str) -> RecordComparison:
    lines = [_lines(text) for text in (left, right)]
    is_cut = any(len(line) > LINES_MAX for line in lines)
    return RecordComparison(tuple(_pairs(lines[0][:LINES_MAX], lines[1][:LINES_MAX])), is_cut)


def _lines(text: str) -> list[str]:
    return [line if len(line) <= LINE_LENGTH_MAX else f"{line[:LINE_LENGTH_MAX]}…" for line in text.split("\n")]


def _pairs(left: list[str], right: list[str]) -> Iterator[Pair]:
    operations = SequenceMatcher(None, left, right, autojunk=False).get_opcodes()
    for number, (operation, left_at, left_end, right_at, right_end) in enumerate(operations):
        if operation == "equal":
            yield from _shared(left[left_at:left_end], number > 0, number < len(operations) - 1)
        else:
            for old, new in zip_longest(left[left_at:left_end], right[right_at:right_end]):
                kind = "left" if new is None else "right" if old is None else "changed"
                yield Pair(kind, old or "", new or "")


def _shared(lines: list[str], is_behind: bool, is_before: bool) -> Iterator[Pair]:
    """Yield the first lines behind a difference and the last before one."""
    head, tail = _AROUND if is_behind else 0, _AROUND if is_before else 0
    skipped = len(lines) - head - tail
    if skipped <= _AROUND:
        yield from (Pair("same", line, line) for line in lines)
        return
    yield from (Pair("same", line, line) for line in lines[:head])
    yield Pair("skipped", count=skipped)
    yield from (Pair("same", line, line) for line in lines[len(lines) - tail :])

"""A character class in brackets: unions, intersections and negations become one set of code points. Pure."""

from dataclasses import dataclass, replace
from typing import Protocol

from broker.common.java.characters import (
    Ranges,
    complement,
    intersection,
    normalized,
    union,
    with_other_case,
)

_LETTERS = {
    "i": "ignore_case",
    "s": "dotall",
    "m": "multiline",
    "x": "comments",
    "u": "unicode_case",
    "d": "unix_lines",
}


class PatternError(ValueError):
    """A text that is no pattern of Java's."""


@dataclass(frozen=True)
class Flags:
    """The flags that hold at a place of a pattern."""

    ignore_case: bool = False
    dotall: bool = False
    multiline: bool = False
    comments: bool = False
    unicode_case: bool = False
    unix_lines: bool = False

    def with_letter(self, letter: str, is_on: bool) -> "Flags":
        """Raises PatternError for a letter that is no flag."""
        if letter not in _LETTERS:
            raise PatternError(f"Unknown inline modifier {letter!r}")
        return replace(self, **{_LETTERS[letter]: is_on})


class PatternText(Protocol):
    """The pattern that is read, at the place where it is read."""

    at: int
    flags: Flags

    def peek(self, ahead: int = 0) -> str: ...

    def take(self) -> str: ...

    def rest(self, length: int) -> str: ...

    def escaped(self, char: str) -> str | Ranges: ...


def read_class(text: PatternText, is_nested: bool = True) -> Ranges:
    """Return the set behind a `[`, and pass its `]`; not `is_nested`: what follows `&&`, up to it."""
    is_negated = is_nested and text.peek() == "^"
    if is_negated:
        text.at += 1
    ranges: Ranges | None = None
    while True:
        char = text.peek()
        if char == "]" and ranges is not None:
            text.at += is_nested
            return complement(ranges) if is_negated else ranges
        if char == "[":
            text.at += 1
            added = read_class(text)
        elif text.rest(2) == "&&":
            text.at += 2
            right = _right_side(text)
            if right is None and ranges is None:
                raise PatternError("Bad class syntax")
            ranges = right if ranges is None else ranges if right is None else intersection(ranges, right)
            continue
        else:
            added = _item(text)
        ranges = added if ranges is None else union(ranges, added)


def _right_side(text: PatternText) -> Ranges | None:
    right: Ranges | None = None
    while (char := text.peek()) not in ("]", "&", ""):
        if char == "[":
            text.at += 1
            added = read_class(text)
        else:
            added = read_class(text, is_nested=False)
        right = added if right is None else union(right, added)
    return right


def _item(text: PatternText) -> Ranges:
    first = _character(text)
    if not isinstance(first, str):
        return first
    last = first
    if text.peek() == "-" and text.peek(1) not in ("[", "]", ""):
        text.at += 1
        end = _character(text)
        if not isinstance(end, str) or end < first:
            raise PatternError("Illegal character range")
        last = end
    ranges: Ranges = ((ord(first), ord(last)),)
    return with_other_case(ranges, text.flags.unicode_case) if text.flags.ignore_case else ranges


def _character(text: PatternText) -> str | Ranges:
    char = text.take()
    return text.escaped(text.take()) if char == "\\" else char


def written(ranges: Ranges) -> str:
    """Return a set as Python's `re` writes it, the shorter of itself and what it leaves out."""
    if not ranges:
        return "(?!)"
    left_out = complement(ranges)
    if not left_out:
        return r"[\x00-\U0010ffff]"
    if ranges == normalized([ranges[0]]) and ranges[0][0] == ranges[0][1]:
        return f"[{_point(ranges[0][0])}]"
    is_negated = len(left_out) < len(ranges)
    pairs = left_out if is_negated else ranges
    return f"[{'^' * is_negated}{''.join(_range(*pair) for pair in pairs)}]"


def _range(first: int, last: int) -> str:
    return _point(first) if first == last else f"{_point(first)}-{_point(last)}"


def _point(point: int) -> str:
    char = chr(point)
    if char.isascii() and char.isalnum():
        return char
    return f"\\x{point:02x}" if point < 0x100 else f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"

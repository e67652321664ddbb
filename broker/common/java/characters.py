"""Sets of characters as java.util.regex.Pattern names them: POSIX classes, categories, scripts by their names. Pure."""

import sys
import unicodedata
from collections.abc import Callable
from functools import cache

#: Sorted, not touching each other: (first, last) code points.
Ranges = tuple[tuple[int, int], ...]
ALL: Ranges = ((0, sys.maxunicode),)
DIGIT: Ranges = ((0x30, 0x39),)
WORD: Ranges = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
SPACE: Ranges = ((0x09, 0x0D), (0x20, 0x20))
LINE_ENDS: Ranges = ((0x0A, 0x0A), (0x0D, 0x0D), (0x85, 0x85), (0x2028, 0x2029))
VERTICAL: Ranges = ((0x0A, 0x0D), (0x85, 0x85), (0x2028, 0x2029))
HORIZONTAL: Ranges = (
    *((0x09, 0x09), (0x20, 0x20), (0xA0, 0xA0), (0x1680, 0x1680), (0x180E, 0x180E), (0x2000, 0x200A)),
    *((0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000)),
)
_POSIX: dict[str, Ranges] = {
    "Lower": ((0x61, 0x7A),),
    "Upper": ((0x41, 0x5A),),
    "ASCII": ((0, 0x7F),),
    "Alpha": ((0x41, 0x5A), (0x61, 0x7A)),
    "Digit": DIGIT,
    "Alnum": ((0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A)),
    "Punct": ((0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E)),
    "Graph": ((0x21, 0x7E),),
    "Print": ((0x20, 0x7E),),
    "Blank": ((0x09, 0x09), (0x20, 0x20)),
    "Cntrl": ((0, 0x1F), (0x7F, 0x7F)),
    "XDigit": ((0x30, 0x39), (0x41, 0x46), (0x61, 0x66)),
    "Space": SPACE,
}
#: Properties that are unions of general categories; others are not known here.
_OF_CATEGORIES = {
    "L1": "",
    "LC": "Lu Ll Lt",
    "LD": "Lu Ll Lt Lm Lo Nd",
    "javaLetter": "L",
    "javaDigit": "Nd",
    "IsLetter": "L",
    "javaLetterOrDigit": "L Nd",
    "IsDigit": "Nd",
    "IsPunctuation": "P",
    "IsControl": "Cc",
    "IsTitlecase": "Lt",
    "javaTitleCase": "Lt",
    "javaSpaceChar": "Z",
}


def normalized(ranges: list[tuple[int, int]]) -> Ranges:
    """Return the ranges sorted, those that touch joined."""
    joined: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(last, joined[-1][1]))
        else:
            joined.append((first, last))
    return tuple(joined)


def union(one: Ranges, other: Ranges) -> Ranges:
    return normalized([*one, *other])


def complement(ranges: Ranges) -> Ranges:
    """Return every other code point."""
    begins = [0, *(last + 1 for _, last in ranges)]
    ends = [*(first - 1 for first, _ in ranges), sys.maxunicode]
    return tuple((begin, end) for begin, end in zip(begins, ends, strict=True) if begin <= end)


def intersection(one: Ranges, other: Ranges) -> Ranges:
    return complement(union(complement(one), complement(other)))


def with_other_case(ranges: Ranges, is_unicode: bool) -> Ranges:
    """Return the set with the other case of its letters: of ASCII's, or of all."""
    if is_unicode:
        added = [(other, other) for first, last in ranges for other in _other_cases(first, last)]
        return normalized([*ranges, *added])
    added = []
    for first, last in ranges:
        for begin, end, step in ((0x41, 0x5A, 32), (0x61, 0x7A, -32)):
            if first <= end and last >= begin:
                added.append((max(first, begin) + step, min(last, end) + step))
    return normalized([*ranges, *added])


def _other_cases(first: int, last: int) -> list[int]:
    others = []
    for point, folded in _cased():
        if first <= point <= last:
            others += [other for other in _by_folded()[folded] if other != point]
    return others


@cache
def _cased() -> tuple[tuple[int, str], ...]:
    points = (point for point in range(0x20000) if chr(point).lower() != chr(point) or chr(point).upper() != chr(point))
    return tuple((point, folded) for point in points if len(folded := chr(point).upper().lower()) == 1)


@cache
def _by_folded() -> dict[str, list[int]]:
    grouped: dict[str, list[int]] = {}
    for point, folded in _cased():
        grouped.setdefault(folded, []).append(point)
    return grouped


@cache
def _categories() -> dict[str, Ranges]:
    """Return all general categories, and the unions that one letter names. Takes a quarter of a second, once."""
    grouped: dict[str, list[tuple[int, int]]] = {}
    for point in range(sys.maxunicode + 1):
        ranges = grouped.setdefault(unicodedata.category(chr(point)), [])
        if ranges and ranges[-1][1] == point - 1:
            ranges[-1] = (ranges[-1][0], point)
        else:
            ranges.append((point, point))
    made = {name: tuple(ranges) for name, ranges in grouped.items()}
    for letter in {name[0] for name in grouped}:
        made[letter] = normalized([pair for name, ranges in grouped.items() if name[0] == letter for pair in ranges])
    return made


def property_named(name: str) -> Ranges | None:
    """Return the set of `\\p{name}`, None where it is not known here."""
    if name in _POSIX:
        return _POSIX[name]
    if name == "L1":
        return ((0, 0xFF),)
    for prefix in ("general_category=", "gc=", "Is"):
        bare = name.removeprefix(prefix)
        if bare != name and bare in _categories():
            return _categories()[bare]
    if name in _categories():
        return _categories()[name]
    if name in _OF_CATEGORIES:
        return normalized([pair for part in _OF_CATEGORIES[name].split() for pair in _categories()[part]])
    return _of_test(name)


@cache
def _of_test(name: str) -> Ranges | None:
    tests: dict[str, Callable[[str], bool]] = {
        "IsAlphabetic": str.isalpha,
        "IsUppercase": str.isupper,
        "IsLowercase": str.islower,
        "javaLowerCase": str.islower,
        "javaUpperCase": str.isupper,
        "IsLatin": lambda char: char.isalpha() and unicodedata.name(char, "").startswith("LATIN "),
        "IsGreek": lambda char: char.isalpha() and unicodedata.name(char, "").startswith("GREEK "),
        "IsCyrillic": lambda char: unicodedata.name(char, "").startswith("CYRILLIC ") and char.isalpha(),
        "IsHan": lambda char: unicodedata.name(char, "").startswith(("CJK UNIFIED ", "CJK COMPATIBILITY IDEO")),
    }
    if name not in tests:
        return None
    test = tests[name]
    return normalized([(point, point) for point in range(sys.maxunicode + 1) if test(chr(point))])

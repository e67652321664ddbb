"""Partitions as people type them: numbers and ranges, `0,3-5`. Pure."""

import re
from collections.abc import Iterable

#: No topic has more.
_COUNT_MAX = 10_000
_PART = re.compile(r"([0-9]{1,6})(?:-([0-9]{1,6}))?")


def parse_partitions(text: str) -> frozenset[int]:
    """Parse partitions: blank names none. ValueError for anything else that is not numbers and ranges with commas
    between.
    """
    numbers: set[int] = set()
    count = 0
    for part in filter(None, (part.strip() for part in text.split(","))):
        match = _PART.fullmatch(part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        count += last - first + 1
        if not first <= last or count > _COUNT_MAX:
            raise ValueError("Numbers and ranges with commas, as 0,3-5; blank for all.")
        numbers.update(range(first, last + 1))
    return frozenset(numbers)


def format_partitions(numbers: Iterable[int]) -> str:
    """Return numbers and ranges as `parse_partitions` reads them: `0,3-5`."""
    ranges: list[list[int]] = []
    for number in sorted(set(numbers)):
        if ranges and number == ranges[-1][-1] + 1:
            ranges[-1][1:] = [number]
        else:
            ranges.append([number])
    return ",".join("-".join(map(str, range_)) for range_ in ranges)

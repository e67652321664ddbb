"""Judges a copy: what went in, what came out, partition by partition and in order. Knows nothing of how it was made."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest

_SHOWN_MAX = 5


def check_copy(wanted: Mapping[int, Sequence[bytes]], data: Mapping[int, Sequence[bytes]], what: str) -> list[str]:
    """I7: each partition of `data` is that of `wanted`, nothing lost, doubled, added or out of order."""
    violations = []
    for partition in sorted(wanted.keys() | data.keys()):
        violations += _compare(wanted.get(partition, ()), data.get(partition, ()), f"I7: {what}-{partition}")
    return violations


def _compare(wanted: Sequence[bytes], data: Sequence[bytes], where: str) -> Iterator[str]:
    expected, there = Counter(wanted), Counter(data)
    lost = list((expected - there).elements())
    added = there - expected
    doubled = [value for value in added if value in expected]
    foreign = [value for value in added if value not in expected]
    for name, values in (("lost", lost), ("more than once", doubled), ("not to be there", foreign)):
        if values:
            yield f"{where}: {len(values)} {name}: {_shown(values)}"
    if expected == there and list(wanted) != list(data):
        at = next(index for index, (one, other) in enumerate(zip_longest(wanted, data)) if one != other)
        yield f"{where}: out of order from the {at}th record on: {_shown(data[at:])} instead of {_shown(wanted[at:])}"


def _shown(values: Sequence[bytes]) -> str:
    return ", ".join(value.decode(errors="replace") for value in values[:_SHOWN_MAX])

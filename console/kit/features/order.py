"""The order of entries that several features declare. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol, TypeVar


class OrderedEntry(Protocol):
    @property
    def key(self) -> str:
        """The name of the entry, which no other entry of its kind has."""
        ...

    @property
    def after(self) -> str:
        """The key of the entry behind which this one is listed; empty: behind the one declared before it."""
        ...


E = TypeVar("E", bound=OrderedEntry)


def in_order(runs: Iterable[Sequence[E]]) -> tuple[E, ...]:
    """Return the entries of all features, whose `runs` come in the order of the features.

    An entry with `after` is listed right behind that entry, with those that its run has behind it. An `after` that
    names no entry, because its feature was left out, counts as none. Raises ValueError for entries that follow each
    other in a circle.
    """
    declared = [list(run) for run in runs]
    keys = {entry.key for run in declared for entry in run}
    first: list[E] = []
    behind: dict[str, list[E]] = {}
    for run in declared:
        listed = first
        for entry in run:
            if entry.after in keys:
                listed = behind.setdefault(entry.after, [])
            listed.append(entry)
    ordered = tuple(_walk(first, behind))
    if behind:
        raise ValueError(
            f"Entries follow each other in a circle, after {', '.join(sorted(behind))}: change one `after`."
        )
    return ordered


def _walk(entries: Iterable[E], behind: dict[str, list[E]]) -> Iterator[E]:
    for entry in entries:
        yield entry
        yield from _walk(behind.pop(entry.key, ()), behind)

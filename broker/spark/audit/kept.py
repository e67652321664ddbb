"""An increment as a state keeps it: where it reaches and which windows it tells of are at hand, the rest is text.

A ledger's `AuditStory` asks for no more than where its increments begin and end, so most of a state is carried from
batch to batch without being looked into. What an increment tells by window, beside its tallies or instead of them, is
merged and cut here whatever it is, as long as it can be added.
"""

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from broker.audit.increment import Increment

#: The fields of an increment that say something by window; some divide it by kind first.
_TOLD = tuple(field.name for field in fields(Increment) if field.default_factory is dict)


@dataclass(slots=True)
class KeptWindows:
    """`windows`, in ascending order, are those it tells of. What it says is text, or read already, or nothing."""

    start: int
    end: int
    windows: tuple[int, ...]
    text: str = ""
    known_increment: Increment | None = None

    @classmethod
    def of(cls, increment: Increment) -> "KeptWindows":
        return cls(increment.start, increment.end, windows_in(increment), "", increment)

    @property
    def newest(self) -> int:
        return self.windows[-1] if self.windows else -1

    def increment(self) -> Increment:
        """Return the increment if it has windows, else None."""
        increment = self.known_increment or Increment.from_bytes(self.text.encode())
        reaches = (increment.start, increment.end) == (self.start, self.end)
        return increment if reaches else replace(increment, start=self.start, end=self.end)

    def as_list(self) -> list[Any]:
        text = self.known_increment.to_bytes().decode() if self.known_increment and self.windows else self.text
        return [self.start, self.end, self.windows, text]

    @classmethod
    def of_list(cls, listed: list[Any]) -> "KeptWindows":
        start, end, windows, text = listed
        return cls(start, end, tuple(windows), text)


def windows_in(increment: Increment) -> tuple[int, ...]:
    return tuple(sorted({window for name in _TOLD for window in _windows(getattr(increment, name))}))


def _windows(counts: Mapping[Any, Any]) -> set[int]:
    kinds = [item for item in counts.values() if isinstance(item, Mapping)]
    return {window for kind in kinds for window in _windows(kind)} if kinds else set(counts)


def cut(increment: Increment, wanted: Callable[[int], bool]) -> Increment:
    """Return the increment with those windows only."""
    if all(map(wanted, windows_in(increment))):
        return increment
    kept: dict[str, Any] = {name: _cut(getattr(increment, name), wanted) for name in _TOLD}
    return replace(increment, **kept)


def _cut(counts: Mapping[Any, Any], wanted: Callable[[int], bool]) -> dict[Any, Any]:
    cut_by_kind = {kind: _cut(item, wanted) for kind, item in counts.items() if isinstance(item, Mapping)}
    if cut_by_kind:
        return {kind: item for kind, item in cut_by_kind.items() if item}
    return {window: item for window, item in counts.items() if wanted(window)}


def joined(first: Increment, second: Increment) -> Increment:
    """Return both increments as one, from the first's start to the second's end."""
    sums = {name: added(getattr(first, name), getattr(second, name)) for name in _TOLD}
    return replace(second, start=first.start, at_ms=max(first.at_ms, second.at_ms), **sums)


def added(one: Any, other: Any) -> Any:
    """Return the sum of two values, mappings key by key; both stay unchanged."""
    if isinstance(one, Mapping):
        return {**one, **other, **{key: added(one[key], other[key]) for key in one.keys() & other.keys()}}
    if hasattr(one, "merge"):
        both = deepcopy(one)
        both.merge(other)
        return both
    return one + other


def reported_by_window(increment: Increment) -> dict[int, dict[str, Any]]:
    """Return window → field → value."""
    by_window: dict[int, dict[str, Any]] = {}
    for name in _TOLD:
        for window, value in _turned(getattr(increment, name)).items():
            by_window.setdefault(window, {})[name] = value
    return by_window


def _turned(counts: Mapping[Any, Any]) -> dict[int, Any]:
    """Return counts by window and then kind, of counts by kind and window."""
    if not any(isinstance(value, Mapping) for value in counts.values()):
        return dict(counts)
    turned: dict[int, Any] = {}
    for kind, by_window in counts.items():
        for window, count in by_window.items():
            turned.setdefault(window, {})[kind] = count
    return turned


def as_plain(value: Any) -> Any:
    """Return values that JSON can hold."""
    if hasattr(value, "as_list"):
        return value.as_list()
    if is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    return {key: as_plain(item) for key, item in value.items()} if isinstance(value, Mapping) else value

"""An increment as a state keeps it: where it reaches and which windows it tells of are at hand, the rest is text.

A ledger's `Story` asks for no more than where its increments begin and end, so most of a state is carried from batch to
batch without being looked into. What an increment tells by window, beside its tallies or instead of them, is merged and
cut here whatever it is, as long as it can be added.
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
    said: Increment | None = None

    @classmethod
    def of(cls, increment: Increment) -> "KeptWindows":
        return cls(increment.start, increment.end, windows_in(increment), "", increment)

    @property
    def newest(self) -> int:
        return self.windows[-1] if self.windows else -1

    def increment(self) -> Increment:
        """Only where it tells of a window."""
        said = self.said or Increment.from_bytes(self.text.encode())
        reaches = (said.start, said.end) == (self.start, self.end)
        return said if reaches else replace(said, start=self.start, end=self.end)

    def as_list(self) -> list[Any]:
        text = self.said.to_bytes().decode() if self.said and self.windows else self.text
        return [self.start, self.end, self.windows, text]

    @classmethod
    def of_list(cls, said: list[Any]) -> "KeptWindows":
        start, end, windows, text = said
        return cls(start, end, tuple(windows), text)


def windows_in(increment: Increment) -> tuple[int, ...]:
    return tuple(sorted({window for name in _TOLD for window in _windows(getattr(increment, name))}))


def _windows(told: Mapping[Any, Any]) -> set[int]:
    kinds = [item for item in told.values() if isinstance(item, Mapping)]
    return {window for kind in kinds for window in _windows(kind)} if kinds else set(told)


def cut(increment: Increment, wanted: Callable[[int], bool]) -> Increment:
    """With what it tells of those windows only."""
    if all(map(wanted, windows_in(increment))):
        return increment
    kept: dict[str, Any] = {name: _cut(getattr(increment, name), wanted) for name in _TOLD}
    return replace(increment, **kept)


def _cut(told: Mapping[Any, Any], wanted: Callable[[int], bool]) -> dict[Any, Any]:
    cut_by_kind = {kind: _cut(item, wanted) for kind, item in told.items() if isinstance(item, Mapping)}
    if cut_by_kind:
        return {kind: item for kind, item in cut_by_kind.items() if item}
    return {window: item for window, item in told.items() if wanted(window)}


def joined(first: Increment, second: Increment) -> Increment:
    """Both as one, which reaches from where the first begins to where the second ends."""
    told = {name: added(getattr(first, name), getattr(second, name)) for name in _TOLD}
    return replace(second, start=first.start, at_ms=max(first.at_ms, second.at_ms), **told)


def added(one: Any, other: Any) -> Any:
    """The sum of what two increments say of the same; both stay what they are."""
    if isinstance(one, Mapping):
        return {**one, **other, **{key: added(one[key], other[key]) for key in one.keys() & other.keys()}}
    if hasattr(one, "merge"):
        both = deepcopy(one)
        both.merge(other)
        return both
    return one + other


def told_by_window(increment: Increment) -> dict[int, dict[str, Any]]:
    """Window → field → what is said."""
    found: dict[int, dict[str, Any]] = {}
    for name in _TOLD:
        for window, said in _turned(getattr(increment, name)).items():
            found.setdefault(window, {})[name] = said
    return found


def _turned(told: Mapping[Any, Any]) -> dict[int, Any]:
    """By window first, what is by kind and window."""
    if not any(isinstance(value, Mapping) for value in told.values()):
        return dict(told)
    found: dict[int, Any] = {}
    for kind, by_window in told.items():
        for window, said in by_window.items():
            found.setdefault(window, {})[kind] = said
    return found


def as_plain(said: Any) -> Any:
    """Return values that JSON can hold."""
    if hasattr(said, "as_list"):
        return said.as_list()
    if is_dataclass(said):
        return {field.name: getattr(said, field.name) for field in fields(said)}
    return {key: as_plain(item) for key, item in said.items()} if isinstance(said, Mapping) else said

"""Which settings of a topic a mirror follows, so that mirrors there and back, in a ring, or of two sources take nothing
back from one another that people have changed. Pure.

A copy that has one mirror, of a topic that is no copy itself, is as its source is, always: what was changed at the copy
is taken back, as Kafka's mirror does. Everywhere else the younger of two values counts, setting by setting: a mirror
writes down what it has seen in its source and in its target and since when (`SeenValue`), and brings a value only where
the target's is older. What differs from the last that was written down has been changed by a person just now. A value
keeps its age on its way from mirror to mirror, so it comes to rest wherever it meets a younger one. Of two that are
equally old, as of topics that differed before there was a mirror, the greater text counts, and a default last.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

#: What is set for a topic itself, by name.
Settings = Mapping[str, str]


class SeenValue(NamedTuple):
    """A value, None for the cluster's default, and since when it is known to be that one; 0: since ever."""

    value: str | None
    since_ms: int


SeenSettings = Mapping[str, SeenValue]
_DEFAULT = SeenValue(None, 0)


class SettingSides(NamedTuple):
    """A topic in the source and its copy in the target, as they are; and what this mirror and those that copy into
    either of both have seen of it before."""

    source: Settings
    target: Settings
    seen_of_source: tuple[SeenSettings, ...]
    seen_of_target: tuple[SeenSettings, ...]
    #: Whether the target's topic is this mirror's alone, and the source's no mirror's.
    is_only_way: bool


class SettingChanges(NamedTuple):
    """What to change in the target, None: back to its default; and what has been seen on both sides then."""

    changes: dict[str, str | None]
    source: dict[str, SeenValue]
    target: dict[str, SeenValue]


def follow(sides: SettingSides, is_excluded: Callable[[str], object], now_ms: int) -> SettingChanges:
    changes = SettingChanges({}, {}, {})
    for name in sorted(_names(sides)):
        if is_excluded(name):
            continue
        there = _seen(name, sides.source.get(name), sides.seen_of_source, now_ms)
        here = _seen(name, sides.target.get(name), sides.seen_of_target, now_ms)
        if there.value == here.value:
            there = here = max(there, here, key=_rank)
        elif sides.is_only_way or _rank(there) > _rank(here):
            changes.changes[name] = there.value
            here = there
        changes.source.update({name: there} if there != _DEFAULT else {})
        changes.target.update({name: here} if here != _DEFAULT else {})
    return changes


def _names(sides: SettingSides) -> set[str]:
    return set().union(sides.source, sides.target, *sides.seen_of_source, *sides.seen_of_target)


def _seen(name: str, value: str | None, before: Iterable[SeenSettings], now_ms: int) -> SeenValue:
    values = [item.get(name, _DEFAULT) for item in before]
    last_ms = max((seen.since_ms for seen in values), default=0)
    is_known = not values or SeenValue(value, last_ms) in values
    return SeenValue(value, last_ms if is_known else max(now_ms, last_ms + 1))


def _rank(seen: SeenValue) -> tuple[int, bool, str]:
    return seen.since_ms, seen.value is not None, seen.value or ""

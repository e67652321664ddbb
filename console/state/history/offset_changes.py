"""Offsets of a group without members that change: a reset, from wherever it was made. Pure.

A client that commits without being a member (Flink, a Spark job, a tool) moves forward again and again: its first moves
are told, later ones are its work. A move back is always told.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from console.state.consumers.rows import GroupRow
from console.state.history.differences import HistoryEvent, Values

#: The last commit of a member that leaves may be seen after it left.
LEFT_MS = 5_000
#: A move forward is told after this long without one, and so many times of a group.
QUIET_MS, FORWARD_TOLD_MAX = 600_000, 3
PLACES_NAMED_MAX = 3

_Offsets = Mapping[tuple[str, int], int]


@dataclass(slots=True)
class _OffsetHistory:
    offsets: _Offsets
    #: Since when it has no members; None: it has some.
    empty_since_ms: int | None
    moved_ms: int = -QUIET_MS
    forward_told: int = 0


class OffsetChanges:
    """For one thread. The first look at a group is no change."""

    def __init__(self) -> None:
        self._known: dict[str, _OffsetHistory] = {}

    def look(self, rows: Iterable[GroupRow], groups: Iterable[str], at_ms: int) -> list[HistoryEvent]:
        events: list[HistoryEvent] = []
        for row in rows:
            if not row.is_silent:
                events += self._look_at(row, at_ms)
        for gone in self._known.keys() - set(groups):
            del self._known[gone]
        return events

    def _look_at(self, row: GroupRow, at_ms: int) -> list[HistoryEvent]:
        offsets = {
            (partition.topic, partition.partition): partition.committed
            for partition in row.partitions
            if partition.committed is not None
        }
        known = self._known.get(row.name)
        if known is None:
            self._known[row.name] = _OffsetHistory(offsets, None if row.members else at_ms)
            return []
        before, known.offsets = known.offsets, offsets
        if row.members:
            known.empty_since_ms = None
            return []
        was_empty = known.empty_since_ms is not None and at_ms - known.empty_since_ms >= LEFT_MS
        known.empty_since_ms = at_ms if known.empty_since_ms is None else known.empty_since_ms
        moves = _moves(before, offsets)
        if not moves or not was_empty:
            return []
        is_back = any(new is None or new < (old or 0) for of_topic in moves.values() for old, new in of_topic.values())
        is_quiet, known.moved_ms = at_ms - known.moved_ms >= QUIET_MS, at_ms
        if not is_back:
            if not is_quiet or known.forward_told >= FORWARD_TOLD_MAX:
                return []
            known.forward_told += 1
        return [_event(row.name, topic, of_topic) for topic, of_topic in sorted(moves.items())]


_Moves = dict[int, tuple[int | None, int | None]]


def _moves(before: _Offsets, after: _Offsets) -> dict[str, _Moves]:
    moves: dict[str, _Moves] = defaultdict(dict)
    for place in sorted(before.keys() | after.keys()):
        old, new = before.get(place), after.get(place)
        if old != new:
            moves[place[0]][place[1]] = old, new
    return moves


def _event(group: str, topic: str, moves: _Moves) -> HistoryEvent:
    named = [f"{topic}-{number} {_text(old)} → {_text(new)}" for number, (old, new) in moves.items()]
    more = len(named) - PLACES_NAMED_MAX
    words = ", ".join(named[:PLACES_NAMED_MAX]) + (f", {more} partitions more" if more > 0 else "")
    values: Values = {f"{topic}-{number}": (_written(old), _written(new)) for number, (old, new) in moves.items()}
    sentence = f"{group}: offsets changed while the group had no members: {words}"
    return HistoryEvent("offsets", group, sentence, topic=topic, values=values)


def _written(offset: int | None) -> str | None:
    return None if offset is None else str(offset)


def _text(offset: int | None) -> str:
    return "none" if offset is None else str(offset)

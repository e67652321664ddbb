"""The way of a group through a partition, as its committed offsets tell it: how far it is, where it went back, what it
passed over.

An increment of the tier `committed` is a *step*: the group stood at its start and has committed its end since. A step
that begins further back than the one before ended tells that the group went back. One that begins further on tells that
somebody who is no member set it forward: those offsets are *skipped*. Coordinators begin a new epoch where the group
stands, and what was committed between two coordinators was gone over: the group's own commits say so.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from broker.audit.increment import Increment

#: Of those that are kept of one path, the newest.
MOVES_MAX = 100


@dataclass(frozen=True, slots=True)
class OffsetJump:
    """Offsets from `start` to `end` (exclusive) that a group is to read again, or was set past."""

    start: int
    end: int
    at_ms: int


@dataclass(slots=True)
class GroupPath:
    start: int = -1  #: where it was when it was first heard of, or further back since
    position: int = -1
    reached: int = -1  #: the furthest it has been
    heard_ms: int = 0
    back: list[OffsetJump] = field(default_factory=list)
    skipped: list[OffsetJump] = field(default_factory=list)
    #: What lies between `start` and `reached` and was not gone over: skipped, or before where it was first heard of.
    unread: list[OffsetJump] = field(default_factory=list)
    epoch: str = ""
    sequence: int = -1
    term: int = -1

    def add(self, step: Increment) -> bool:
        is_same = step.epoch == self.epoch
        if step.term < self.term or (is_same and step.sequence <= self.sequence):
            return False
        self.term = step.term
        is_after_all_told = is_same and step.sequence == self.sequence + 1
        self.epoch, self.sequence = step.epoch, step.sequence
        self.heard_ms = max(self.heard_ms, step.at_ms)
        if self.position < 0:
            self.start = self.reached = step.start
        elif step.start < self.position:
            self._note(self.back, OffsetJump(step.start, self.position, step.at_ms))
        elif step.start > self.reached and is_after_all_told:
            for moves in (self.skipped, self.unread):
                self._note(moves, OffsetJump(self.reached, step.start, step.at_ms))
        if step.start < self.start:
            self._note(self.unread, OffsetJump(step.start, self.start, step.at_ms))
            self.start = step.start
        self.position = step.end
        self.reached = max(self.reached, step.end)
        if step.end > step.start:
            self.skipped = _without(self.skipped, step.start, step.end)
            self.unread = _without(self.unread, step.start, step.end)
        return True

    def _note(self, moves: list[OffsetJump], move: OffsetJump) -> None:
        moves.append(move)
        del moves[:-MOVES_MAX]

    def has_skipped(self, first: int, last: int) -> bool:
        """Return whether the group skipped any of the offsets from `first` to `last`."""
        return _has(self.skipped, first, last)

    def covers(self, start: int, end: int) -> bool:
        """Return whether it has gone over all offsets from `start` to `end` (exclusive)."""
        return self.start <= start and end <= self.reached and not _has(self.unread, start, end - 1)

    def forget(self, before_ms: int) -> None:
        for moves in (self.back, self.skipped, self.unread):
            moves[:] = [move for move in moves if move.at_ms >= before_ms]


def _has(moves: Iterable[OffsetJump], first: int, last: int) -> bool:
    return any(move.start <= last and first < move.end for move in moves)


def _without(moves: Iterable[OffsetJump], start: int, end: int) -> list[OffsetJump]:
    """Return `moves` without those that a step has covered after all."""
    return [
        OffsetJump(*part, move.at_ms)
        for move in moves
        for part in ((move.start, min(move.end, start)), (max(move.start, end), move.end))
        if part[0] < part[1]
    ]

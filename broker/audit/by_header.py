"""Counts by batch headers against counts of records: the same number in all, but perhaps not in the same windows. Pure.

A header tells when the first record of a batch was made and when the newest. A record in between may be of an earlier
window, and is counted in the batch's. That moves it between windows whose offsets overlap, one of them the batch's own,
and never out of the partition: so what is too few in one and too many in such another is no loss and no duplicate.
"""

from collections.abc import Mapping
from typing import NamedTuple

from broker.audit.tally import RecordTally

#: A record may be counted in a window of which another one is counted in a third.
_STEPS = 2


class WindowDifference(NamedTuple):
    """Window difference of one window of a partition between two tiers; `first` and `last` are the offsets either has
    in it.
    """

    surplus: int
    first: int
    last: int

    @classmethod
    def between(cls, upper: RecordTally, lower: RecordTally) -> "WindowDifference":
        both = upper + lower
        return cls(lower.count - upper.count, both.first_offset, both.last_offset)


def neighbourhood(window: int, differences: Mapping[int, WindowDifference]) -> set[int]:
    """Return this window and those it may have exchanged records with, directly or through one window between."""
    windows, edge = {window}, {window}
    for _ in range(_STEPS):
        edge = {
            other
            for near in edge
            for other in differences
            if other not in windows and _overlap(differences, near, other)
        }
        windows |= edge
    return windows


def _overlap(differences: Mapping[int, WindowDifference], one: int, other: int) -> bool:
    first, second = differences[one], differences[other]
    return first.first <= second.last and second.first <= first.last


def unexplained(window: int, differences: Mapping[int, WindowDifference]) -> int:
    """Return the part of the window's surplus that no exchange in its neighbourhood explains; 0 unless its surplus is
    the largest there.
    """
    own = differences[window].surplus
    near = {difference: differences[difference].surplus for difference in neighbourhood(window, differences)}
    net = sum(near.values())
    if net * own <= 0:
        return 0
    most = max((number for number in near if near[number] * own > 0), key=lambda number: (abs(near[number]), -number))
    return net if most == window else 0

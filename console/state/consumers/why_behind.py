"""Why a group is behind, in one sentence with its numbers. Pure."""

import math

from console.kit.common.figures import grouped, rate


def why_behind(
    lag: int | None,
    lag_per_second: float | None,
    arriving_per_second: float | None,
    members: int | None,
    partitions: int,
) -> str:
    """Return the sentence; empty for a group without lag, and where its rates or members are not known."""
    if not lag or arriving_per_second is None or members is None:
        return ""
    arrives = f"{_records(arriving_per_second)} arrive"
    if not members:
        return f"No member reads it: {arrives}, and {grouped(lag)} records wait."
    if lag_per_second is None:
        return ""
    reads = max(0.0, arriving_per_second - lag_per_second)
    shares = f"{_count(members, 'member')} for {_count(partitions, 'partition')}"
    if reads < 0.05:
        return f"It reads nothing while {arrives}: {shares}."
    if reads >= arriving_per_second:
        return f"It reads {_records(reads)} while {arrives}: {shares}, and the lag shrinks."
    needed = _needed(reads, arriving_per_second, members, partitions)
    return f"It reads {_records(reads)} while {arrives}: {shares}. {needed}"


def _needed(reads: float, arriving: float, members: int, partitions: int) -> str:
    """Say how many members keep up, if each reads as much as those of now."""
    needed = math.ceil(arriving / (reads / members))
    if needed <= partitions:
        return f"At the pace of a member it needs {needed}."
    return f"At the pace of a member it needs {needed}, and only {partitions} can share the partitions."


def _records(per_second: float) -> str:
    return f"{rate(per_second)} records/s"


def _count(number: int, noun: str) -> str:
    return f"{grouped(number)} {noun}{'' if number == 1 else 's'}"

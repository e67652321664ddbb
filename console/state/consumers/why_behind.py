"""Why a group is behind, in one sentence with its numbers: stopped, too slow or catching up. Pure."""

import math
from dataclasses import dataclass

from console.kit.common.figures import duration, grouped, rate

#: Records per second below which a group is said to read nothing: rates are rounded to one decimal.
_NOTHING = 0.05


@dataclass(frozen=True, slots=True)
class ReadingPace:
    """What the sentence is made of. Rates are records per second over the last minutes; None: not known.

    `reading` is measured by commits, `fetched` by brokers. Without commits it is what arrives less what the lag grows
    by, which is too much where retention deletes unread records. Of `partitions`, `stuck` hold unread records and are
    not read; `stuck_name` is the name of one that is alone.
    """

    lag: int | None
    members: int | None
    partitions: int
    arriving: float | None
    lag_growth: float | None = None
    reading: float | None = None
    stuck: int = 0
    stuck_name: str = ""
    empty_ms: int | None = None
    #: Records per second that brokers send its members, as they tell; None: they do not.
    fetched: float | None = None
    #: Records are deleted before it commits them: what it then commits counts for nothing read.
    is_losing: bool = False

    @property
    def reads(self) -> float | None:
        if self.reading is not None or self.arriving is None or self.lag_growth is None:
            return self.reading
        return max(0.0, self.arriving - self.lag_growth)


def why_behind(pace: ReadingPace) -> str:
    """Return the sentence; empty for a group without lag, and where its rates or members are not known."""
    if not pace.lag or pace.arriving is None or pace.members is None:
        return ""
    arrives = f"{_records(pace.arriving)} arrive"
    if not pace.members:
        since = "" if pace.empty_ms is None else f" for {duration(pace.empty_ms)}"
        return f"Stopped: no member has read it{since}; {arrives}, and {grouped(pace.lag)} wait."
    if pace.reads is None:
        return ""
    shares = f"{_count(pace.members, 'member')} for {_count(pace.partitions, 'partition')}"
    if pace.reads < _NOTHING:
        return _uncommitted(pace, f"while {arrives}: {shares}.")
    if 0 < pace.stuck < pace.partitions:
        where = pace.stuck_name or f"{grouped(pace.stuck)} of {_count(pace.partitions, 'partition')}"
        return f"Stopped in {where}: it reads {_records(pace.reads)} from the others while {arrives}."
    if pace.reads > pace.arriving:
        return f"Catching up: it reads {_records(pace.reads)} while {arrives}: {shares}."
    if pace.reads == pace.arriving:
        return f"Keeping pace: it reads {_records(pace.reads)}, as many as arrive: {shares}. The lag stays."
    needed = _needed(pace.reads, pace.arriving, pace.members, pace.partitions)
    return f"Too slow: it reads {_records(pace.reads)} while {arrives}: {shares}. {needed}"


def _uncommitted(pace: ReadingPace, rest: str) -> str:
    """Say of a group that commits nothing whether its members read."""
    if pace.is_losing:
        return f"It commits what is deleted already {rest}"
    if pace.fetched is None:
        return f"Stopped: it commits nothing {rest}"
    if pace.fetched < _NOTHING:
        return f"Stopped: it reads nothing {rest}"
    return f"It reads {_records(pace.fetched)} and commits nothing {rest} What it read is read again after a restart."


def _needed(reads: float, arriving: float, members: int, partitions: int) -> str:
    """Say how many members keep up, if each reads as much as those of now."""
    needed = math.ceil(arriving / (reads / members))
    if needed <= partitions:
        return f"At the pace of a member it needs {grouped(needed)}."
    return f"At the pace of a member it needs {grouped(needed)}, and only {partitions} can share the partitions."


def _records(per_second: float) -> str:
    return f"{rate(per_second)} records/s"


def _count(number: int, noun: str) -> str:
    return f"{grouped(number)} {noun}{'' if number == 1 else 's'}"

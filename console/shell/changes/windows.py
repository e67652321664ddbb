"""When changes may be made: hours of weekdays in a time zone, as its clocks on the wall show them. Pure.

A window begins and ends by wall clocks, whatever they do in between: over the hour that comes twice in autumn it is
longer, over the one that is left out in spring shorter, and one that lies wholly in it does not come that day.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WEEK = 7


@dataclass(frozen=True, slots=True)
class ChangeWindow:
    """`days` are those it begins on; one that does not end after it begins ends the next day."""

    days: frozenset[str]
    begins: time
    ends: time
    zone: str

    def is_open(self, at: datetime) -> bool:
        return any(begin <= at < end for begin, end in self._around(at))

    def opens_at(self, at: datetime) -> datetime | None:
        """Return the next beginning after `at`, in UTC; None: it never opens."""
        return min((begin for begin, end in self._around(at) if begin > at and end > begin), default=None)

    def _around(self, at: datetime) -> Iterator[tuple[datetime, datetime]]:
        zone = ZoneInfo(self.zone)
        first = at.astimezone(zone).date() - timedelta(days=1)
        for number in range(2 * _WEEK + 2):
            day = first + timedelta(days=number)
            if DAYS[day.weekday()] in self.days:
                yield self._on(day, zone)

    def _on(self, day: date, zone: ZoneInfo) -> tuple[datetime, datetime]:
        until = day if self.ends > self.begins else day + timedelta(days=1)
        begin = datetime.combine(day, self.begins, zone).astimezone(UTC)
        # Of an hour that comes twice the later one ends it.
        return begin, datetime.combine(until, self.ends, zone).replace(fold=1).astimezone(UTC)


@dataclass(frozen=True, slots=True)
class Freeze:
    """From `begins` to before `ends`, both in UTC."""

    begins: datetime
    ends: datetime

    def holds(self, at: datetime) -> bool:
        return self.begins <= at < self.ends


def next_opening(windows: Iterable[ChangeWindow], freezes: Iterable[Freeze], at: datetime) -> datetime | None:
    """Return the earliest time when every window is open and no freeze holds; None: not within the next weeks.

    Windows are of several rules, each of which has to be open.
    """
    windows, freezes = list(windows), list(freezes)
    moment: datetime | None = at
    for _ in range(_TRIES):
        if moment is None:
            return None
        frozen = [freeze.ends for freeze in freezes if freeze.holds(moment)]
        closed = [window for window in windows if not window.is_open(moment)]
        if not frozen and not closed:
            return moment
        moment = max(frozen) if frozen else closed[0].opens_at(moment)
    return None


#: Of two windows that never meet nobody waits for long.
_TRIES = 200


def is_zone(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return bool(name)

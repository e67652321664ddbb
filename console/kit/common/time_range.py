"""The range of time that an address asks for: `?last=1h`, or `?from=…&to=…`. Pure.

The one form of it for charts, lists, searches and files, so that any link to a page shows the same again.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from django.http import QueryDict

from console.kit.common.clock import moment_of, utc

_UNITS_MS = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_LENGTH = re.compile(r"([1-9][0-9]{0,4})([smhd])")
_BEFORE_NOW = re.compile(r"now(?:-([1-9][0-9]{0,4}[smhd]))?")
#: Today's name first; the others are in links that people keep.
_LAST, _FROM, _TO = ("last", "span"), ("from", "since", "moment"), ("to", "until")
#: A parameter of the history alone: what happened at a time is answered with this much before and after it.
_AROUND, _AROUND_EACH_WAY = "around", timedelta(minutes=10)
RANGE_NAMES = (*_LAST, *_FROM, *_TO)
#: Lengths offered beside each other, and their words.
CHART_LENGTHS = {"15m": "15 min", "1h": "1 h", "6h": "6 h", "24h": "24 h", "7d": "7 d", "30d": "30 d"}
LIST_LENGTHS = {key: CHART_LENGTHS[key] for key in ("15m", "1h", "24h", "7d", "30d")}
_SHOWN_LENGTH_MAX = 60


@dataclass(frozen=True, slots=True)
class TimeRange:
    """From `start` to `end`, each None where it is open. `last` is set when the range ends now, and goes on."""

    last: str = ""
    start: datetime | None = None
    end: datetime | None = None
    #: What the page offers; without a default "any time" is offered, too.
    lengths: Mapping[str, str] = field(default_factory=lambda: LIST_LENGTHS, compare=False)
    default: str = ""
    #: What of the address was refused: one sentence each, with what to write.
    problems: tuple[str, ...] = field(default=(), compare=False)

    @classmethod
    def parse(
        cls,
        parameters: QueryDict,
        now_ms: int,
        lengths: Mapping[str, str] = LIST_LENGTHS,
        default: str = "",
        *,
        reads_around: bool = False,
    ) -> "TimeRange":
        """Read the range of an address. What is refused counts as not given; an absolute range wins over a length.

        `reads_around`: whether the page reads `around`, too.
        """
        problems: list[str] = []
        start = _read_time(parameters, _FROM, now_ms, problems)
        end = _read_time(parameters, _TO, now_ms, problems)
        if reads_around and (around := _read_time(parameters, (_AROUND,), now_ms, problems)):
            start, end = _around(around)
        if start is not None and end is not None and start >= end:
            problems.append("The range ends before it begins: write a from= that is earlier than to=.")
            start = end = None
        last = _read_last(parameters, problems)
        if start is not None or end is not None:
            last = ""
        elif last := last or default:
            start = utc(now_ms - length_ms(last))
        return cls(last, start, end, lengths, default, tuple(problems))

    @property
    def is_absolute(self) -> bool:
        return not self.last and (self.start is not None or self.end is not None)

    @property
    def start_ms(self) -> int | None:
        return _ms(self.start)

    @property
    def end_ms(self) -> int | None:
        return _ms(self.end)

    @property
    def parameters(self) -> dict[str, str]:
        """Return what an address says for it: its length, or its ends."""
        ends = {"from": iso_of(self.start), "to": iso_of(self.end)}
        chosen = {"last": self.last} if self.last else ends
        return {name: value for name, value in chosen.items() if value}

    @property
    def other_length(self) -> str:
        """`last` where the page does not offer it."""
        return "" if self.last in self.lengths else self.last


ANY_TIME = TimeRange()


def iso_of(when: datetime | None) -> str:
    """Return a time as addresses and forms carry it, in UTC; nothing for None."""
    return "" if when is None else when.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def read_moment(text: str, now_ms: int) -> datetime | None:
    """Return the time that `text` names: ISO 8601 with a zone, `now`, or `now-10m`; None for anything else."""
    before = _BEFORE_NOW.fullmatch(text)
    if before is None:
        return moment_of(text)
    return utc(now_ms - (length_ms(before[1]) if before[1] else 0))


def length_ms(text: str) -> int:
    """Return the milliseconds of `15m`, `24h` and the like. Raises ValueError for anything else."""
    parsed = _LENGTH.fullmatch(text)
    if parsed is None:
        raise ValueError(f"{text} is no length of time.")
    return int(parsed[1]) * _UNITS_MS[parsed[2]]


def _read_time(parameters: QueryDict, names: tuple[str, ...], now_ms: int, problems: list[str]) -> datetime | None:
    for name in names:
        if text := parameters.get(name, "").strip():
            when = read_moment(text, now_ms)
            if when is None:
                problems.append(
                    f"{name}={text[:_SHOWN_LENGTH_MAX]} is not a time, and is ignored. "
                    f"Write it with its zone, as {name}=2026-11-28T14:05Z, or as {name}=now-10m."
                )
            return when
    return None


def _read_last(parameters: QueryDict, problems: list[str]) -> str:
    for name in _LAST:
        if text := parameters.get(name, "").strip():
            if _LENGTH.fullmatch(text):
                return text
            problems.append(
                f"{name}={text[:_SHOWN_LENGTH_MAX]} is not a length of time, and is ignored. "
                f"Write a number and s, m, h or d, as {name}=90m."
            )
    return ""


def _around(when: datetime) -> tuple[datetime | None, datetime | None]:
    try:
        return when - _AROUND_EACH_WAY, when + _AROUND_EACH_WAY
    except OverflowError:
        return when, None  # at an end of the calendar


def _ms(when: datetime | None) -> int | None:
    return None if when is None else int(when.timestamp() * 1_000)

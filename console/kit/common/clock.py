"""Wall time in milliseconds, as every stored moment of the console is kept."""

import time
from datetime import UTC, datetime

from django.utils.dateparse import parse_datetime
from django.utils.timezone import is_naive

#: The last of the year 9999, where calendars end.
LAST_MS = 253_402_300_799_999


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def utc(at_ms: int) -> datetime | None:
    """Return the datetime; None for a time beyond the calendar: a producer may give its records any number of 64
    bits.
    """
    try:
        return datetime.fromtimestamp(at_ms / 1_000, UTC)
    except (OverflowError, ValueError, OSError):
        return None


def moment_of(text: str) -> datetime | None:
    """Parse a time in ISO 8601 with its zone, as addresses carry it; None for anything else."""
    try:
        moment = parse_datetime(text[:40])
    except ValueError:
        return None
    if moment is None or is_naive(moment):
        return None
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        return None  # a first or last day of the calendar that is beyond it in UTC

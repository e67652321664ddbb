"""Wall time in milliseconds, as every stored moment of the console is kept."""

import time
from datetime import datetime

from django.utils.dateparse import parse_datetime
from django.utils.timezone import is_naive


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def moment_of(text: str) -> datetime | None:
    """A moment as an address carries it, in ISO 8601 with its zone; None for anything else."""
    try:
        moment = parse_datetime(text[:40])
    except ValueError:
        return None
    return None if moment is None or is_naive(moment) else moment

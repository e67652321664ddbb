"""Guessing passwords is made slow: a few failures per name and address, then a pause. Kept in the database."""

import math
from datetime import datetime, timedelta

from django.db import transaction

from console.access.models import FailedLogin

FAILURES_MAX = 5
#: One address may try many names; this many failures over all of them and it waits as well.
FAILURES_PER_ADDRESS_MAX = 30
WINDOW = timedelta(minutes=5)


def begin_attempt(username: str, address: str, now: datetime) -> int:
    """Seconds to wait before the next attempt; 0: go on, and it counts as failed until `forget_failures`.

    Counted before the password is looked at, so that many attempts at once are no more than one after another.
    """
    with transaction.atomic():
        wait_seconds = seconds_to_wait(username, address, now)
        if not wait_seconds:
            remember_failure(username, address, now)
    return wait_seconds


def seconds_to_wait(username: str, address: str, now: datetime) -> int:
    """0 if the next attempt is allowed now."""
    recent = FailedLogin.objects.filter(address=address, at__gt=now - WINDOW).order_by("-at")
    return max(
        _until_below(FAILURES_MAX, recent.filter(username__iexact=username), now),
        _until_below(FAILURES_PER_ADDRESS_MAX, recent, now),
    )


def _until_below(limit: int, failures, now: datetime) -> int:
    newest = list(failures.values_list("at", flat=True)[:limit])
    return math.ceil((newest[-1] + WINDOW - now).total_seconds()) if len(newest) == limit else 0


def remember_failure(username: str, address: str, now: datetime) -> None:
    """Count a failure, and drop those too old to count."""
    FailedLogin.objects.filter(at__lte=now - WINDOW).delete()
    FailedLogin.objects.create(username=username, address=address, at=now)


def forget_failures(username: str, address: str) -> None:
    FailedLogin.objects.filter(username__iexact=username, address=address).delete()

"""Guessing passwords is made slow: after some failures each next one costs a wait that doubles, up to a minute.

Counted are the failures of one name from one place, of one name from everywhere, and of all names from one place (a
place is an IPv4 address or an IPv6 /64). A wait is short, so that whoever guesses a colleague's password, perhaps from
the same machine, keeps the colleague out for a minute at most; and a browser from which the account was logged in
before is a place of its own (`known_browser.py`), which others' failures do not touch. Kept in the database.
"""

import ipaddress
import math
import unicodedata
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import QuerySet

from broker.common.backoff import pause_after
from console.kit.access.models import USERNAME_LENGTH_MAX, FailedLogin

#: Free failures of a name from one place, of a name from everywhere, and of all names from one place.
FAILURES_MAX = 5
FAILURES_PER_NAME_MAX = 50
FAILURES_PER_PLACE_MAX = 30
#: The wait after the first failure that is not free, and the longest.
FIRST_WAIT_SECONDS, WAIT_SECONDS_MAX = 5, 60
#: After that a failure is forgotten.
WINDOW = timedelta(minutes=15)
#: How the place of a known browser begins; its failures count for it alone.
BROWSER = "browser:"


def name_as_counted(typed: str) -> str:
    """Return one text for all spellings by which an account or a directory's entry is found (RFC 4518): capitals,
    accents, invisible characters and the number of blanks do not count."""
    letters = unicodedata.normalize("NFKD", typed.replace("\0", "").strip()[: 4 * USERNAME_LENGTH_MAX])
    seen = "".join(" " if letter.isspace() else letter for letter in letters if letter.isspace() or _is_seen(letter))
    return " ".join(seen.casefold().split())[:USERNAME_LENGTH_MAX]


def _is_seen(letter: str) -> bool:
    """Return whether the letter is visible: no format or control character, mark or variation selector."""
    return unicodedata.category(letter) not in ("Cc", "Cf", "Mn", "Me")


def place_of_address(address: str) -> str:
    """Return the throttling key of an address; of IPv6 the /64, which one client usually owns."""
    try:
        ip_address = ipaddress.ip_address(address)
    except ValueError:
        return address
    if ip_address.version == 6:
        if ip_address.ipv4_mapped is not None:
            return str(ip_address.ipv4_mapped)
        return str(ipaddress.ip_network((int(ip_address), 64), strict=False))
    return str(ip_address)


def begin_attempt(name: str, place: str, now: datetime) -> int:
    """Return the seconds to wait before the next attempt; 0: go on, and it counts as failed until `forget_failures`.

    Counted before the password is looked at, so that many attempts at once are no more than one after another.
    """
    with transaction.atomic():
        wait_seconds = seconds_to_wait(name, place, now)
        if not wait_seconds:
            remember_failure(name, place, now)
    return wait_seconds


def seconds_to_wait(name: str, place: str, now: datetime) -> int:
    """Return 0 if the next attempt is allowed now, else the seconds to wait."""
    recent = FailedLogin.objects.filter(at__gt=now - WINDOW)
    here = recent.filter(username=name, address=place)
    if place.startswith(BROWSER):
        return _wait(here, FAILURES_MAX, now)
    return max(
        _wait(here, FAILURES_MAX, now),
        _wait(recent.filter(username=name).exclude(address__startswith=BROWSER), FAILURES_PER_NAME_MAX, now),
        _wait(recent.filter(address=place), FAILURES_PER_PLACE_MAX, now),
    )


def wait_after(failures: int, free: int) -> int:
    """Return the seconds from the newest of `failures` to the next attempt."""
    if failures < free:
        return 0
    return int(pause_after(failures - free + 1, FIRST_WAIT_SECONDS, WAIT_SECONDS_MAX))


def _wait(failures: QuerySet[FailedLogin], free: int, now: datetime) -> int:
    newest = failures.order_by("-at").values_list("at", flat=True).first()
    if newest is None:
        return 0
    wait = timedelta(seconds=wait_after(failures.count(), free))
    return max(0, math.ceil((newest + wait - now).total_seconds()))


def remember_failure(name: str, place: str, now: datetime) -> None:
    """Count a failure, and drop those too old to count."""
    FailedLogin.objects.filter(at__lte=now - WINDOW).delete()
    FailedLogin.objects.create(username=name, address=place, at=now)


def forget_failures(name: str, place: str) -> None:
    FailedLogin.objects.filter(username=name, address=place).delete()

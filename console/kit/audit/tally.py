"""What may happen often (logins that fail, refusals, reading) is counted, and is one row of the audit for each minute.

However often and with however many names somebody tries: a person, and all who are not logged in together, leave at
most `NAMED_MAX` rows and one for the rest of a minute.
"""

from datetime import datetime, timedelta

from django.contrib.auth import get_user_model
from django.contrib.auth.models import AnonymousUser, User
from django.db import IntegrityError, transaction
from django.db.models import Expression, F
from django.db.models.functions import Greatest, Least
from django.utils import timezone

from console.kit.audit.models import Tally
from console.kit.audit.record import cluster_audited, record_event
from console.kit.common.current_cluster import MAIN, in_cluster

#: Objects and places named one by one, of one person and one action in one minute.
NAMED_MAX = 10
THE_REST = "others"
MINUTE = timedelta(minutes=1)


def count_event(
    actor: User | AnonymousUser,
    action: str,
    object_type: str,
    object_name: str,
    place: str = "",
    partitions: tuple[int, int] | None = None,
    result: str = "refused",
    now: datetime | None = None,
) -> None:
    """Count an event. `actor` is a user or AnonymousUser. `partitions`: the first and the last that were read."""
    minute = (now or timezone.now()).replace(second=0, microsecond=0)
    whose = {"minute": minute, "actor_number": actor.pk or 0, "action": action, "cluster": cluster_audited()}
    what = {"object_type": object_type, "object_name": object_name[:255], "place": place[:50]}
    first, last = partitions or (None, None)
    if _count_again(whose | what, first, last):
        return
    if Tally.objects.filter(**whose).count() >= NAMED_MAX:
        what |= {"object_name": THE_REST, "place": ""}
        first = last = None
        if _count_again(whose | what, None, None):
            return
    try:
        with transaction.atomic():
            Tally.objects.create(**whose, **what, result=result, first_partition=first, last_partition=last)
    except IntegrityError:  # somebody else began the minute
        _count_again(whose | what, first, last)


def _count_again(key: dict[str, object], first: int | None, last: int | None) -> bool:
    changes: dict[str, Expression] = {"times": F("times") + 1}
    if first is not None:
        changes |= {
            "first_partition": Least("first_partition", first),
            "last_partition": Greatest("last_partition", last),
        }
    return bool(Tally.objects.filter(**key).update(**changes))


def close_minutes(now: datetime) -> None:
    """Write the minutes that are over to the audit; safe when several processes do it at once."""
    for tally in Tally.objects.filter(minute__lte=now - MINUTE).order_by("minute", "pk"):
        with transaction.atomic():
            if Tally.objects.filter(pk=tally.pk).delete()[0]:
                with in_cluster(tally.cluster or MAIN):
                    _write(tally)


def _write(tally: Tally) -> None:
    actor = get_user_model().objects.filter(pk=tally.actor_number).first() or AnonymousUser()
    facts: dict[str, object] = {"times": tally.times}
    if tally.place:
        facts["from"] = tally.place
    if tally.first_partition is not None:
        facts["partitions"] = f"{tally.first_partition} to {tally.last_partition}"
    minute = f"In the minute from {tally.minute:%Y-%m-%d %H:%M} UTC."
    record_event(
        actor, tally.action, tally.object_type, tally.object_name, after=facts, result=tally.result, detail=minute
    )

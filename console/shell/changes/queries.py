"""Read changes that wait and changes that are over, within a user's reach."""

from collections.abc import Iterator

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.utils import timezone

from console.kit.common.kept_statements import kept_rows
from console.shell.changes.access import may_consent, may_see
from console.shell.changes.models import ProposedChange

OVER_SHOWN = 50
State = ProposedChange.State
UNDECIDED = (State.WAITING, State.DOING)
TITLES = ("change", "state", "at", "by", "action", "object_type", "object", "why", "reason", "expires", "decided_by")


def waiting() -> QuerySet[ProposedChange]:
    return ProposedChange.objects.filter(state__in=UNDECIDED, expires_at__gt=timezone.now())


def waiting_for(user: User) -> list[ProposedChange]:
    return [item for item in waiting().defer("form", "lines") if may_see(user, item)]


def count_for(user: User) -> int:
    """Return how many changes wait for this person's approval or for anybody to do them, without the person's own."""
    now = timezone.now()
    return sum(row.expires_at > now and may_consent(user, row) for row in kept_rows(_undecided))


def _undecided() -> QuerySet[ProposedChange]:
    return ProposedChange.objects.filter(state__in=UNDECIDED).defer("form", "lines")


def over_for(user: User) -> list[ProposedChange]:
    changes = ProposedChange.objects.exclude(pk__in=waiting().values("pk")).defer("form", "lines")[: 4 * OVER_SHOWN]
    return [item for item in changes if may_see(user, item)][:OVER_SHOWN]


def csv_rows(user: User) -> Iterator[tuple[object, ...]]:
    for change in [*waiting_for(user), *over_for(user)]:
        what = (change.action, change.object_type, change.object_name, change.sentence, change.reason)
        yield (
            change.pk,
            shown_state(change),
            change.at,
            change.actor_name,
            *what,
            change.expires_at,
            change.decided_by,
        )


def shown_state(change: ProposedChange) -> str:
    """Return the state; an undecided change is expired in time, even before that is stored."""
    return str(State.EXPIRED if change.is_over_at(timezone.now()) else change.state)

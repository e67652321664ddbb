"""What changed about the time when a consumer group fell behind: its topics, and the quotas of its clients."""

from dataclasses import dataclass

from django.db.models import Q

from console.kit.access.reach import Reach
from console.state.consumers.models import ConsumerGroup
from console.state.history.models import Change, ChangeKind
from console.state.history.queries import GROUP_KINDS, changes_within

HOUR_MS, DAY_MS = 3_600_000, 86_400_000
CHANGES_MAX = 8
#: What makes a group slow or lose records, of its topics; leaders and replicas come and go by themselves.
_OF_TOPICS = (ChangeKind.SETTINGS, ChangeKind.TOPIC, ChangeKind.SCHEMA, ChangeKind.UNCLEAN)
#: Quotas of clients that name none.
_DEFAULTS = ("default client id", "default user")


@dataclass(frozen=True, slots=True)
class ChangePeriod:
    """From `start_ms` to `end_ms`. `began_ms`: when the group fell behind; None: it is not behind."""

    start_ms: int
    end_ms: int
    began_ms: int | None = None


def period_of(group: ConsumerGroup, at_ms: int) -> ChangePeriod:
    """Return an hour before and after the group fell behind or lost records; the last day if it did neither."""
    behind_since_ms = group.behind_since_ms if group.judgement.is_bad or group.lost else None
    began_ms = behind_since_ms if group.lost_since_ms is None else group.lost_since_ms
    if began_ms is None:
        return ChangePeriod(at_ms - DAY_MS, at_ms)
    return ChangePeriod(began_ms - HOUR_MS, began_ms + HOUR_MS, began_ms)


def changes_near(group: ConsumerGroup, period: ChangePeriod, reach: Reach) -> list[Change]:
    """Return the newest changes in the period that the user may see."""
    clients = {f"client id {member.client_id}" for member in group.member_rows if member.client_id}
    quotas = Q(object_name__in=(*clients, *_DEFAULTS))
    for client in clients:
        quotas |= Q(object_name__endswith=f", {client}")
    about = (
        Q(kind__in=_OF_TOPICS, object_name__in=group.topics)
        | Q(kind__in=GROUP_KINDS, object_name=group.name)
        | Q(kind=ChangeKind.QUOTA) & quotas
        | Q(kind=ChangeKind.BROKER_SETTINGS, sentence__contains="retention")
    )
    within = changes_within(reach).filter(at_ms__gte=period.start_ms, at_ms__lte=period.end_ms)
    return list(within.filter(about)[:CHANGES_MAX])

"""Plans of deletions a day later and of calling them off, out of what is true now."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from django.utils import timezone

from console.cluster.topics.deletion import DoomedTopic
from console.cluster.topics.grace import GRACE, CallOffPlan, Traces, call_off_plan, later_plan
from console.cluster.topics.grace_queries import open_of, shapes_of, traces_now
from console.cluster.topics.models import OPEN, OPEN_MAX, UNTOUCHED, PlannedDeletion
from console.cluster.topics.queries import doomed_topics
from console.kit.access.reach import Reach
from console.kit.common.current_cluster import here
from console.kit.common.figures import minute
from console.kit.gateway.errors import RefusedError
from console.kit.gateway.groups.interface import GroupsView
from console.kit.plans.plan import Plan
from console.state.clusters.models import Topic

_FULL = f"{OPEN_MAX} deletions are planned already: call some off, or delete it now."


@dataclass(frozen=True, slots=True)
class GracePlan:
    plan: Plan
    topics: Sequence[DoomedTopic]
    traces: dict[str, Traces]


def deletion_later(topics: Sequence[Topic], reach: Reach, groups: GroupsView | None = None) -> GracePlan:
    """Plan a later deletion. `groups`: as they were asked a moment ago. Raises GatewayError: the current use has to be
    known.
    """
    doomed, traces = doomed_topics(topics, reach), traces_now(shapes_of(topics), groups)
    due = timezone.now() + GRACE
    return GracePlan(later_plan(doomed, traces, due, here.BOOTSTRAP_SERVERS, _obstacle(topics)), doomed, traces)


def calling_off(names: Collection[str]) -> CallOffPlan:
    """Raises RefusedError if no deletion of any of them is planned."""
    rows = open_of(names)
    if not rows:
        raise RefusedError("INVALID_REQUEST", "No deletion of it is planned, or not any more.")
    late = sorted(name for name, row in rows.items() if row.state not in UNTOUCHED)
    return call_off_plan(
        {name: what_becomes(row) for name, row in rows.items()},
        sorted(f"{row.pk} {row.topic_id} {row.state}" for row in rows.values()),
        f"It is too late: {', '.join(late[:5])} is being deleted." if late else "",
    )


def what_becomes(row: PlannedDeletion) -> str:
    return f"kept: {row.outcome}" if row.is_kept else f"deleted at {minute(row.due_at)}"


def _obstacle(topics: Sequence[Topic]) -> str:
    for name, row in sorted(open_of([topic.name for topic in topics]).items()):
        if not row.is_kept:
            return f"The deletion of {name} is planned already: it goes at {minute(row.due_at)}."
    is_full = PlannedDeletion.objects.filter(state__in=OPEN).count() + len(topics) > OPEN_MAX
    return _FULL if is_full else ""

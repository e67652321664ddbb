"""Planning the deletion of topics, and calling it off. No rule has calling off wait: it is what the plan offered.

What a planned deletion hangs on later is kept as it was when it was planned.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime

from django.contrib.auth.models import User
from django.db import IntegrityError
from django.utils import timezone

from console.cluster.topics.deletion import DoomedTopic
from console.cluster.topics.feature import LIVE_GROUP
from console.cluster.topics.grace import GRACE, CallOffPlan, Traces
from console.cluster.topics.models import CALLED_OFF, DELETED, KEPT, OPEN, OVER_KEPT, UNTOUCHED, PlannedDeletion
from console.kit.common.clock import now_ms
from console.kit.common.databases import cluster_atomic
from console.kit.live import groups
from console.kit.live.push import push_partials
from console.kit.plans.apply import carry_out
from console.kit.plans.plan import Confirmation, ObstacleError, Plan
from console.kit.plans.posted import goes_on, posted_now

THERE_IS_ONE = "Another user planned its deletion meanwhile."
TOO_LATE = "It is too late: {} is being deleted, or another user has decided already."


def do_delete_later(
    actor: User,
    plan: Plan,
    topics: Sequence[DoomedTopic],
    traces: Mapping[str, Traces],
    confirmation: Confirmation,
) -> datetime:
    """Schedule the deletion and return its time. Raises NotConfirmedError; the audit has all of it."""
    now, posted = timezone.now(), posted_now()

    def write() -> None:
        approver = posted.approver if posted is not None else None
        whose: dict[str, object] = {"actor": actor, "actor_name": actor.get_username(), "approver": approver}
        moments = {"at": now, "due_at": now + GRACE}
        rows = [PlannedDeletion(**whose, **moments, **_facts(topic, traces[topic.name])) for topic in topics]
        names = [topic.name for topic in topics]
        try:
            with cluster_atomic():
                end(CALLED_OFF, actor.get_username(), "It was planned again.", of=(KEPT,), topic__in=names)
                PlannedDeletion.objects.bulk_create(rows)
                _forget_old()
                tell(names)
        except IntegrityError as error:
            raise ObstacleError(THERE_IS_ONE) from error

    carry_out(actor, plan, confirmation, write)
    return now + GRACE


def do_call_off(actor: User, plan: CallOffPlan, confirmation: Confirmation) -> None:
    """Call off all of the deletions or none. Raises NotConfirmedError; the audit has all of it."""

    def write() -> None:
        with cluster_atomic():
            for name in plan.topics:
                if not end(CALLED_OFF, actor.get_username(), "", of=UNTOUCHED, topic=name):
                    raise ObstacleError(TOO_LATE.format(name))
            tell(plan.topics)

    with goes_on():
        carry_out(actor, plan, confirmation, write)


def end(state: str, by: str, outcome: str, *, of: Iterable[str] = OPEN, **chosen: object) -> int:
    """Move chosen planned deletions from one of the states `of` to `state`, and return how many there were.

    A deletion may be called off and planned anew between two looks: who has looked at one chooses it by its key.
    """
    deletions = PlannedDeletion.objects.filter(state__in=list(of), **chosen)
    return deletions.update(state=state, outcome=outcome[:1_000], decided_by=by, decided_at=timezone.now())


def was_deleted(topics: Collection[str], by: str) -> None:
    """End planned deletions of topics that were deleted by hand."""
    if end(DELETED, by, "It was deleted at once.", topic__in=topics):
        tell(topics)


def tell(topics: Iterable[str]) -> None:
    """Refresh the pages of these topics and the lists of topics when the transaction commits."""
    version: dict[str, object] = {"version": now_ms()}
    live_groups = (LIVE_GROUP, *(groups.topic(topic) for topic in topics))
    push_partials([(group, "live/resync.html", version) for group in live_groups])


def _facts(topic: DoomedTopic, traces: Traces) -> dict[str, object]:
    return {
        "topic": topic.name,
        "topic_id": topic.topic_id,
        "record_count": topic.record_count,
        "size_bytes": topic.size_bytes,
        "ends": list(traces.ends),
        "places": dict(traces.places),
    }


def _forget_old() -> None:
    over = PlannedDeletion.objects.exclude(state__in=OPEN)
    oldest = over.values_list("pk", flat=True)[OVER_KEPT - 1 : OVER_KEPT]
    over.filter(pk__lt=min(oldest, default=0)).delete()

"""Carrying out the deletions whose day of grace is over: each is planned anew, and kept if it is not what it was.

A worker may die between any two steps. A row says that its topic is being deleted before anybody is asked to, so that
a topic that is gone then went by us.
"""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from django.utils import timezone

from console.cluster.topics.deletion import DELETE, deletion_plan
from console.cluster.topics.grace import LATE_MAX, DeletionFacts, Traces, why_kept
from console.cluster.topics.grace_actions import end, tell
from console.cluster.topics.grace_queries import Shape, due_at, traces_now
from console.cluster.topics.models import DELETED, DOING, GOING, KEPT, PlannedDeletion
from console.cluster.topics.queries import doomed
from console.kit.access.reach import EVERYTHING
from console.kit.access.read_only import why_read_only
from console.kit.access.rights import reach_of
from console.kit.audit.record import record_event
from console.kit.common.clock import now_ms
from console.kit.common.current_cluster import here
from console.kit.common.figures import minute
from console.kit.gateway.connect import cluster_gateway
from console.kit.gateway.errors import GatewayError, RefusedError
from console.kit.gateway.groups.interface import GroupsView
from console.kit.plans.apply import carry_out
from console.kit.plans.digest import digest_of
from console.kit.plans.plan import Confirmation, NotConfirmedError, Plan
from console.kit.plans.posted import Posted, PostMode, posting
from console.state.clusters.models import Topic

#: Topics that are looked at together, and how long a beat may take before it leaves the rest to the next.
AT_ONCE, BEAT_MAX_MS = 20, 15_000

logger = logging.getLogger(__name__)


def carry_out_due() -> None:
    """Carry out due deletions of the current cluster; those not possible now, or too many for one beat, are left to the
    next.
    """
    now, until_ms = timezone.now(), now_ms() + BEAT_MAX_MS
    due = list(due_at(now))
    for at in range(0, len(due), AT_ONCE):
        _carry_out_some(due[at : at + AT_ONCE], now)
        if now_ms() > until_ms:
            return


def _carry_out_some(due: Sequence[PlannedDeletion], now: datetime) -> None:
    """Carry out a few due deletions: what is read once for all of them must still be true for the last."""
    try:
        shapes = {topic.name: (topic.topic_id, len(topic.partitions)) for topic in cluster_gateway().describe_topics()}
        groups = cluster_gateway().groups.describe()
    except GatewayError as error:
        for row in due:
            _postpone(row, str(error), now)
        return
    for row in due:
        try:
            _carry_out(row, shapes.get(row.topic), groups, now)
        except GatewayError as error:
            _postpone(row, str(error), now)


def _carry_out(row: PlannedDeletion, shape: Shape | None, groups: GroupsView, now: datetime) -> None:
    """Raises GatewayError if the cluster does not answer."""
    topic = Topic.objects.filter(name=row.topic).first()
    if shape is None:
        _is_gone(row)
        return
    traces = traces_now({row.topic: shape}, groups)[row.topic]
    if topic is None or traces.unknown:
        _postpone(row, traces.unknown or "The console has not looked at the topic lately.", now)
        return
    doomed_topic = doomed(topic, EVERYTHING)
    plan = deletion_plan(replace(doomed_topic, topic_id=shape[0], partition_count=shape[1]), here.BOOTSTRAP_SERVERS)
    plan = replace(plan, obstacle=" ".join(_obstacles(row, DeletionFacts(traces, doomed_topic.uses), now)))
    if end(DOING, "", "", of=GOING, pk=row.pk):
        _delete(row, plan)


def _obstacles(row: PlannedDeletion, then: DeletionFacts, now: datetime) -> Iterator[str]:
    if now - row.due_at > LATE_MAX:
        yield f"It was due at {minute(row.due_at)}, and could not be carried out for a day."
    yield from why_kept(Traces(row.topic_id, tuple(row.ends), row.places), then)
    actor = row.actor
    if actor is None or not actor.is_active:
        yield f"{row.actor_name} has no account any more that could have it done."
    elif not reach_of(actor).may_change_topic(row.topic):
        yield f"{row.actor_name} may not delete it any more."
    if read_only := why_read_only():
        yield read_only


def _delete(row: PlannedDeletion, plan: Plan) -> None:
    """Raises GatewayError if it is not known what became of it."""
    actor, approver = row.actor, row.approver
    by = f", approved by {approver.get_username()}" if approver else ""
    note = f"Planned by {row.actor_name} at {minute(row.at)}{by}."
    posted = Posted(path="", mode=PostMode.APPROVED, approver=approver, digest=digest_of(plan, approver), note=note)
    try:
        with posting(posted):
            confirmation = Confirmation(digest_of(plan, actor), plan.typed_name)
            carry_out(actor, plan, confirmation, lambda: cluster_gateway().delete_topic(row.topic))
    except (NotConfirmedError, RefusedError) as error:
        _end(row, KEPT, str(error))
    else:
        _end(row, DELETED, "Its day of grace was over.")


def _is_gone(row: PlannedDeletion) -> None:
    if row.state == DOING:
        record_event(row.actor, DELETE, "topic", row.topic, detail="It was gone when the console looked again.")
        _end(row, DELETED, "Its day of grace was over.")
    else:
        _end(row, DELETED, "It was gone before: another user or tool deleted it.")


def _postpone(row: PlannedDeletion, why: str, now: datetime) -> None:
    if now - row.due_at > LATE_MAX:
        sentence = f"It was due at {minute(row.due_at)}, and could not be carried out for a day: {why}"
        record_event(row.actor, DELETE, "topic", row.topic, result="refused", detail=sentence)
        _end(row, KEPT, sentence)
    elif row.outcome != why[:1_000]:
        PlannedDeletion.objects.filter(pk=row.pk, state__in=GOING).update(outcome=why[:1_000])
        tell([row.topic])


def _end(row: PlannedDeletion, state: str, outcome: str) -> None:
    logger.info("planned deletion of %s: %s. %s", row.topic, state, outcome)
    if end(state, "", outcome, of=GOING, pk=row.pk):
        tell([row.topic])

"""Reading planned deletions, and what they hang on."""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime

from django.db.models import OuterRef, QuerySet, Subquery

from console.cluster.topics.grace import Traces, traces_of
from console.cluster.topics.models import GOING, OPEN, PlannedDeletion
from console.kit.access.filters import within
from console.kit.access.reach import Reach, Resource
from console.kit.gateway.connect import cluster_gateway
from console.kit.gateway.groups.interface import GroupsView
from console.state.clusters.models import Broker, Topic

#: A topic's id, and how many partitions it has.
Shape = tuple[str, int]


def planned_within(reach: Reach) -> QuerySet[PlannedDeletion]:
    """Return planned deletions, newest first; a person who sees the topic sees its planned deletion."""
    return PlannedDeletion.objects.filter(within(reach, Resource.TOPIC, "topic"))


def open_deletions_within(reach: Reach) -> QuerySet[PlannedDeletion]:
    """Return the open planned deletions within reach, by state, then by due time."""
    return planned_within(reach).filter(state__in=OPEN).order_by("state", "due_at", "topic")


def open_of(topics: Collection[str]) -> dict[str, PlannedDeletion]:
    return {deletion.topic: deletion for deletion in PlannedDeletion.objects.filter(topic__in=topics, state__in=OPEN)}


def due_at(now: datetime) -> QuerySet[PlannedDeletion]:
    return PlannedDeletion.objects.filter(state__in=GOING, due_at__lte=now).order_by("due_at", "id")


def with_going(topics: QuerySet[Topic]) -> QuerySet[Topic]:
    """Annotate topics with the due time `goes_at` and the state `going` of an open deletion, None without one."""
    planned = PlannedDeletion.objects.filter(topic=OuterRef("name"), state__in=OPEN).order_by()
    return topics.annotate(goes_at=Subquery(planned.values("due_at")[:1]), going=Subquery(planned.values("state")[:1]))


def traces_now(shapes: Mapping[str, Shape], groups: GroupsView | None = None) -> dict[str, Traces]:
    """Return the traces of use by topic, read now except for `groups`, which were read a moment ago.

    Raises GatewayError.
    """
    gateway = cluster_gateway()
    groups = groups or gateway.groups.describe()
    brokers = Broker.objects.filter(is_registered=True).count()
    return {
        name: traces_of(name, *shape, gateway.record_spans(name, committed_only=False), groups, brokers)
        for name, shape in shapes.items()
    }


def shapes_of(topics: Iterable[Topic]) -> dict[str, Shape]:
    """Return the topics' shapes as last seen."""
    return {topic.name: (topic.topic_id, topic.partition_count) for topic in topics}

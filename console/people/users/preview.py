"""What a user_rights comes to: how many objects of each kind a person would see and operate, beside what it is now."""

from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from console.kit.access.filters import within
from console.kit.access.reach import EVERYTHING, Reach, Resource
from console.kit.access.rights import CLUSTER
from console.kit.access.roles import Right
from console.people.users.queries import UserRights
from console.processes.models import ManagedProcess
from console.state.clusters.models import Topic
from console.state.consumers.access import groups_within
from console.state.consumers.models import GroupPartition

NAMES_SHOWN = 8


@dataclass(frozen=True, slots=True)
class VisibleObjects:
    """One kind of object under one user_rights."""

    seen: int
    operable: int


@dataclass(frozen=True, slots=True)
class PreviewRow:
    """`shown` and `hidden` are the first few names that appear and disappear with the change."""

    resource: Resource
    total: int
    now: VisibleObjects
    then: VisibleObjects
    shown: tuple[str, ...]
    hidden: tuple[str, ...]


def preview(now: UserRights, then: UserRights) -> list[PreviewRow]:
    return [
        _row(Resource.TOPIC, now.reach, then.reach),
        _row(Resource.GROUP, now.reach, then.reach),
        _row(Resource.PROCESS, now.reach, then.reach),
    ]


def cluster_text_of(user_rights: UserRights) -> str:
    rights = user_rights.reach.rights_on(Resource.CLUSTER, CLUSTER)
    if Right.OPERATE in rights:
        return "see and operate"
    return "see" if rights else "nothing"


def _row(resource: Resource, now: Reach, then: Reach) -> PreviewRow:
    seen_now, seen_then = _objects(resource, now), _objects(resource, then)
    return PreviewRow(
        resource,
        _objects(resource, EVERYTHING).count(),
        VisibleObjects(seen_now.count(), _objects(resource, now, Right.OPERATE).count()),
        VisibleObjects(seen_then.count(), _objects(resource, then, Right.OPERATE).count()),
        _names(seen_then.exclude(pk__in=seen_now.values("pk"))),
        _names(seen_now.exclude(pk__in=seen_then.values("pk"))),
    )


def _objects(resource: Resource, reach: Reach, right: Right = Right.VIEW) -> QuerySet[Any]:
    if resource is Resource.GROUP:
        groups = groups_within(reach).filter(within(reach, resource, "name", right))
        if right is not Right.OPERATE or not reach.is_limited(Resource.TOPIC):
            return groups
        beyond = GroupPartition.objects.exclude(within(reach, Resource.TOPIC, "topic"))
        return groups.exclude(pk__in=beyond.values("group"))
    model = Topic if resource is Resource.TOPIC else ManagedProcess
    return model.objects.filter(within(reach, resource, "name", right))


def _names(objects: QuerySet[Any]) -> tuple[str, ...]:
    return tuple(objects.order_by("name").values_list("name", flat=True)[:NAMES_SHOWN])

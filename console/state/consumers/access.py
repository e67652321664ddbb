"""The door to consumer groups: right first, then existence."""

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import Http404

from console.kit.access.filters import within
from console.kit.access.reach import Reach, Resource
from console.kit.access.rights import Right, reach_of, require_on
from console.state.consumers.models import ConsumerGroup, GroupPartition

READS_BEYOND = "This group also reads topics that your rights do not reach, so it is not yours to change."


def access_group(user: User, name: str, right: Right) -> ConsumerGroup:
    """Return the consumer group `name`, as `access_topic`. With `OPERATE` every topic it reads has to be in reach
    too.
    """
    require_on(user, Resource.GROUP, name, right)
    reach = reach_of(user)
    group = groups_within(reach).filter(name=name).first()
    if group is None:
        raise Http404(f"There is no consumer group {name}.")
    if right is not Right.VIEW and reads_beyond(group, reach):
        raise PermissionDenied(READS_BEYOND)
    return group


def reads_beyond(group: ConsumerGroup, reach: Reach) -> bool:
    """Return whether the group also reads topics out of reach, which its sums would reveal."""
    is_limited = reach.is_limited(Resource.TOPIC)
    return is_limited and group.partitions.exclude(within(reach, Resource.TOPIC, "topic")).exists()


def groups_within(reach: Reach) -> QuerySet[ConsumerGroup]:
    """Return groups in reach that read something in reach, or nothing: figures of others would reveal hidden topics."""
    groups = ConsumerGroup.objects.filter(within(reach, Resource.GROUP, "name"))
    if not reach.is_limited(Resource.TOPIC):
        return groups
    reads_nothing = ~Exists(GroupPartition.objects.filter(group=OuterRef("pk")))
    return groups.filter(Q(pk__in=partitions_within(reach).values("group")) | reads_nothing)


def partitions_within(reach: Reach) -> QuerySet[GroupPartition]:
    seen = within(reach, Resource.TOPIC, "topic") & within(reach, Resource.GROUP, "group__name")
    return GroupPartition.objects.filter(seen)

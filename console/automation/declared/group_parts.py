"""What of a declared consumer group is not so yet: where it begins, or that there is none."""

from collections.abc import Collection, Iterable, Iterator, Mapping

from django.contrib.auth.models import User

from console.automation.declared.declaration import ClusterDeclaration, DeclaredGroup
from console.automation.declared.now import ClusterNow
from console.automation.declared.object_parsing import EARLIEST
from console.automation.declared.parts import PlannedPart, Unplanned
from console.kit.access.reach import Reach, Resource
from console.kit.access.rights import Right, reach_of
from console.kit.common.current_cluster import here
from console.kit.gateway.connect import cluster_gateway
from console.kit.gateway.groups.interface import GroupView, OffsetBounds, TopicPartition
from console.state.consumers.access import READS_BEYOND
from console.state.consumers.actions import do_delete_group, do_reset_offsets
from console.state.consumers.removal import delete_plan, forgotten
from console.state.consumers.reset import FREE_STATES, obstacle_of, reset_command, reset_plan, reset_to

_BEYOND = "Your rights do not reach a consumer group of this name."
_NOT_YOURS = "You may look at it, and not change it."


def group_parts(
    person: User, declared: DeclaredGroup, now: ClusterNow, coming: Mapping[str, int]
) -> Iterator[PlannedPart | Unplanned | str]:
    """Yield parts of groups. `coming`: topics that are created before, and their partitions. A text is a note beside
    the plan.

    Raises GatewayError.
    """
    if not declared.starts and not declared.is_absent:
        return
    reach = reach_of(person)
    words = f"consumer group {declared.name}"
    if Right.VIEW not in reach.rights_on(Resource.GROUP, declared.name):
        yield Unplanned(words, _BEYOND)
        return
    view = cluster_gateway().groups.describe_one(declared.name)
    if declared.is_absent:
        if not _is_gone(view):
            yield removal_part(reach, view)
        return
    if not view.is_understood:
        yield Unplanned(words, obstacle_of(view))
        return
    for topic in sorted(declared.starts):
        if Right.VIEW not in reach.rights_on(Resource.TOPIC, topic):
            yield Unplanned(words, f"Your rights do not reach the topic {topic}.")
        elif topic not in now.topics and topic not in coming:
            yield Unplanned(words, f"There is no topic {topic}, and none is declared.")
        elif any(place[0] == topic for place in view.committed):
            continue
        elif view.state not in FREE_STATES:
            yield f"{words} has members, which begin in {topic} by themselves."
        else:
            yield _start(reach, view, topic, declared.starts[topic], now, coming)


def pruned_groups(person: User, declaration: ClusterDeclaration, now: ClusterNow) -> Iterator[PlannedPart | Unplanned]:
    """Yield deletions of undeclared groups in scope that this person can see."""
    names, reach = {group.name for group in declaration.groups}, reach_of(person)
    for name, view in now.groups.items():
        is_meant = name not in names and declaration.within("groups", name) and not _is_gone(view)
        if is_meant and may_see(reach, view):
            yield removal_part(reach, view)


def removal_part(reach: Reach, view: GroupView) -> PlannedPart:
    plan, reset = delete_plan(view, forgotten(view), here.BOOTSTRAP_SERVERS), forgotten(view)

    def again() -> PlannedPart:
        return removal_part(reach, cluster_gateway().groups.describe_one(view.group_id))

    return PlannedPart(
        plan,
        lambda actor, confirmation: do_delete_group(actor, plan, reset, confirmation)[0],
        _refusal(reach, view),
        again,
    )


def _start(
    reach: Reach, view: GroupView, topic: str, where: str, now: ClusterNow, coming: Mapping[str, int]
) -> PlannedPart | Unplanned:
    bounds = _bounds(topic, now, coming)
    wanted = {place: item.first if where == EARLIEST else item.next for place, item in bounds.items()}
    if topic in now.topics and len(bounds) < len(now.topics[topic].partitions):
        return Unplanned(f"consumer group {view.group_id}", f"Not every leader of {topic} answers; try again.")
    reset = reset_to(view, wanted, bounds)
    plan = reset_plan(view, reset, reset_command(view, reset, here.BOOTSTRAP_SERVERS))
    return PlannedPart(
        plan, lambda actor, confirmation: do_reset_offsets(actor, plan, reset, confirmation)[0], _refusal(reach, view)
    )


def _bounds(topic: str, now: ClusterNow, coming: Mapping[str, int]) -> Mapping[TopicPartition, OffsetBounds]:
    """Return the topic's bounds; a topic that is still to be created is empty."""
    if topic not in now.topics:
        return {(topic, number): OffsetBounds(0, 0) for number in range(coming[topic])}
    places = [(topic, partition.partition) for partition in now.topics[topic].partitions]
    return cluster_gateway().groups.bounds(places)


def _refusal(reach: Reach, view: GroupView) -> str:
    if Right.OPERATE not in reach.rights_on(Resource.GROUP, view.group_id):
        return _NOT_YOURS
    return READS_BEYOND if _hidden(reach, _topics(view)) else ""


def may_see(reach: Reach, view: GroupView) -> bool:
    """Return whether the group's name and something it reads are in reach, as in the list of groups."""
    topics = _topics(view)
    reads_within = not topics or len(_hidden(reach, topics)) < len(topics)
    return reads_within and Right.VIEW in reach.rights_on(Resource.GROUP, view.group_id)


def _hidden(reach: Reach, topics: Iterable[str]) -> set[str]:
    return {topic for topic in topics if Right.VIEW not in reach.rights_on(Resource.TOPIC, topic)}


def _topics(view: GroupView) -> Collection[str]:
    assigned = {place for member in view.members for place in member.assigned}
    return {topic for topic, _ in {*view.committed, *assigned}}


def _is_gone(view: GroupView) -> bool:
    return view.state == "Dead" and not view.committed

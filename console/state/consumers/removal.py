"""Forgetting what a group has committed: all of it with the group, or that of one topic. Pure."""

from console.kit.gateway.groups.interface import SHARE, STREAMS, GroupView
from console.kit.plans.plan import Plan, PlanLine
from console.state.consumers.reset import OffsetMove, Reset, groups_command, obstacle_of

_UNDO = "the offsets are kept, and can be put back from the reset page of the group; its name then exists again."
ACTION = "delete consumer group"
SHARE_ACTION = "delete share group"
FORGET, SHARE_FORGET = "delete committed offsets", "delete share group offsets"
_SHARE_UNDO = (
    "the start offsets are kept, and can be put back from the reset page of the group; records after them are then "
    "delivered again."
)
_SHARE_LOSS = (
    "Its share state is deleted for good: which records after the start offsets are acknowledged or in flight, and "
    "how often each was delivered. Consumers that come back begin where share.auto.offset.reset says."
)
_STREAMS_LOSS = (
    "Its changelog and repartition topics stay; an application that comes back finds its former state there."
)
_LOSS = "The group's place is forgotten: a consumer that comes back starts where its auto.offset.reset says."


def forgotten(group: GroupView, topic: str = "") -> Reset:
    """Return the reset that deletes the commits of one topic, or all."""
    moves = (
        OffsetMove(place, offset, None, None)
        for place, offset in sorted(group.committed.items())
        if not topic or place[0] == topic
    )
    return Reset(tuple(moves), (), group.group_type == SHARE)


def delete_plan(group: GroupView, reset: Reset, bootstrap_servers: str) -> Plan:
    """Return the deletion with every offset that goes; of a share group these are start offsets."""
    is_share = group.group_type == SHARE
    more = (_STREAMS_LOSS,) if group.group_type == STREAMS else ()
    return Plan(
        action=SHARE_ACTION if is_share else ACTION,
        object_type="consumer group",
        object_name=group.group_id,
        lines=(PlanLine("group", group.state, None), *_lines(reset)),
        read=(group.state, *(f"{move.name} {move.old}" for move in reset.moves)),
        safe_because="",
        losses=(_SHARE_LOSS,) if is_share else (_LOSS, *more),
        undo=_SHARE_UNDO if is_share else _UNDO,
        command=groups_command(bootstrap_servers, group, {"delete": True}),
        typed_name=group.group_id or "nameless",
        obstacle=obstacle_of(group),
    )


def forget_plan(group: GroupView, topic: str, reset: Reset, bootstrap_servers: str) -> Plan:
    """Plan to delete offsets. The group may have members, as long as none of them reads the topic; a share group
    none.
    """
    readers = [member.client_id for member in group.members if any(place[0] == topic for place in member.assigned)]
    obstacle = f"A member reads {topic} now ({readers[0]}). Stop the consumers that do." if readers else ""
    if not group.is_understood or group.group_type == SHARE:
        obstacle = obstacle_of(group)
    is_share = group.group_type == SHARE
    return Plan(
        action=SHARE_FORGET if is_share else FORGET,
        object_type="consumer group",
        object_name=group.group_id,
        lines=_lines(reset),
        read=tuple(f"{move.name} {move.old}" for move in reset.moves),
        safe_because="",
        losses=(_SHARE_LOSS if is_share else _LOSS,),
        undo=_SHARE_UNDO if is_share else _UNDO,
        command=groups_command(bootstrap_servers, group, {"delete-offsets": True, "topic": [topic]}),
        typed_name=topic,
        obstacle=obstacle,
    )


def _lines(reset: Reset) -> tuple[PlanLine, ...]:
    """Return a line for each offset that goes."""
    what = " start offset" if reset.is_share else ""
    return tuple(PlanLine(f"{move.name}{what}", move.old, None) for move in reset.moves)

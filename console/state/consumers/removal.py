"""Forgetting what a group has committed: all of it with the group, or that of one topic. Pure."""

from console.kit.gateway.groups.interface import GroupView
from console.kit.plans.plan import Line, Plan
from console.state.consumers.reset import Move, Reset, groups_command, obstacle_of

_UNDO = "the offsets are kept, and can be put back from the reset page of the group; its name then exists again."
_LOSS = "The group's place is forgotten: a consumer that comes back starts where its auto.offset.reset says."


def forgotten(group: GroupView, topic: str = "") -> Reset:
    """The commits that go; of one topic, or of all."""
    moves = (
        Move(place, offset, None, None)
        for place, offset in sorted(group.committed.items())
        if not topic or place[0] == topic
    )
    return Reset(tuple(moves), ())


def delete_plan(group: GroupView, reset: Reset, bootstrap_servers: str) -> Plan:
    return Plan(
        action="delete consumer group",
        object_type="consumer group",
        object_name=group.group_id,
        lines=(Line("group", group.state, None), *_lines(reset)),
        read=(group.state, *(f"{move.name} {move.old}" for move in reset.moves)),
        losses=(_LOSS,),
        undo=_UNDO,
        command=groups_command(bootstrap_servers, group.group_id, {"delete": True}),
        typed_name=group.group_id or "nameless",
        obstacle=obstacle_of(group),
    )


def forget_plan(group: GroupView, topic: str, reset: Reset, bootstrap_servers: str) -> Plan:
    """Members may be there, as long as none of them reads the topic."""
    readers = [each.client_id for each in group.members if any(place[0] == topic for place in each.assigned)]
    obstacle = f"A member reads {topic} now ({readers[0]}). Stop the consumers that do." if readers else ""
    return Plan(
        action="delete committed offsets",
        object_type="consumer group",
        object_name=group.group_id,
        lines=_lines(reset),
        read=tuple(f"{move.name} {move.old}" for move in reset.moves),
        losses=(_LOSS,),
        undo=_UNDO,
        command=groups_command(bootstrap_servers, group.group_id, {"delete-offsets": True, "topic": [topic]}),
        typed_name=topic,
        obstacle=obstacle,
    )


def _lines(reset: Reset) -> tuple[Line, ...]:
    return tuple(Line(move.name, move.old, None) for move in reset.moves)

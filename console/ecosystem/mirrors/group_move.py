"""A consumer group that goes on in the other cluster of a mirror: where, what is read again, and the plan of it.

Pure but for `look` and `back`, which ask the clusters.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from console.kit.gateway.commands import shell_command
from console.kit.gateway.groups.interface import SHARE, GroupView, TopicPartition
from console.kit.gateway.interface import ClusterGateway
from console.kit.gateway.processes.mirror import MovedOffset, go_on, places_of, read_mirror_state
from console.kit.plans.plan import Plan
from console.state.consumers.reset import FREE_STATES, OffsetMove, Reset, reset_plan, reset_to

ACTION = "move consumer group"
#: Of a group in another cluster: what is kept of it is no group's of this one.
ELSEWHERE = "consumer group elsewhere"
_READ_BEFORE = "The group has read in {ends.source_name} every record that it skips in {ends.target_name}."


@dataclass(frozen=True, slots=True)
class Ends:
    """Both ends of a flow SOURCE->TARGET; `alias` is that of the target, empty if it is this cluster."""

    flow: str
    source: ClusterGateway
    target: ClusterGateway
    alias: str
    source_servers: str
    target_servers: str
    #: Other clusters of this console that an end is, by their names here.
    source_clusters: frozenset[str] = frozenset()
    target_clusters: frozenset[str] = frozenset()

    @property
    def source_name(self) -> str:
        return self.flow.partition("->")[0]

    @property
    def target_name(self) -> str:
        return self.flow.partition("->")[2]

    def object_of(self, group: str) -> tuple[str, str]:
        """Type and name of what is changed, as plans and what takes them back call it."""
        return (ELSEWHERE, f"{self.alias}/{group}") if self.alias else ("consumer group", group)


@dataclass(frozen=True, slots=True)
class GroupMoveState:
    """A group in both clusters, now."""

    there: GroupView
    here: GroupView
    moved: tuple[MovedOffset, ...]
    reset: Reset

    @property
    def topics(self) -> set[str]:
        return {topic for topic, _ in self.there.committed} | {move.place[0] for move in self.steps}

    @property
    def steps(self) -> tuple[OffsetMove, ...]:
        return (*self.reset.moves, *self.reset.stays)

    @property
    def left_behind(self) -> list[MovedOffset]:
        """The partitions that the group has read without an offset in the target."""
        return [line for line in self.moved if line.target is None]


def look(ends: Ends, group: str) -> GroupMoveState:
    """Raises GatewayError."""
    there, here = ends.source.groups.describe_one(group), ends.target.groups.describe_one(group)
    moved = go_on(there.committed, ends.flow, read_mirror_state(ends.source), read_mirror_state(ends.target))
    wanted: dict[TopicPartition, int | None] = {(place[0], place[1]): at for place, at in places_of(moved).items()}
    return GroupMoveState(
        there, here, tuple(moved), noted(reset_to(here, wanted, ends.target.groups.bounds(wanted)), moved)
    )


def back(ends: Ends, group: str, former: dict[TopicPartition, int | None]) -> GroupMoveState:
    """Return the state for kept offsets, as `look`. Raises GatewayError."""
    here = ends.target.groups.describe_one(group)
    return GroupMoveState(here, here, (), reset_to(here, former, ends.target.groups.bounds(former)))


def noted(reset: Reset, moved: Iterable[MovedOffset]) -> Reset:
    """Return the reset with each offset's origin, and whether records are read again."""
    notes: dict[TopicPartition, str] = {}
    for line in moved:
        if line.target is not None:
            note = f"from {line.source.topic}-{line.source.partition} at {line.at}"
            notes[line.target] = note if line.is_exact else f"{note}; some records are read again"

    def with_note(move: OffsetMove) -> OffsetMove:
        return replace(move, note="; ".join(filter(None, (notes.get(move.place, ""), move.note))))

    return Reset(tuple(map(with_note, reset.moves)), tuple(map(with_note, reset.stays)))


def move_plan(ends: Ends, group: str, state: GroupMoveState, *, is_undo: bool = False, read_only: str = "") -> Plan:
    """Plan a group's move. `is_undo`: stored offsets are put back; the group's place in the source does not matter
    then.

    `read_only`: why nothing may be changed in the target; empty: it may.
    """
    plan = reset_plan(state.here, state.reset, "" if is_undo else command(ends, group), ACTION)
    stays = "" if is_undo else _stays_of_type(ends, state)
    object_type, object_name = ends.object_of(group)
    taken = "" if is_undo or state.there.state in FREE_STATES else _members_there(ends, state.there)
    left = len(state.left_behind)
    touches = (f"{left} of the partitions it reads have no place in {ends.target_name}, see below.",) if left else ()
    return replace(
        plan,
        object_type=object_type,
        object_name=object_name,
        read=(*plan.read, ends.flow, state.there.state, *(f"{place} {at}" for place, at in _committed(state.there))),
        touches=(*plan.touches, *touches),
        losses=plan.losses if is_undo else (),
        safe_because="" if left or is_undo else _READ_BEFORE.format(ends=ends),
        undo=f"the former offsets in {ends.target_name} are kept, and can be put back.",
        clusters=tuple(sorted(ends.target_clusters)),
        obstacle=read_only or stays or taken or plan.obstacle,
    )


def command(ends: Ends, group: str) -> str:
    options = {
        "to-bootstrap-server": ends.target_servers,
        "flow": ends.flow,
        "group": group,
        "execute": True,
    }
    return shell_command("kafka-mirror-groups", ends.source_servers, options)


def _stays_of_type(ends: Ends, state: GroupMoveState) -> str:
    """Return why a group of its type does not go on elsewhere; empty: it can."""
    for view, cluster in ((state.there, ends.source_name), (state.here, ends.target_name)):
        sentence = view.details.unknown_because
        if view.group_type == SHARE:
            sentence = f"It is a share group in {cluster}: which records are acknowledged is known there only."
        if sentence:
            return f"{sentence} So it cannot go on from {ends.source_name} in {ends.target_name}."
    return ""


def _members_there(ends: Ends, there: GroupView) -> str:
    return (
        f"The group still reads in {ends.source_name} (state {there.state}): what it reads meanwhile it would read "
        f"again in {ends.target_name}. Stop its consumers, and the group becomes empty."
    )


def _committed(view: GroupView) -> list[tuple[TopicPartition, int]]:
    return sorted(view.committed.items())

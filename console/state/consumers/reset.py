"""Where a reset would put a group's offsets: old beside new, what is read again, what is skipped. Pure.

A kind (earliest, latest, a moment, an offset, a shift) is worked out once, when the plan is shown. What is confirmed
and written are the offsets of that table, not the kind again: the log's end moves on meanwhile.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from console.kit.gateway.commands import shell_command
from console.kit.gateway.groups.interface import CLASSIC, SHARE, STREAMS, GroupView, OffsetBounds, TopicPartition
from console.kit.plans.plan import Plan, PlanLine

ACTION = "reset offsets"
SHARE_ACTION = "reset share group offsets"
#: Kafka's tool for groups of a type; kafka-consumer-groups for every other. They share the options that are used here.
_TOOLS = {SHARE: "kafka-share-groups", STREAMS: "kafka-streams-groups"}
#: Kafka takes commits from outside only while nobody is in the group.
FREE_STATES = ("Empty", "Dead")


class ResetKind(StrEnum):
    EARLIEST = "earliest"
    LATEST = "latest"
    TIME = "time"
    OFFSET = "offset"
    SHIFT = "shift"
    GROUP = "group"


@dataclass(frozen=True, slots=True)
class Aim:
    """What was asked for. `value` is the offset or the shift, `at_ms` the moment, `like` the group to be followed.

    `topic` empty: whatever the group has committed or reads; with a topic also its partitions without a commit.
    """

    kind: ResetKind
    topic: str = ""
    partitions: frozenset[int] = frozenset()
    value: int = 0
    at_ms: int = 0
    like: str = ""

    def takes(self, place: TopicPartition) -> bool:
        if self.topic and place[0] != self.topic:
            return False
        return not self.partitions or place[1] in self.partitions


@dataclass(frozen=True, slots=True)
class OffsetMove:
    """`new` None: the commit is taken away. `bounds` None: the leader did not answer."""

    place: TopicPartition
    old: int | None
    new: int | None
    bounds: OffsetBounds | None
    note: str = ""

    @property
    def name(self) -> str:
        return f"{self.place[0]}-{self.place[1]}"

    @property
    def again(self) -> int:
        """Records that are read once more."""
        return max(0, (self.old or 0) - self.new) if self.old is not None and self.new is not None else 0

    @property
    def gone(self) -> int:
        """Records that were deleted before the group read them, which no offset brings back."""
        return max(0, self.bounds.first - self.old) if self.bounds and self.old is not None else 0

    @property
    def skipped(self) -> int:
        """Records that are there, unread, and will not be read."""
        if self.new is None:
            return 0
        start = max(self.old or 0, self.bounds.first if self.bounds else 0)
        return max(0, self.new - start)


@dataclass(frozen=True, slots=True)
class Reset:
    """`moves` change something; `stays` do not, each with a note why. `is_share`: these are start offsets."""

    moves: tuple[OffsetMove, ...]
    stays: tuple[OffsetMove, ...]
    is_share: bool = False

    @property
    def wanted(self) -> dict[str, dict[str, int | None]]:
        """topic → partition → offset, as it travels through a form and is kept."""
        return _nested((move.place, move.new) for move in self.moves)

    @property
    def former(self) -> dict[str, dict[str, int | None]]:
        return _nested((move.place, move.old) for move in self.moves)


def aim_at(
    aim: Aim,
    places: Iterable[TopicPartition],
    group: GroupView,
    bounds: Mapping[TopicPartition, OffsetBounds],
    by_time: Mapping[TopicPartition, int],
    theirs: Mapping[TopicPartition, int] = MappingProxyType({}),
) -> dict[TopicPartition, tuple[int | None, str]]:
    """Return new offset and a note for every place that is aimed at; None with a note where there can be none.

    `theirs`: what the group that is followed has committed.
    """
    aims: dict[TopicPartition, tuple[int | None, str]] = {}
    for place in sorted(set(places)):
        if not aim.takes(place):
            continue
        if place not in bounds:
            aims[place] = (None, "its leader does not answer")
        elif aim.kind is ResetKind.SHIFT and place not in group.committed:
            aims[place] = (None, "nothing is committed that could be shifted")
        elif aim.kind is ResetKind.GROUP and place not in theirs:
            aims[place] = (None, f"{aim.like} has committed nothing in it")
        elif aim.kind is ResetKind.GROUP:
            aims[place] = _within(theirs[place], bounds[place])
        else:
            aims[place] = _aimed(aim, place, group, bounds[place], by_time)
    return aims


def _aimed(
    aim: Aim, place: TopicPartition, group: GroupView, bounds: OffsetBounds, by_time: Mapping[TopicPartition, int]
) -> tuple[int | None, str]:
    match aim.kind:
        case ResetKind.EARLIEST:
            return bounds.first, ""
        case ResetKind.LATEST:
            return bounds.next, ""
        case ResetKind.TIME:
            return (by_time[place], "") if place in by_time else (None, "its leader does not answer")
        case ResetKind.OFFSET:
            return _within(aim.value, bounds)
        case _:
            return _within(group.committed[place] + aim.value, bounds)


def _within(offset: int, bounds: OffsetBounds) -> tuple[int, str]:
    if offset < bounds.first:
        return bounds.first, f"{offset} is before the log's start"
    if offset > bounds.next:
        return bounds.next, f"{offset} is beyond the log's end"
    return offset, ""


def reset_by_aim(
    group: GroupView,
    aimed: Mapping[TopicPartition, tuple[int | None, str]],
    bounds: Mapping[TopicPartition, OffsetBounds],
) -> Reset:
    moves, stays = [], []
    for place, (new, note) in aimed.items():
        old = group.committed.get(place)
        if new is None or new == old:
            stays.append(OffsetMove(place, old, old, bounds.get(place), note or "is there already"))
        else:
            moves.append(OffsetMove(place, old, new, bounds.get(place), note))
    return Reset(tuple(moves), tuple(stays), group.group_type == SHARE)


def reset_to(
    group: GroupView, wanted: Mapping[TopicPartition, int | None], bounds: Mapping[TopicPartition, OffsetBounds]
) -> Reset:
    """Reset to exactly these offsets; one before the log start becomes the log start."""
    moves, stays = [], []
    for place, offset in sorted(wanted.items()):
        old, known = group.committed.get(place), bounds.get(place)
        new, note = (offset, "") if offset is None or known is None else _within(offset, known)
        if known is None and offset is not None:
            stays.append(OffsetMove(place, old, old, None, "its leader does not answer"))
        elif new is None and group.group_type == SHARE:
            stays.append(OffsetMove(place, old, old, known, "a start offset is not taken away alone"))
        elif new == old:
            stays.append(OffsetMove(place, old, old, known, "is there already"))
        else:
            moves.append(OffsetMove(place, old, new, known, note))
    return Reset(tuple(moves), tuple(stays), group.group_type == SHARE)


def reset_plan(group: GroupView, reset: Reset, command: str, action: str = "") -> Plan:
    """Return the change as it is shown, confirmed and kept; `action` is the audit's word where it is another."""
    again = sum(move.again for move in reset.moves)
    skipped = sum(move.skipped for move in reset.moves)
    touches = [f"{_count(again, 'record')} will be read a second time."] if again else []
    if group.state == "Dead" and not group.committed:
        touches.append("There is no such group yet: it begins with these offsets, where its first member will read.")
    gone = sum(move.gone for move in (*reset.moves, *reset.stays))
    if gone:
        count = _count(gone, "record")
        touches.append(f"{count} that it had not read were deleted by retention: no offset brings them back.")
    touches += _of_type(group)
    return Plan(
        action=action or (SHARE_ACTION if reset.is_share else ACTION),
        object_type="consumer group",
        object_name=group.group_id,
        lines=tuple(PlanLine(move.name, move.old, move.new) for move in reset.moves),
        read=(
            "free" if group.state in FREE_STATES else "taken",
            *([group.group_type] if group.group_type != CLASSIC else ()),
            *(f"{move.name} {move.old} {move.new}" for move in reset.moves),
        ),
        touches=tuple(touches),
        losses=tuple(_losses(reset, skipped)),
        safe_because=f"Every unread record that is {'left' if gone else 'there'} is still read.",
        undo="the former offsets are kept, and can be put back from this page.",
        command=command,
        obstacle=obstacle_of(group),
    )


def _losses(reset: Reset, skipped: int) -> Iterable[str]:
    if skipped:
        yield f"{_count(skipped, 'record')} that the group has not read will be skipped."
    if forgotten := sum(move.new is None for move in reset.moves):
        yield (
            f"The group's place in {_count(forgotten, 'partition')} is forgotten: a consumer starts where its "
            "auto.offset.reset says."
        )


def _of_type(group: GroupView) -> list[str]:
    """Return what a reset of such a group does besides."""
    if group.group_type == SHARE:
        return ["Records acknowledged after the new start offsets are delivered again; delivery counts start again."]
    if group.group_type == STREAMS:
        return ["State stores, changelog and repartition topics stay as they are: what is read again is counted twice."]
    return []


def obstacle_of(group: GroupView) -> str:
    """Return why offsets cannot be changed now; empty if they can."""
    if not group.is_understood:
        why = group.details.unknown_because or f"This console does not know groups of type {group.group_type}."
        return f"{why} Nothing of it is changed from here; use the command-line tool for its type."
    if group.state in FREE_STATES:
        return ""
    count = len(group.members)
    who = _count(count, "member") if count else "members coming and going"
    if group.group_type == SHARE:
        return (
            f"The group has {who} (state {group.state}), and start offsets change only while it is empty. "
            "Stop its consumers first."
        )
    return (
        f"The group has {who} (state {group.state}), and what they commit would overwrite this. "
        "Stop its consumers, and the group becomes empty."
    )


def reset_command(group: GroupView, reset: Reset, bootstrap_servers: str) -> str:
    """Return the command with exactly the plan's offsets: the tool's own --to-latest would look again.

    Offsets travel in a file, as the tool reads it (topic,partition,offset), unless one partition is all there is.
    """
    put = [move for move in reset.moves if move.new is not None]
    steps = []
    if len(put) == 1 and group.group_type != STREAMS:  # whose tool names topics by another option
        ((topic, partition),) = (move.place for move in put)
        moved = {"reset-offsets": True, "topic": [f"{topic}:{partition}"], "to-offset": put[0].new, "execute": True}
        steps.append(groups_command(bootstrap_servers, group, moved))
    elif put:
        lines = "\n".join(f"{move.place[0]},{move.place[1]},{move.new}" for move in put)
        steps += ["cat > offsets.csv <<'END'", lines, "END"]
        moved = {"reset-offsets": True, "from-file": "offsets.csv", "execute": True}
        steps.append(groups_command(bootstrap_servers, group, moved))
    for topic, partitions in _nested((move.place, None) for move in reset.moves if move.new is None).items():
        forgotten = {"delete-offsets": True, "topic": [f"{topic}:{','.join(partitions)}"]}
        steps.append(groups_command(bootstrap_servers, group, forgotten))
    return "\n".join(steps)


def groups_command(bootstrap_servers: str, group: GroupView, options: Mapping[str, object]) -> str:
    line = shell_command("kafka-consumer-groups", bootstrap_servers, {"group": [group.group_id], **options})
    tool = _TOOLS.get(group.group_type)
    return line if tool is None else f"{tool}{line.removeprefix('kafka-consumer-groups')}"


def flat(nested: Mapping[str, Mapping[str, int | None]]) -> dict[TopicPartition, int | None]:
    """Return the opposite of `Reset.wanted`. Raises ValueError for what is no such thing."""
    offsets: dict[TopicPartition, int | None] = {}
    try:
        for topic, partitions in nested.items():
            for number, offset in partitions.items():
                if offset is not None and (type(offset) is not int or offset < 0):
                    raise ValueError(f"{offset!r} is no offset")
                offsets[topic, int(number)] = offset
    except (AttributeError, TypeError) as error:
        raise ValueError("no offsets by topic and partition") from error
    return offsets


def _nested(offsets: Iterable[tuple[TopicPartition, int | None]]) -> dict[str, dict[str, int | None]]:
    nested: dict[str, dict[str, int | None]] = {}
    for (topic, partition), offset in offsets:
        nested.setdefault(topic, {})[str(partition)] = offset
    return nested


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}".replace(",", "\u202f")

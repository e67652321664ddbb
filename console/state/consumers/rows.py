"""What the collector keeps of groups, and what changed between two looks. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from console.kit.gateway.groups.interface import (
    CLASSIC,
    NO_DETAILS,
    UNKNOWN_STATE,
    GroupDetails,
    Subtopology,
)
from console.state.consumers.losses import Loss
from console.state.consumers.members import MemberRow
from console.state.consumers.trend import Trend, trend_of
from console.state.consumers.verdict import LagVerdict, worst

#: Kafka allows longer names of groups; such a group is left out.
GROUP_NAME_LENGTH_MAX = 1_024
MEMBER_ID_LENGTH_MAX = 500


@dataclass(frozen=True, slots=True)
class GroupPartitionRow:
    """A group's position in one partition. `lag` counts records, not markers at the end; None: not known."""

    topic: str
    partition: int
    committed: int | None
    first_offset: int | None
    next_offset: int | None
    lag: int | None
    #: When the oldest unread record was appended; None: nothing is unread, or nobody knows.
    behind_since_ms: int | None
    #: When retention may delete that record, at the earliest.
    expires_at_ms: int | None
    verdict: LagVerdict
    member_id: str = ""
    #: Records that were deleted before the group read them, of one episode; see `losses.Loss`.
    lost: int = 0
    lost_since_ms: int | None = None
    lost_at_ms: int | None = None
    lost_until: int = 0
    #: Records read per second over the last minutes, by commits; None: not known yet.
    read_per_second: float | None = None

    @property
    def loss(self) -> Loss:
        return Loss(self.lost, self.lost_since_ms, self.lost_at_ms, self.lost_until)


@dataclass(frozen=True, slots=True)
class GroupRow:
    name: str
    state: str
    protocol_type: str
    coordinator: int
    members: tuple[MemberRow, ...]
    partitions: tuple[GroupPartitionRow, ...]
    #: Unread records gained (or, below zero, worked off) per second; None: not known yet.
    lag_per_second: float | None = None
    #: Records appended per second to all it reads.
    arriving_per_second: float | None = None
    #: Its coordinator does not answer: this is how it was.
    is_silent: bool = False
    group_type: str = CLASSIC
    details: GroupDetails = NO_DETAILS
    #: Since when the verdict is this one; None: since before the first look.
    verdict_since_ms: int | None = None
    #: Since when it has no members; None: it has some, or had none at the first look.
    empty_since_ms: int | None = None

    @property
    def member_count(self) -> int | None:
        """The number of members; None if the group cannot be described."""
        return None if self.state == UNKNOWN_STATE else len(self.members)

    @property
    def details_as_json(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self.details).items() if value not in (None, "", ())}

    @property
    def partition_count(self) -> int:
        return len(self.partitions)

    @property
    def lag(self) -> int | None:
        """Return the records not read in partitions where that is known; None: in none, or 0 in only some of them."""
        known = [partition.lag for partition in self.partitions if partition.lag is not None]
        return sum(known) if any(known) or (known and len(known) == len(self.partitions)) else None

    @property
    def behind_since_ms(self) -> int | None:
        return min(
            (partition.behind_since_ms for partition in self.partitions if partition.behind_since_ms is not None),
            default=None,
        )

    @property
    def expires_at_ms(self) -> int | None:
        return min(
            (partition.expires_at_ms for partition in self.partitions if partition.expires_at_ms is not None),
            default=None,
        )

    @property
    def lost(self) -> int:
        return sum(partition.lost for partition in self.partitions)

    @property
    def lost_since_ms(self) -> int | None:
        """Return when the oldest loss began; None: nothing is lost, or one began before the first look."""
        began = [partition.lost_since_ms for partition in self.partitions if partition.lost]
        known = [since_ms for since_ms in began if since_ms is not None]
        return min(known) if known and len(known) == len(began) else None

    @property
    def lost_at_ms(self) -> int | None:
        return max((partition.lost_at_ms for partition in self.partitions if partition.lost_at_ms), default=None)

    @property
    def read_per_second(self) -> float | None:
        """Return records read per second in all its partitions; None: none of them is known."""
        rates = [partition.read_per_second for partition in self.partitions if partition.read_per_second is not None]
        return round(sum(rates), 1) if rates else None

    @property
    def trend(self) -> Trend:
        return trend_of(self.lag, self.lag_per_second, self.arriving_per_second)

    @property
    def verdict(self) -> LagVerdict:
        if self.state == UNKNOWN_STATE:
            return LagVerdict.UNKNOWN
        return worst(partition.verdict for partition in self.partitions)

    @property
    def topics(self) -> list[str]:
        return sorted({partition.topic for partition in self.partitions})


def with_beginnings(row: GroupRow, before: GroupRow | None, at_ms: int) -> GroupRow:
    """Return `row` with the moments its verdict and its want of members began; `before` is the last look's."""
    if before is None:
        return row
    is_same = row.verdict is before.verdict
    was_empty = before.member_count == 0
    return replace(
        row,
        verdict_since_ms=before.verdict_since_ms if is_same else at_ms,
        empty_since_ms=None if row.member_count != 0 else before.empty_since_ms if was_empty else at_ms,
    )


def details_of(stored: Mapping[str, Any]) -> GroupDetails:
    """Return what `GroupRow.details_as_json` wrote."""
    parts = tuple(
        Subtopology(
            part["name"],
            *(
                tuple(part[names])
                for names in ("source_topics", "repartition_topics", "sink_topics", "changelog_topics")
            ),
        )
        for part in stored.get("subtopologies", ())
    )
    return GroupDetails(**{**stored, "subtopologies": parts})


@dataclass(frozen=True, slots=True)
class GroupRowChanges:
    """Changed rows with their changed partitions; `reshaped` names groups whose set of partitions changed."""

    created: list[GroupRow] = field(default_factory=list)
    changed: list[tuple[GroupRow, list[GroupPartitionRow]]] = field(default_factory=list)
    reshaped: list[GroupRow] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.created or self.changed or self.reshaped or self.deleted)

    @property
    def is_list_changed(self) -> bool:
        return bool(self.created or self.deleted)

    @property
    def rows(self) -> list[GroupRow]:
        """The rows that exist and differ."""
        return [*self.created, *self.reshaped, *(row for row, _ in self.changed)]

    @property
    def names(self) -> list[str]:
        return [row.name for row in self.rows]


def compare_groups(before: Mapping[str, GroupRow], after: Mapping[str, GroupRow]) -> GroupRowChanges:
    changes = GroupRowChanges(deleted=sorted(before.keys() - after.keys()))
    for name, row in after.items():
        previous = before.get(name)
        if previous is row:
            continue
        if previous is None:
            changes.created.append(row)
        elif previous == row:
            continue
        elif _is_reshaped(previous.partitions, row.partitions):
            changes.reshaped.append(row)
        else:
            pairs = zip(previous.partitions, row.partitions, strict=True)
            changes.changed.append((row, [now for was, now in pairs if was != now]))
    return changes


def _is_reshaped(before: Sequence[GroupPartitionRow], after: Sequence[GroupPartitionRow]) -> bool:
    if len(before) != len(after):
        return True
    pairs = zip(before, after, strict=True)
    return any(was.partition != now.partition or was.topic != now.topic for was, now in pairs)

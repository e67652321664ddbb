"""What the console may ask about consumer groups, and the words it gets for an answer."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from broker.audit.increment import POSITIONS_GROUP
from broker.spark.ledger_names import LEDGER_PREFIX

#: A topic and the number of one of its partitions.
TopicPartition = tuple[str, int]
#: The metadata of an offset that the console commits: it is no sign that the group reads.
SET_BY_CONSOLE = "set by the Barnabas console"


#: The types of groups that can be described, as Kafka writes them.
CLASSIC, CONSUMER, SHARE, STREAMS = "classic", "consumer", "share", "streams"
UNDERSTOOD_TYPES = frozenset({CLASSIC, CONSUMER, SHARE, STREAMS})
#: The state of a group that is there and could not be described. No word of Kafka's.
UNKNOWN_STATE = "Unknown"


@dataclass(frozen=True, slots=True)
class MemberView:
    """A member of a group.

    `assigned` is empty during a rebalance, and for classic groups that are not of the consumer protocol. Members of a
    share group may hold the same partitions; those of a streams group hold what their active tasks read.
    `target` is what the member is to hold; None where the group's type knows no target. `epoch` is None for classic
    groups. `subscription` names topics, `regex` others. `tasks` are those of a streams group, as a text.
    """

    member_id: str
    client_id: str
    host: str
    instance_id: str
    assigned: tuple[TopicPartition, ...]
    target: tuple[TopicPartition, ...] | None = None
    epoch: int | None = None
    rack: str = ""
    subscription: tuple[str, ...] = ()
    regex: str = ""
    tasks: str = ""
    target_tasks: str = ""
    #: A member of the classic protocol in a group that is being upgraded.
    is_classic: bool = False


@dataclass(frozen=True, slots=True)
class Subtopology:
    """A part of a streams application that is connected with its other parts by topics only."""

    name: str
    source_topics: tuple[str, ...] = ()
    repartition_topics: tuple[str, ...] = ()
    sink_topics: tuple[str, ...] = ()
    changelog_topics: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GroupDetails:
    """What only some types of groups have; None or empty: this one does not, or the broker does not tell."""

    group_epoch: int | None = None
    assignment_epoch: int | None = None
    assignor: str = ""
    topology_epoch: int | None = None
    subtopologies: tuple[Subtopology, ...] = ()
    #: Why its state is unknown, as a sentence.
    unknown_because: str = ""


NO_DETAILS = GroupDetails()


@dataclass(frozen=True, slots=True)
class GroupView:
    """`state` is Kafka's word: Stable, Empty, PreparingRebalance, Assigning, Dead …; or UNKNOWN_STATE.

    `committed` holds the next offset to read of each partition the group has committed; of a share group the start
    offset of each share partition: of the first record that is not acknowledged. `lags` count all that are not, as only
    the coordinator of a share group can.
    """

    group_id: str
    state: str
    protocol_type: str
    coordinator: int
    members: tuple[MemberView, ...]
    committed: Mapping[TopicPartition, int]
    group_type: str = CLASSIC
    details: GroupDetails = NO_DETAILS
    lags: Mapping[TopicPartition, int] = field(default_factory=dict)
    #: Of these the console has set the offset, and no consumer has committed since.
    are_set: frozenset[TopicPartition] = frozenset()

    @property
    def is_understood(self) -> bool:
        """Whether members and offsets are known, so that a change of them can be planned."""
        return self.state != UNKNOWN_STATE and self.group_type in UNDERSTOOD_TYPES


@dataclass(frozen=True, slots=True)
class GroupsView:
    """Every group of the brokers that `answered`; those of others are not known now, which is not gone.

    Ledgers of stream jobs are left out: their offsets count batches, so there is no lag to them.
    """

    groups: tuple[GroupView, ...]
    answered: frozenset[int]

    def committed_in(self, topic: str) -> dict[str, dict[int, int]]:
        """Return group → partition → offset, of the groups that have committed in the topic."""
        committed: dict[str, dict[int, int]] = {}
        for group in self.groups:
            for (name, partition), offset in group.committed.items():
                if name == topic:
                    committed.setdefault(group.group_id, {})[partition] = offset
        return committed


@dataclass(frozen=True, slots=True)
class CommitView:
    """A commit as the offsets topic keeps it; `offset` None: forgotten (expired, deleted)."""

    group_id: str
    place: TopicPartition
    offset: int | None
    at_ms: int
    #: The console wrote it, for people: no consumer has read up to there.
    is_set: bool = False


@dataclass(frozen=True, slots=True)
class UnreadView:
    """The first record at or behind an offset. Both None: only markers of transactions follow."""

    offset: int | None
    at_ms: int | None


@dataclass(frozen=True, slots=True)
class OffsetBounds:
    """First and next offset of a partition, asked now."""

    first: int
    next: int


@dataclass(frozen=True, slots=True)
class OffsetRefusals:
    """Partitions that were refused, each with a sentence why; every other one was done."""

    why: Mapping[TopicPartition, str] = field(default_factory=dict)


def is_ledger(group_id: str) -> bool:
    """Return whether the group is a ledger of a stream job or of the audit, whose offsets must not be changed."""
    return group_id.startswith(LEDGER_PREFIX) or group_id == POSITIONS_GROUP


class GroupGateway(Protocol):
    """Every call returns within its timeout or raises a `GatewayError`."""

    def describe(self) -> GroupsView:
        """Return every group with its members and committed offsets.

        Raises ClusterUnreachableError if no broker answered.
        """
        ...

    def describe_one(self, group_id: str) -> GroupView:
        """Describe a group as its coordinator knows it now; one that does not exist is Dead, one of another type
        Unknown.
        """
        ...

    def commits(self) -> list[CommitView]:
        """Return the commits since the last call, oldest first for each group; the first call returns some earlier
        ones. For one thread.
        """
        ...

    def first_unread(self, positions: Mapping[TopicPartition, int]) -> Mapping[TopicPartition, UnreadView]:
        """Return the first record at or behind each offset. A place that could not be answered is missing."""
        ...

    def bounds(self, places: Iterable[TopicPartition]) -> Mapping[TopicPartition, OffsetBounds]:
        """Return first and next offsets now. A place whose leader does not answer is missing."""
        ...

    def offsets_at(self, places: Iterable[TopicPartition], at_ms: int) -> Mapping[TopicPartition, int]:
        """Return the offset of the first record as new as `at_ms`, the next offset if there is none. Missing as
        above.
        """
        ...

    def commit_offsets(self, group_id: str, offsets: Mapping[TopicPartition, int]) -> OffsetRefusals:
        """Commit for a group without members. Raises RefusedError if it has some."""
        ...

    def set_share_offsets(self, group_id: str, offsets: Mapping[TopicPartition, int]) -> OffsetRefusals:
        """Set where a share group without members begins anew. Raises RefusedError if it has some."""
        ...

    def delete_share_offsets(self, group_id: str, topics: Iterable[str]) -> Mapping[str, str]:
        """Forget the share state of whole topics; what was refused, with why. Raises RefusedError if it has members."""
        ...

    def delete_offsets(self, group_id: str, places: Iterable[TopicPartition]) -> OffsetRefusals:
        """Forget commits. Partitions of topics a member is subscribed to are refused."""
        ...

    def delete_group(self, group_id: str) -> None:
        """Forget a group without members and all it has committed."""
        ...

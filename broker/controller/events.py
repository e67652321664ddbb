"""What the controller is told. Facts come from ZooKeeper and from brokers' answers; nothing else happens to it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from uuid import UUID

from broker.common.cluster import LastRole, LeaderAndIsr, LiveBroker, TopicAssignment
from broker.common.eligible_leaders import MinIsrSettings
from broker.common.replica_assignment import ReplicaAssignment
from broker.common.types import TopicPartition
from broker.controller.verdict import PartitionVerdict

#: request_id of what was asked by a znode: nobody waits for an answer.
BY_ZNODE = -1


class ControllerEvent:
    """What has happened, as one of the classes below."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Elected(ControllerEvent):
    """This broker is controller under `controller_epoch`; the rest is all of ZooKeeper that matters, read since.

    Also told, with the same epoch, after the connection to ZooKeeper was interrupted: what was decided before may or
    may not have been written, so the controller starts over from what it finds.
    """

    controller_epoch: int
    brokers: dict[int, LiveBroker]
    topics: dict[str, TopicAssignment]
    states: dict[TopicPartition, LeaderAndIsr]
    topics_to_delete: frozenset[str]
    #: Names of notifications of ISR changes that were there before the states were read.
    isr_changes: frozenset[str] = frozenset()
    #: Topic ids by name, as the controller before told this broker: for topics whose znodes have lost theirs.
    last_topic_ids: Mapping[str, UUID] = field(default_factory=dict)
    #: Partitions whose states were removed: there are none, but there were.
    lost_states: frozenset[TopicPartition] = frozenset()
    #: min.insync.replicas, None unless the cluster keeps eligible leader replicas.
    min_isr: MinIsrSettings | None = None


@dataclass(frozen=True, slots=True)
class Resigned(ControllerEvent):
    """This broker is controller no longer."""


@dataclass(frozen=True, slots=True)
class BrokersChanged(ControllerEvent):
    """Every registered broker as of now."""

    brokers: dict[int, LiveBroker]


@dataclass(frozen=True, slots=True)
class BrokerUpdated(ControllerEvent):
    """What a broker says of itself as of now; it may have said so before."""

    broker: LiveBroker


@dataclass(frozen=True, slots=True)
class TopicsListed(ControllerEvent):
    """The name of every topic as of now."""

    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class TopicRead(ControllerEvent):
    """A watched topic's znode as it is now: it is new, or partitions were added, or it was made anew."""

    assignment: TopicAssignment


@dataclass(frozen=True, slots=True)
class TopicsIdentified(ControllerEvent):
    """Outcome of IdentifyTopics: the znodes that have an id now, and the states of their partitions.

    `unknown` are the topics that have none still; one whose znode is gone or unreadable is in neither.
    """

    assignments: dict[str, TopicAssignment]
    states: dict[TopicPartition, LeaderAndIsr]
    unknown: frozenset[str]


@dataclass(frozen=True, slots=True)
class TopicsToDelete(ControllerEvent):
    """Every topic whose deletion is asked for as of now."""

    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class StatesWritten(ControllerEvent):
    """Outcome of WriteStates. `stored` are states of another writer, which kept our own from being written."""

    written: dict[TopicPartition, LeaderAndIsr]
    stored: dict[TopicPartition, LeaderAndIsr]


@dataclass(frozen=True, slots=True)
class TopicRemoved(ControllerEvent):
    """Outcome of RemoveTopic: its znodes are gone."""

    topic: str


@dataclass(frozen=True, slots=True)
class LeaderAndIsrAnswered(ControllerEvent):
    """A broker's answer: roles it has taken, those it cannot take because their log directory is offline, and those it
    could not take just now. `full`: taken, and in a log directory that is full. `extents`: the last epoch and the end
    of logs whose partitions have no leader, (-1, 0) also of a missing log for which a role is deferred. `later`: roles
    that were not taken because the broker knows of these.
    """

    broker_id: int
    broker_epoch: int
    taken: frozenset[TopicPartition]
    failed: frozenset[TopicPartition]
    deferred: frozenset[TopicPartition]
    full: frozenset[TopicPartition] = frozenset()
    extents: Mapping[TopicPartition, tuple[int, int]] = field(default_factory=dict)
    later: Mapping[TopicPartition, LastRole] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReplicasDeleted(ControllerEvent):
    """A broker's answer to StopReplica with delete: which replicas are gone and which could not be deleted.

    `leader_epochs` are those of the request.
    """

    broker_id: int
    broker_epoch: int
    deleted: frozenset[TopicPartition]
    failed: frozenset[TopicPartition]
    leader_epochs: dict[TopicPartition, int]


@dataclass(frozen=True, slots=True)
class Tick(ControllerEvent):
    """Time has passed: `now_ms` of the step says how much."""


@dataclass(frozen=True, slots=True)
class ReassignmentsAsked(ControllerEvent):
    """A client asks to move partitions; a target of None calls a move off. Answered, see `effects.RespondToRequest`."""

    request_id: int
    targets: dict[TopicPartition, tuple[int, ...] | None]
    #: Whether a target may have another number of replicas than the partition has, or is to have (KIP-860).
    may_change_count: bool = True


@dataclass(frozen=True, slots=True)
class ReassignmentsBegun(ControllerEvent):
    """What was to be written for ReassignmentsAsked is written."""

    request_id: int
    begun: dict[TopicPartition, ReplicaAssignment]
    refused: dict[TopicPartition, PartitionVerdict]


@dataclass(frozen=True, slots=True)
class ReassignmentsByZnode(ControllerEvent):
    """/admin/reassign_partitions is there, with these targets; none if it cannot be read."""

    targets: dict[TopicPartition, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class ReassignmentsByZnodeBegun(ControllerEvent):
    """What was to be written for ReassignmentsByZnode is written."""

    refused: dict[TopicPartition, PartitionVerdict]
    is_empty: bool


@dataclass(frozen=True, slots=True)
class AssignmentsWritten(ControllerEvent):
    """Outcome of WriteAssignments. Partitions whose topic is deleted or recreated are missing."""

    written: dict[TopicPartition, ReplicaAssignment]


class Election(Enum):
    """The kind of election: preferred replica, or any online replica if there is no leader (unclean)."""

    PREFERRED = auto()
    UNCLEAN = auto()


@dataclass(frozen=True, slots=True)
class ElectionAsked(ControllerEvent):
    """A client (or, BY_ZNODE, /admin/preferred_replica_election) asks for an election; None means all partitions."""

    request_id: int
    election: Election
    partitions: frozenset[TopicPartition] | None


@dataclass(frozen=True, slots=True)
class ElectionTried(ControllerEvent):
    """The states elected for ElectionAsked are written, except where another broker has written meanwhile."""

    request: ElectionAsked
    tried: tuple[TopicPartition, ...]
    verdicts: dict[TopicPartition, PartitionVerdict]
    attempts_left: int


@dataclass(frozen=True, slots=True)
class LogDirEventsListed(ControllerEvent):
    """The names of all notifications of failed log directories as of now."""

    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class LogDirsFailed(ControllerEvent):
    """Outcome of ReadLogDirEvents: brokers that have lost a log directory."""

    broker_ids: frozenset[int]


@dataclass(frozen=True, slots=True)
class ShutdownAsked(ControllerEvent):
    """A broker wants to stop and have its leaderships moved away first. Answered, see `effects.AnswerShutdown`."""

    request_id: int
    broker_id: int
    broker_epoch: int


@dataclass(frozen=True, slots=True)
class ShutdownCarriedOut(ControllerEvent):
    """What was to be written for ShutdownAsked is written."""

    request: ShutdownAsked


@dataclass(frozen=True, slots=True)
class ConfigChanged(ControllerEvent):
    """The configuration of a topic was changed, or (None) of brokers, which topics take their defaults from."""

    topic: str | None


@dataclass(frozen=True, slots=True)
class EligibleLeadersChanged(ControllerEvent):
    """The cluster has finalized that it keeps eligible leader replicas (KIP-966), or that it does not."""

    is_enabled: bool


@dataclass(frozen=True, slots=True)
class MinIsrRead(ControllerEvent):
    """Outcome of ReadMinIsr: min.insync.replicas of those of the topics that have their own, and the default."""

    topics: frozenset[str]
    min_isr: MinIsrSettings


@dataclass(frozen=True, slots=True)
class UncleanElectionRead(ControllerEvent):
    """Outcome of ReadUncleanElection: the topics that allow it."""

    allowed: frozenset[str]


@dataclass(frozen=True, slots=True)
class IsrChangesListed(ControllerEvent):
    """The names of all notifications of ISR changes as of now."""

    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class IsrChangesRead(ControllerEvent):
    """Outcome of ReadIsrChanges: the states of the partitions named, read after the notifications."""

    states: dict[TopicPartition, LeaderAndIsr]

"""What the controller wants done, in the order of the list.

An effect with an outcome is carried out and its outcome stepped, with all that follows from it, before the next effect
of the list: the controller never sees another event while one of its writes is under way.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from broker.common.cluster import LeaderAndIsr, LiveBroker
from broker.common.replica_assignment import ReplicaAssignment
from broker.common.types import TopicPartition
from broker.controller.events import ControllerEvent
from broker.controller.verdict import PartitionVerdict, ShutdownAnswer


class ControllerEffect:
    """What is to be done, as one of the classes below."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class OpenChannel(ControllerEffect):
    """Be ready to send to this incarnation of a broker. Nothing happens if that channel is open already."""

    broker: LiveBroker


@dataclass(frozen=True, slots=True)
class CloseChannel(ControllerEffect):
    """Drop what is still to be sent to the broker."""

    broker_id: int


@dataclass(frozen=True, slots=True)
class WriteStates(ControllerEffect):
    """Write partition states to ZooKeeper, each over its zk_version. Outcome: StatesWritten."""

    states: dict[TopicPartition, LeaderAndIsr]


@dataclass(frozen=True, slots=True)
class WatchTopics(ControllerEffect):
    """Read these topics now and after each change; each reading is a later TopicRead."""

    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class UnwatchTopics(ControllerEffect):
    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class IdentifyTopics(ControllerEffect):
    """Write ids into the znodes of these topics, which have none or another topic's. Outcome: TopicsIdentified.

    Each gets the id in `known_ids`; where that is None, a new one unless there are `objections_to_new_id`, by what
    registrations say (`BrokerRegistration.ids_restored_at`). `names` are the topics by their ids: an id under another
    name does not count.
    """

    known_ids: dict[str, UUID | None]
    ids_restored_at: dict[int, int]
    names: dict[UUID, str]


@dataclass(frozen=True, slots=True)
class RemoveTopic(ControllerEffect):
    """Remove the znodes of a topic, its config and the request to delete it. Outcome: TopicRemoved."""

    topic: str


@dataclass(frozen=True, slots=True)
class RemoveDeletionRequest(ControllerEffect):
    """Drop the request to delete a topic, unless the topic exists."""

    topic: str


@dataclass(frozen=True, slots=True)
class ReadTopicsToDelete(ControllerEffect):
    """Look again which deletions are asked for. Outcome: TopicsToDelete."""


@dataclass(frozen=True, slots=True)
class PartitionTold:
    """One partition as it goes to brokers. `is_new`: the receiver has no replica of it yet."""

    partition: TopicPartition
    topic_id: UUID
    state: LeaderAndIsr
    replicas: tuple[int, ...]
    offline_replicas: tuple[int, ...] = ()
    is_new: bool = False
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()
    #: The topic went without a request to delete it.
    has_vanished: bool = False


@dataclass(frozen=True, slots=True)
class SendLeaderAndIsr(ControllerEffect):
    """Outcome, some time later: LeaderAndIsrAnswered."""

    broker_id: int
    controller_epoch: int
    partitions: tuple[PartitionTold, ...]
    live_leaders: tuple[LiveBroker, ...]


@dataclass(frozen=True, slots=True)
class SendUpdateMetadata(ControllerEffect):
    """Sends these partitions, and all live brokers, to each of `broker_ids`."""

    broker_ids: tuple[int, ...]
    controller_epoch: int
    partitions: tuple[PartitionTold, ...]
    live_brokers: tuple[LiveBroker, ...]


@dataclass(frozen=True, slots=True)
class ReplicaStop:
    """One replica to be stopped, with its files when `delete`.

    `leader_epoch` is that of the state which took the replica away, so that a late request cannot stop a replica that
    was given back since; EPOCH_DURING_DELETE when the whole topic goes.
    """

    partition: TopicPartition
    leader_epoch: int
    delete: bool


@dataclass(frozen=True, slots=True)
class SendStopReplica(ControllerEffect):
    """Outcome, some time later and only about those to be deleted: ReplicasDeleted."""

    broker_id: int
    controller_epoch: int
    stops: tuple[ReplicaStop, ...]


@dataclass(frozen=True, slots=True)
class WriteAssignments(ControllerEffect):
    """Write these partitions' replicas into the znodes of their topics, if these have still the ids given.

    Outcome: AssignmentsWritten.
    """

    assignments: dict[TopicPartition, ReplicaAssignment]
    topic_ids: dict[str, UUID]


@dataclass(frozen=True, slots=True)
class RewriteReassignmentRequest(ControllerEffect):
    """Leave only these targets in /admin/reassign_partitions, which goes when none is left; log what was refused."""

    targets: dict[TopicPartition, tuple[int, ...]]
    refused: dict[TopicPartition, PartitionVerdict]


@dataclass(frozen=True, slots=True)
class RemoveElectionRequest(ControllerEffect):
    """Remove /admin/preferred_replica_election; log what did not succeed."""

    verdicts: dict[TopicPartition, PartitionVerdict]


@dataclass(frozen=True, slots=True)
class RespondToRequest(ControllerEffect):
    """Complete the pending request with the outcome of each of its partitions."""

    request_id: int
    verdicts: dict[TopicPartition, PartitionVerdict]


@dataclass(frozen=True, slots=True)
class ReadLogDirEvents(ControllerEffect):
    """Read which brokers these notifications name. Outcome: LogDirsFailed."""

    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class RemoveLogDirEvents(ControllerEffect):
    """Remove notifications that have been dealt with."""

    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class AnswerShutdown(ControllerEffect):
    """Tell a broker that wants to stop how far that has come."""

    request_id: int
    answer: ShutdownAnswer


@dataclass(frozen=True, slots=True)
class ReadUncleanElection(ControllerEffect):
    """Look which of these topics let a replica lead that was not in sync. Outcome: UncleanElectionRead."""

    topics: frozenset[str]


@dataclass(frozen=True, slots=True)
class ReadMinIsr(ControllerEffect):
    """Look what min.insync.replicas of these topics is, and the default of all. Outcome: MinIsrRead."""

    topics: frozenset[str]


@dataclass(frozen=True, slots=True)
class TellEligibleElections(ControllerEffect):
    """Count partitions whose new leaders come from the ELR: nothing is lost by that."""

    partitions: tuple[TopicPartition, ...]


@dataclass(frozen=True, slots=True)
class ReadIsrChanges(ControllerEffect):
    """Read these notifications and the states of the partitions they name. Outcome: IsrChangesRead."""

    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class RemoveIsrChanges(ControllerEffect):
    """Remove notifications that have been dealt with."""

    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class UncleanElection:
    """A replica from outside the last ISR leads: records that only `in_sync_before` have are lost.

    `leader_before`: as far as it is known, else NO_BROKER.
    """

    partition: TopicPartition
    leader_before: int
    in_sync_before: tuple[int, ...]
    leader: int


@dataclass(frozen=True, slots=True)
class TellUncleanElections(ControllerEffect):
    """Let an operator know what was decided."""

    elections: tuple[UncleanElection, ...]


@dataclass(frozen=True, slots=True)
class TellRestorations(ControllerEffect):
    """Logs states that were removed: partitions that wait for the logs of all replicas, and their new leaders."""

    waiting: tuple[TopicPartition, ...]
    #: Partition → its leader, after it waited.
    led: Mapping[TopicPartition, int]


@dataclass(frozen=True, slots=True)
class StepAgain(ControllerEffect):
    """Step this event next: the first half of what it means has been done."""

    event: ControllerEvent

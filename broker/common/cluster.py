"""The facts of a cluster as ZooKeeper holds them: brokers, who is assigned to a partition, who leads it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple
from uuid import UUID

from broker.common.features import SupportedFeature
from broker.common.replica_assignment import ReplicaAssignment
from broker.common.types import NO_BROKER, NO_TOPIC_ID

#: Leader sent to brokers for a partition of a topic that is being deleted (Kafka's LeaderDuringDelete).
LEADER_DURING_DELETE = -2
#: Leader epoch sent with StopReplica for a partition of a topic that is being deleted (Kafka's EpochDuringDelete).
EPOCH_DURING_DELETE = -2
#: zk_version of a state that has not been written yet.
NOT_WRITTEN = -1
#: End offset of a log that is missing.
NO_LOG = -1
#: Values of leader_recovery_state (KIP-704): RECOVERING after an unclean election.
RECOVERED = 0
RECOVERING = 1


@dataclass(frozen=True, slots=True)
class BrokerEndpoint:
    """One listener as clients are told of it."""

    listener: str
    host: str
    port: int
    security_protocol: str = "PLAINTEXT"


@dataclass(frozen=True, slots=True)
class BrokerRegistration:
    """What a broker says of itself in /brokers/ids/N."""

    broker_id: int
    endpoints: tuple[BrokerEndpoint, ...]
    rack: str | None = None
    #: A broker of another Kafka has registered: it is no member, and cannot serve what members give it.
    is_foreign: bool = False
    #: The zxid from which on the broker has written the ids that its logs note into znodes without one, before it
    #: registered; -1 if it has not done so in this session, or is of a release that does not say.
    ids_restored_at: int = -1
    #: What its release supports; none before releases that say so.
    features: tuple[SupportedFeature, ...] = ()

    def endpoint(self, listener: str) -> BrokerEndpoint | None:
        """Return the broker's endpoint of a listener; None if it has no listener of that name."""
        return next((endpoint for endpoint in self.endpoints if endpoint.listener == listener), None)


class MemberListeners(NamedTuple):
    """Names of the listeners by which members reach a broker."""

    of_brokers: str = "PLAINTEXT"
    of_controller: str = "PLAINTEXT"


@dataclass(frozen=True, slots=True)
class LiveBroker:
    """A registered broker; `epoch` (the czxid of its znode) tells one incarnation from the next (KIP-380)."""

    registration: BrokerRegistration
    epoch: int

    @property
    def broker_id(self) -> int:
        return self.registration.broker_id


@dataclass(frozen=True, slots=True)
class TopicAssignment:
    """A topic's znode: its id and the replicas of each partition, preferred leader first.

    `topic_id` is NO_TOPIC_ID where the znode has none. `adding` and `removing` have an entry for partitions on the move
    only.
    """

    topic: str
    topic_id: UUID
    partitions: dict[int, tuple[int, ...]]
    adding: dict[int, tuple[int, ...]] = field(default_factory=dict)
    removing: dict[int, tuple[int, ...]] = field(default_factory=dict)

    @property
    def has_id(self) -> bool:
        return self.topic_id != NO_TOPIC_ID

    def of(self, index: int) -> ReplicaAssignment:
        """Raises KeyError when there is no such partition."""
        return ReplicaAssignment(self.partitions[index], self.adding.get(index, ()), self.removing.get(index, ()))

    def having(self, changed: Mapping[int, ReplicaAssignment]) -> "TopicAssignment":
        """Return this topic with other replicas for some partitions, which may be new."""
        return replace(
            self,
            partitions=self.partitions | {index: one.replicas for index, one in changed.items()},
            adding=_non_empty(self.adding | {index: one.adding for index, one in changed.items()}),
            removing=_non_empty(self.removing | {index: one.removing for index, one in changed.items()}),
        )


def _non_empty(replicas: dict[int, tuple[int, ...]]) -> dict[int, tuple[int, ...]]:
    return {index: ids for index, ids in replicas.items() if ids}


class LogLoss(NamedTuple):
    """What a start found of a replica's log that had lost its end, or all of it: KIP-966 compares logs by the same."""

    broker_id: int
    #: -1 for a log without records.
    last_epoch: int
    #: Exclusive; NO_LOG if there is no log.
    end_offset: int

    @property
    def is_total(self) -> bool:
        """Whether the log is missing."""
        return self.end_offset == NO_LOG

    @property
    def extent(self) -> tuple[int, int]:
        """The greater of two belongs to the log that has what the other has, and more."""
        return self.last_epoch, self.end_offset


class LastRole(NamedTuple):
    """The role of the highest leader epoch that a broker has had for a partition; a log alone tells the epoch only."""

    leader_epoch: int
    leader: int = NO_BROKER
    isr: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class LeaderAndIsr:
    """A partition's state znode. `leader` is -1 for none; `zk_version` is what the next write must find."""

    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    controller_epoch: int
    zk_version: int = NOT_WRITTEN
    leader_recovery_state: int = RECOVERED
    #: Of the replicas that left the ISR because of a loss since the last leader led, and of those without a log.
    log_losses: tuple[LogLoss, ...] = ()
    #: Eligible leader replicas: outside the ISR, with all that is committed. Empty before the feature is finalized.
    elr: tuple[int, ...] = ()
    #: The last leader of a partition that has none, or the one whose log reaches furthest after all reported losses.
    last_known_elr: tuple[int, ...] = ()

    @property
    def has_leader(self) -> bool:
        return self.leader != NO_BROKER

    @property
    def has_known_isr(self) -> bool:
        """Whether it is known which replicas were in sync; not if the state was removed and all brokers restarted."""
        return bool(self.leader_candidates)

    @property
    def lossless_candidates(self) -> tuple[int, ...]:
        """The replicas that may lead and hold all that is committed: the ISR, and the ELR."""
        return self.isr + self.elr

    @property
    def leader_candidates(self) -> tuple[int, ...]:
        """The replicas that may lead without an unclean election being allowed: the last leader once the others went.

        Before eligible leader replicas are kept, the ISR.
        """
        return self.lossless_candidates or self.last_known_elr

    def with_isr(self, isr: tuple[int, ...], elr: tuple[int, ...] = ()) -> "LeaderAndIsr":
        """Return the same leader and epoch with another ISR: what a leader may write itself, once it has recovered."""
        return replace(self, isr=isr, leader_recovery_state=RECOVERED, log_losses=(), elr=elr, last_known_elr=())

    def without_eligible(self) -> "LeaderAndIsr":
        """Return the same state as it is without the feature: the ISR that was empty is that of the candidates."""
        return replace(self, isr=self.isr or self.leader_candidates, elr=(), last_known_elr=())

    def without_known_isr(self) -> "LeaderAndIsr":
        """Return the same state while nobody may lead, because it is not known which replicas were in sync."""
        return replace(self, leader=NO_BROKER, isr=())

    def recovering(self) -> "LeaderAndIsr":
        """Return the same state under a leader that lacks committed records."""
        return replace(self, leader_recovery_state=RECOVERING)

    def at_version(self, zk_version: int) -> "LeaderAndIsr":
        """Return the same state as it stands in ZooKeeper after a write."""
        return replace(self, zk_version=zk_version)

    def next(self, leader: int, isr: tuple[int, ...], controller_epoch: int) -> "LeaderAndIsr":
        """Return the state that follows: another leader or ISR always means a higher leader epoch.

        Losses are of no interest any more once there is a leader: its log grows, and what was reported is no longer so.
        Members of the ELR stay that, unless they are in the ISR now.
        """
        return replace(
            self,
            leader=leader,
            isr=isr,
            leader_epoch=self.leader_epoch + 1,
            controller_epoch=controller_epoch,
            log_losses=self.log_losses if leader == NO_BROKER else (),
            elr=tuple(replica for replica in self.elr if replica not in isr),
            last_known_elr=self.last_known_elr if leader == NO_BROKER else (),
        )

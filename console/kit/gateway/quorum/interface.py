"""The words for the KRaft quorum and for features of a cluster."""

from dataclasses import dataclass
from typing import Protocol

from console.kit.gateway.quorum.metadata_versions import level_text


@dataclass(frozen=True, slots=True)
class QuorumReplicaView:
    """A voter or an observer. Offsets and moments (ms since the epoch) are None while the leader does not know them."""

    replica_id: int
    log_end_offset: int | None
    fetched_at_ms: int | None
    caught_up_at_ms: int | None


@dataclass(frozen=True, slots=True)
class QuorumView:
    """`leader_id` is None without a leader."""

    leader_id: int | None
    leader_epoch: int
    high_watermark: int | None
    voters: tuple[QuorumReplicaView, ...]
    observers: tuple[QuorumReplicaView, ...]

    def lag_of(self, replica: QuorumReplicaView) -> int | None:
        """Return the records that the replica lacks of what the leader has; None where one of them is unknown."""
        everybody = (*self.voters, *self.observers)
        leader = next((view for view in everybody if view.replica_id == self.leader_id), None)
        if leader is None or leader.log_end_offset is None or replica.log_end_offset is None:
            return None
        return max(0, leader.log_end_offset - replica.log_end_offset)


@dataclass(frozen=True, slots=True)
class FeatureView:
    """A feature (KIP-584): the levels that the broker supports, and the cluster's; None where it is not finalized."""

    name: str
    supported_min: int
    supported_max: int
    finalized: int | None

    @property
    def finalized_text(self) -> str:
        return "" if self.finalized is None else level_text(self.name, self.finalized)

    @property
    def upgrade(self) -> int | None:
        """Return the level to which it can be raised, as far as one broker knows; None where there is none."""
        return self.supported_max if self.supported_max > (self.finalized or 0) else None

    @property
    def supported_text(self) -> str:
        return " to ".join(level_text(self.name, level) for level in (self.supported_min, self.supported_max))


@dataclass(frozen=True, slots=True)
class EligibleLeaders:
    """The brokers that may lead a partition (KIP-966). `leader` is None without one.

    `elr` has the eligible leader replicas beside the ISR, `last_known_elr` those before the last of them was lost;
    both are None where the cluster keeps none.
    """

    partition: int
    leader: int | None
    isr: tuple[int, ...]
    elr: tuple[int, ...] | None
    last_known_elr: tuple[int, ...] | None


class QuorumGateway(Protocol):
    def describe(self) -> QuorumView:
        """Raises RefusedError UNSUPPORTED_VERSION for a cluster that has no KRaft quorum, GatewayError."""
        ...

    def features(self) -> tuple[FeatureView, ...]:
        """Return what one broker tells, by name; nothing from a broker without features. Raises GatewayError."""
        ...

    def check_upgrade(self, name: str, level: int) -> None:
        """Have the cluster judge `upgrade` without doing it. Raises RefusedError with its reason, GatewayError."""
        ...

    def upgrade(self, name: str, level: int) -> None:
        """Raise the finalized level of a feature. Raises RefusedError, GatewayError."""
        ...

    def eligible_leaders(self, topic: str) -> tuple[EligibleLeaders, ...]:
        """Return all partitions of `topic`, by number.

        Raises RefusedError UNSUPPORTED_VERSION for brokers without DescribeTopicPartitions, GatewayError.
        """
        ...

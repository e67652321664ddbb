"""The words for partitions on the move, and what the console may ask about them."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from broker.common.replica_assignment import ReplicaAssignment
from console.kit.gateway.brokers.interface import ReplicaSizes
from console.kit.gateway.groups.interface import TopicPartition

#: Bytes per second that throttled replicas may copy from a broker, and to it.
RATE_KEYS = ("leader.replication.throttled.rate", "follower.replication.throttled.rate")
#: Which replicas of a topic that holds for: as sources, and as copies.
REPLICA_KEYS = ("leader.replication.throttled.replicas", "follower.replication.throttled.replicas")


#: A partition on the move. The cluster does not always keep the order of `origin`.
MoveView = ReplicaAssignment


@dataclass(frozen=True, slots=True)
class Throttles:
    """The values that brokers and topics set themselves, of the keys above; None: it sets none."""

    brokers: Mapping[int, Mapping[str, str | None]] = field(default_factory=dict)
    topics: Mapping[str, Mapping[str, str | None]] = field(default_factory=dict)


class MoveGateway(Protocol):
    def assignments(self, topics: Iterable[str]) -> dict[TopicPartition, tuple[int, ...]]:
        """Return the replicas of every partition of `topics`, preferred leader first; a topic that is not there is left
        out.

        Of a partition on the move everybody involved is named.
        """
        ...

    def topic_ids(self, topics: Iterable[str]) -> dict[str, str]:
        """Return the ids of `topics`, which tell recreated ones apart; those without are missing."""
        ...

    def under_way(self) -> dict[TopicPartition, MoveView]:
        """Return every partition being reassigned, whoever asked for it."""
        ...

    def alter(self, targets: Mapping[TopicPartition, tuple[int, ...] | None]) -> dict[TopicPartition, str]:
        """Begin moves, or call them off (None); what was refused, with a sentence why.

        Returns when the controller has written down what is to be; the copying begins then.
        """
        ...

    def bytes_held(self, places: Collection[TopicPartition]) -> ReplicaSizes:
        """Return the sizes of these partitions' replicas, from brokers that answer."""
        ...

    def throttles(self, brokers: Iterable[int], topics: Iterable[str]) -> Throttles:
        """Return the throttles set now."""
        ...

    def set_throttles(self, throttles: Throttles) -> None:
        """Set what is named, and only that; None takes a value away."""
        ...

"""The words for who writes to partitions and in which transactions, and what the console may ask about them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

from console.kit.gateway.groups.interface import TopicPartition


@dataclass(frozen=True, slots=True)
class ProducerView:
    """An idempotent producer as a partition remembers it. `open_from`: where its open transaction began here."""

    partition: int
    producer_id: int
    epoch: int
    #: -1 before the first batch of this epoch.
    last_sequence: int
    last_at_ms: int | None
    #: Of the last marker here; -1 for none.
    coordinator_epoch: int
    open_from: int | None


@dataclass(frozen=True, slots=True)
class ProducersView:
    """`silent`: partition → why its leader did not answer."""

    producers: tuple[ProducerView, ...]
    silent: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class TransactionView:
    """As its coordinator knows it. `state` is Kafka's word: Ongoing, PrepareCommit, PrepareAbort, CompleteCommit …"""

    transactional_id: str
    coordinator: int
    producer_id: int
    epoch: int
    state: str
    timeout_ms: int
    started_at_ms: int | None
    partitions: frozenset[TopicPartition]


@dataclass(frozen=True, slots=True)
class TransactionsView:
    """`untold`: why there may be more than these, a sentence; empty: every coordinator has answered."""

    transactions: tuple[TransactionView, ...]
    untold: str = ""


class ProducerGateway(Protocol):
    def of_topic(self, topic: str, partitions: Collection[int]) -> ProducersView:
        """Return who recently wrote to these partitions, as their leaders know.

        Raises GatewayError for a topic nobody knows, and where no broker answers.
        """
        ...

    def transactions(self, producer_ids: Collection[int]) -> TransactionsView:
        """Return the transactions of these producers, from every coordinator; failures are in the result."""
        ...

    def stable_offsets(self, places: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """Return where readers of committed records stop; partitions whose leader does not answer are missing.

        Raises ClusterUnreachableError where no broker answers.
        """
        ...

    def abort(self, topic: str, producer: ProducerView) -> None:
        """Write the marker that ends the producer's open transaction in this partition. Raises GatewayError."""
        ...

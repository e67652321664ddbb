"""What comes out of the transaction coordinator besides records and answers: markers to be written."""

from dataclasses import dataclass, field
from typing import NamedTuple

from broker.common.types import TopicPartition
from broker.coordinator.outcome import CoordinatorOutcome, CoordinatorTurn
from broker.coordinator.recorded_owners import Headers
from broker.coordinator.transaction.records import encode_key, encode_value
from broker.coordinator.transaction.states import TransactionPhase
from broker.coordinator.transaction.transaction import Transaction


class MarkersToWrite(NamedTuple):
    """The control batches that end one transaction, one for each partition."""

    transactional_id: str
    producer_id: int
    producer_epoch: int
    is_commit: bool
    partitions: frozenset[TopicPartition]
    #: 2: the epoch is higher than that of what was written in the transaction.
    transaction_version: int = 0


def markers_of(decided: Transaction) -> MarkersToWrite:
    is_commit = decided.state is TransactionPhase.PREPARE_COMMIT
    producer = decided.producer_id, decided.producer_epoch
    version = decided.client_version
    return MarkersToWrite(decided.transactional_id, *producer, is_commit, decided.partitions, version)


@dataclass(slots=True)
class TransactionOutcome(CoordinatorOutcome):
    """`markers` are to be written when the records are committed; `markers_written` is told when all of them are.

    Until then they are repeated, as long as this broker coordinates.
    """

    markers: list[MarkersToWrite] = field(default_factory=list)
    #: Whether the fresh producer id that came with the call was given away.
    used_producer_id: bool = False

    @property
    def is_followed_up(self) -> bool:
        return bool(self.markers)


@dataclass(slots=True)
class TransactionTurn(CoordinatorTurn):
    """One call into the coordinator; what it has proposed counts for the rest of the call."""

    outcome: TransactionOutcome = field(default_factory=TransactionOutcome)
    proposed: dict[str, Transaction | None] = field(default_factory=dict)

    def propose(self, transaction: Transaction, headers: Headers) -> None:
        self._propose(transaction.transactional_id, transaction, encode_value(transaction), headers)

    def propose_tombstone(self, transactional_id: str) -> None:
        self._propose(transactional_id, None, None)

    def _propose(
        self, transactional_id: str, transaction: Transaction | None, value: bytes | None, headers: Headers = ()
    ) -> None:
        self.proposed[transactional_id] = transaction
        self.append(encode_key(transactional_id), value, headers)

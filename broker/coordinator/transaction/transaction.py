"""What is known of one transactional id, and the transitions it may make. A transition is a new value; nothing changes.

Epochs: each InitProducerId gets a higher one, so that an older producer of the same id is fenced everywhere. One epoch
is kept in reserve, for aborting the last transaction of a producer that is gone.
"""

from dataclasses import dataclass, replace
from typing import Any

from broker.common.errors import InvariantViolation
from broker.common.types import TopicPartition
from broker.coordinator.transaction.states import TransactionPhase, may_follow

NO_PRODUCER_EPOCH = -1
NO_PRODUCER_ID = -1
NO_TIMESTAMP = -1
_EPOCH_MAX = 2**15 - 1


@dataclass(frozen=True, slots=True)
class Transaction:
    """Times are wall clock, ms. `last_*` are what the producer held before its own request raised the epoch: by them a
    repeated request is known (KIP-360). They are not stored, as in Kafka.
    """

    transactional_id: str
    producer_id: int
    producer_epoch: int = NO_PRODUCER_EPOCH
    timeout_ms: int = 0
    state: TransactionPhase = TransactionPhase.EMPTY
    partitions: frozenset[TopicPartition] = frozenset()
    updated_ms: int = NO_TIMESTAMP
    started_ms: int = NO_TIMESTAMP
    last_producer_id: int = NO_PRODUCER_ID
    last_producer_epoch: int = NO_PRODUCER_EPOCH

    @property
    def is_epoch_exhausted(self) -> bool:
        return is_exhausted(self.producer_epoch)

    def initialised(self, epoch: int, last_epoch: int, timeout_ms: int, now_ms: int) -> "Transaction":
        """The same producer id under `epoch`, with no transaction."""
        return self._next(
            TransactionPhase.EMPTY,
            now_ms,
            producer_epoch=epoch,
            last_producer_id=self.producer_id,
            last_producer_epoch=last_epoch,
            timeout_ms=timeout_ms,
            partitions=frozenset(),
            started_ms=NO_TIMESTAMP,
        )

    @property
    def is_at_end(self) -> bool:
        """The last epoch there is: only to abort with, never given to a producer."""
        return self.producer_epoch >= _EPOCH_MAX

    def under_new_producer_id(self, producer_id: int, last_epoch: int, timeout_ms: int, now_ms: int) -> "Transaction":
        """Return the transaction under a new producer id, since all epochs of the old one are used."""
        fresh = self.initialised(0, last_epoch, timeout_ms, now_ms)
        return replace(fresh, producer_id=producer_id)

    def with_partitions(self, added: frozenset[TopicPartition], now_ms: int) -> "Transaction":
        """The transaction covers `added` too; it begins now unless it is under way."""
        started_ms = self.started_ms if self.state is TransactionPhase.ONGOING else now_ms
        partitions = self.partitions | added
        return self._next(TransactionPhase.ONGOING, now_ms, partitions=partitions, started_ms=started_ms)

    def decided(self, is_commit: bool, now_ms: int) -> "Transaction":
        after = TransactionPhase.PREPARE_COMMIT if is_commit else TransactionPhase.PREPARE_ABORT
        return self._next(after, now_ms)

    def fenced_and_aborted(self, now_ms: int, last_epoch: int = NO_PRODUCER_EPOCH) -> "Transaction":
        """Aborted under a higher epoch, so that its producer cannot go on writing.

        `last_epoch`: held by the producer that asked for it, if that may go on under the higher one.
        """
        if self.is_at_end:
            raise InvariantViolation(f"{self.transactional_id}: no epoch is left to abort its transaction with")
        fenced = replace(
            self,
            producer_epoch=self.producer_epoch + 1,
            last_producer_id=self.producer_id,
            last_producer_epoch=last_epoch,
        )
        return fenced.decided(False, now_ms)

    def completed(self, now_ms: int) -> "Transaction":
        """Return the completed transaction: every partition has its marker."""
        is_commit = self.state is TransactionPhase.PREPARE_COMMIT
        after = TransactionPhase.COMPLETE_COMMIT if is_commit else TransactionPhase.COMPLETE_ABORT
        return self._next(after, now_ms, partitions=frozenset())

    def _next(self, state: TransactionPhase, now_ms: int, **changes: Any) -> "Transaction":
        if not may_follow(self.state, state):
            raise InvariantViolation(f"{self.transactional_id}: {state.label} cannot follow {self.state.label}")
        return replace(self, state=state, updated_ms=now_ms, **changes)


def is_exhausted(epoch: int) -> bool:
    return epoch >= _EPOCH_MAX - 1

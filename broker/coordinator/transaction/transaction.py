"""What is known of one transactional id, and the transitions it may make. A transition is a new value; nothing changes.

Epochs: each InitProducerId gets a higher one, so that an older producer of the same id is fenced everywhere; of a
producer that speaks version 2 of transactions (KIP-890, part 2) each end raises it too, so that what comes late belongs
to no later transaction. One epoch is kept in reserve, for ending the last transaction that a producer id can have.
"""

from dataclasses import dataclass, replace
from typing import Any

from broker.common.errors import InvariantViolation
from broker.common.types import TopicPartition
from broker.coordinator.transaction.states import TransactionPhase, may_follow

NO_PRODUCER_EPOCH = -1
NO_PRODUCER_ID = -1
NO_TIMESTAMP = -1
#: Of a producer whose transactions are ended from outside, whenever that is (KIP-939); stored as in Kafka.
NO_TIMEOUT_MS = 2**31 - 1
_EPOCH_MAX = 2**15 - 1
#: The version of transactions from which on each end raises the epoch: `transaction.version` 2.
EPOCH_RAISING_VERSION = 2


@dataclass(frozen=True, slots=True)
class Transaction:
    """Times are wall clock, ms. `last_*` are what the producer held before its own request raised the epoch: by them a
    repeated request is known (KIP-360). They are not stored, as in Kafka.

    `client_version` is that of the producer that began the transaction: 2 raises the epoch at each end. Where that uses
    up the epochs, `next_producer_id` takes the place of the id once the markers are written, and `previous_producer_id`
    is then the one before it.
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
    client_version: int = 0
    next_producer_id: int = NO_PRODUCER_ID
    previous_producer_id: int = NO_PRODUCER_ID

    @property
    def never_times_out(self) -> bool:
        return self.timeout_ms == NO_TIMEOUT_MS

    @property
    def is_epoch_exhausted(self) -> bool:
        return is_exhausted(self.producer_epoch)

    def initialised(self, epoch: int, last_epoch: int, timeout_ms: int, now_ms: int) -> "Transaction":
        """Return the same producer id under `epoch`, with no transaction."""
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

    def with_partitions(self, added: frozenset[TopicPartition], now_ms: int, client_version: int = 0) -> "Transaction":
        """Return the transaction that covers `added` too; it begins now unless it is under way."""
        started_ms = self.started_ms if self.state is TransactionPhase.ONGOING else now_ms
        return self._next(
            TransactionPhase.ONGOING,
            now_ms,
            partitions=self.partitions | added,
            started_ms=started_ms,
            client_version=client_version,
        )

    def decided(self, is_commit: bool, now_ms: int) -> "Transaction":
        after = TransactionPhase.PREPARE_COMMIT if is_commit else TransactionPhase.PREPARE_ABORT
        return self._next(after, now_ms)

    def decided_under_same_epoch(self, is_commit: bool, now_ms: int) -> "Transaction":
        """Return the transaction decided by the protocol that raises no epoch, whichever its producer began it by.

        A coordinator hears later than others that the cluster has finalized the one that does.
        """
        return replace(self, client_version=0).decided(is_commit, now_ms)

    def decided_under_next_epoch(self, is_commit: bool, fresh_producer_id: int, now_ms: int) -> "Transaction":
        """Return the transaction decided under a higher epoch, with which its producer goes on (KIP-890, part 2).

        `fresh_producer_id`: what takes the place of the id if that was the last epoch. A transaction that covers
        nothing begins and ends now.
        """
        raised = replace(
            self,
            producer_epoch=self.producer_epoch + 1,
            last_producer_id=self.producer_id,
            last_producer_epoch=self.producer_epoch,
            client_version=EPOCH_RAISING_VERSION,
            next_producer_id=fresh_producer_id if self.is_epoch_exhausted else NO_PRODUCER_ID,
            started_ms=self.started_ms if self.partitions else now_ms,
        )
        return raised.decided(is_commit, now_ms)

    @property
    def after_completion(self) -> tuple[int, int]:
        """Producer id and epoch with which the producer goes on when the decided transaction is complete."""
        if self.next_producer_id != NO_PRODUCER_ID:
            return self.next_producer_id, 0
        return self.producer_id, self.producer_epoch

    def fenced_and_aborted(self, now_ms: int, last_epoch: int = NO_PRODUCER_EPOCH) -> "Transaction":
        """Return the transaction aborted under a higher epoch, so that its producer cannot go on writing.

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
        producer_id, epoch = self.after_completion
        return self._next(
            after,
            now_ms,
            partitions=frozenset(),
            producer_id=producer_id,
            producer_epoch=epoch,
            next_producer_id=NO_PRODUCER_ID,
            previous_producer_id=self.previous_producer_id if producer_id == self.producer_id else self.producer_id,
        )

    def _next(self, state: TransactionPhase, now_ms: int, **changes: Any) -> "Transaction":
        if not may_follow(self.state, state):
            raise InvariantViolation(f"{self.transactional_id}: {state.label} cannot follow {self.state.label}")
        return replace(self, state=state, updated_ms=now_ms, **changes)


def is_exhausted(epoch: int) -> bool:
    """Return whether a producer that holds the epoch cannot be given a higher one."""
    return epoch >= _EPOCH_MAX - 1

"""Which partitions a transaction covers: adding some, and whether those a producer writes to are among them."""

from collections.abc import Iterable

from broker.common.errors import ErrorCode
from broker.common.types import TopicPartition, new_tuple
from broker.coordinator.transaction.config import PARTITIONS_PER_TRANSACTION_MAX, RECORD_BYTES_MAX
from broker.coordinator.transaction.records import encode_value
from broker.coordinator.transaction.states import TransactionPhase
from broker.coordinator.transaction.transaction import Transaction
from broker.protocol.messages.add_partitions_to_txn import AddPartitionsToTxnTopic

#: So many partitions fit into a record, however long the names of their topics are.
_CERTAINLY_FIT = RECORD_BYTES_MAX // 512


def producer_error(
    transactional_id: str, transaction: Transaction | None, producer_id: int, producer_epoch: int
) -> ErrorCode:
    """Return an error unless the producer id and epoch are those of the transactional id now.

    Nobody is given the last epoch: who names it has made it up, and his transaction could never be aborted.
    """
    if not transactional_id:
        return ErrorCode.INVALID_REQUEST
    if transaction is None or transaction.producer_id != producer_id:
        return ErrorCode.INVALID_PRODUCER_ID_MAPPING
    is_held = transaction.producer_epoch == producer_epoch and not transaction.is_at_end
    return ErrorCode.NONE if is_held else ErrorCode.PRODUCER_FENCED


def add(
    transaction: Transaction, partitions: frozenset[TopicPartition], now_ms: int, client_version: int = 0
) -> Transaction | ErrorCode:
    """Return the transaction that covers them too, or why it cannot; NONE if it does already."""
    if transaction.state.is_decided:
        return ErrorCode.CONCURRENT_TRANSACTIONS
    if transaction.state is TransactionPhase.ONGOING and partitions <= transaction.partitions:
        return ErrorCode.NONE
    added = transaction.with_partitions(partitions, now_ms, client_version)
    return ErrorCode.INVALID_REQUEST if _is_too_large(added) else added


def _is_too_large(transaction: Transaction) -> bool:
    """Return whether the transaction's record is too large. One that fits now fits when it is decided too, because its
    length does not change.
    """
    count = len(transaction.partitions)
    return count > PARTITIONS_PER_TRANSACTION_MAX or (
        count > _CERTAINLY_FIT and len(encode_value(transaction)) > RECORD_BYTES_MAX
    )


def verify(transaction: Transaction, partitions: frozenset[TopicPartition]) -> dict[TopicPartition, ErrorCode]:
    """Return whether what the producer is about to write belongs to its transaction (KIP-890, part 1)."""
    if transaction.state.is_decided:
        return dict.fromkeys(partitions, ErrorCode.CONCURRENT_TRANSACTIONS)
    covered = transaction.partitions
    return {
        partition: ErrorCode.NONE if partition in covered else ErrorCode.TRANSACTION_ABORTABLE
        for partition in partitions
    }


def partitions_of(topics: Iterable[AddPartitionsToTxnTopic]) -> frozenset[TopicPartition]:
    return frozenset([new_tuple(TopicPartition, (topic.name, index)) for topic in topics for index in topic.partitions])

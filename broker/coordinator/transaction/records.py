"""The records of `__transaction_state`, byte for byte those of Kafka 4.4, so that its tools can read ours.

    key 0     transactional id
    value 0   producer id, epoch, timeout, state, partitions by topic (null while Empty), time of the last change and of
              the transaction's start; in the classic (not compact) encoding
    value 1   the same in the compact encoding, with what belongs to transactions whose end raises the epoch in tagged
              fields (KIP-890, part 2)

A null value is a tombstone. Value 1 is written only of a producer that needs it: earlier releases read the rest.
"""

from collections import defaultdict

from broker.common.errors import InvariantViolation, ProtocolError
from broker.common.types import TopicPartition, new_tuple
from broker.coordinator.fields import FieldReader, FieldWriter
from broker.coordinator.transaction.states import BY_NUMBER, TransactionPhase
from broker.coordinator.transaction.transaction import NO_PRODUCER_ID, Transaction
from broker.protocol.codec import decode, encode
from broker.protocol.schema import StoredValue, Struct, array, int8, int16, int32, int64, string, wire

_LAST_VERSION = 1


class PartitionsOfTransaction(Struct):
    topic: str = wire(string)
    partition_ids: list[int] = wire(array(int32))


class TransactionLogValue(StoredValue, versions=(0, _LAST_VERSION), flexible_from=1):
    """Kafka's names; times are wall clock, ms."""

    producer_id: int = wire(int64)
    previous_producer_id: int = wire(int64, since=1, tag=0, default=NO_PRODUCER_ID)
    next_producer_id: int = wire(int64, since=1, tag=1, default=NO_PRODUCER_ID)
    producer_epoch: int = wire(int16)
    next_producer_epoch: int = wire(int16, since=1, tag=3, default=-1)  #: of a transaction that is prepared (KIP-939)
    transaction_timeout_ms: int = wire(int32)
    transaction_status: int = wire(int8)
    transaction_partitions: list[PartitionsOfTransaction] | None = wire(array(PartitionsOfTransaction), nullable=True)
    transaction_last_update_timestamp_ms: int = wire(int64)
    transaction_start_timestamp_ms: int = wire(int64)
    client_transaction_version: int = wire(int16, since=1, tag=2, default=0)


def encode_key(transactional_id: str) -> bytes:
    return FieldWriter().int16(0).string(transactional_id).to_bytes()


def decode_key(key: bytes) -> str | None:
    """Return the transactional id, or None if the key is of another version. Raises InvariantViolation."""
    reader = FieldReader(key)
    if reader.int16() != 0:
        return None
    return reader.last(reader.string())


def encode_value(transaction: Transaction) -> bytes:
    value = TransactionLogValue(
        producer_id=transaction.producer_id,
        previous_producer_id=transaction.previous_producer_id,
        next_producer_id=transaction.next_producer_id,
        producer_epoch=transaction.producer_epoch,
        transaction_timeout_ms=transaction.timeout_ms,
        transaction_status=transaction.state.number,
        transaction_partitions=(
            None if transaction.state is TransactionPhase.EMPTY else _by_topic(transaction.partitions)
        ),
        transaction_last_update_timestamp_ms=transaction.updated_ms,
        transaction_start_timestamp_ms=transaction.started_ms,
        client_transaction_version=transaction.client_version,
    )
    is_plain = not transaction.client_version and transaction.previous_producer_id == NO_PRODUCER_ID
    version = 0 if is_plain else _LAST_VERSION
    return version.to_bytes(2) + encode(value, version)


def _by_topic(partitions: frozenset[TopicPartition]) -> list[PartitionsOfTransaction]:
    by_topic: dict[str, list[int]] = defaultdict(list)
    for topic, partition in sorted(partitions):
        by_topic[topic].append(partition)
    return [PartitionsOfTransaction(topic=topic, partition_ids=numbers) for topic, numbers in by_topic.items()]


def decode_value(transactional_id: str, value: bytes) -> Transaction:
    """Raises InvariantViolation for bytes that are no such value."""
    version = int.from_bytes(value[:2])
    if version > _LAST_VERSION:
        raise InvariantViolation(f"transaction value of version {version}; 0 to {_LAST_VERSION} are known")
    try:
        read = decode(TransactionLogValue, bytes(value[2:]), version)
    except ProtocolError as error:
        raise InvariantViolation(f"{transactional_id}: a transaction that cannot be read: {error}") from None
    if read.transaction_status not in BY_NUMBER:
        raise InvariantViolation(f"{transactional_id}: {read.transaction_status} is no state of a transaction")
    return Transaction(
        transactional_id,
        read.producer_id,
        read.producer_epoch,
        read.transaction_timeout_ms,
        BY_NUMBER[read.transaction_status],
        frozenset(
            new_tuple(TopicPartition, (of_topic.topic, number))
            for of_topic in read.transaction_partitions or ()
            for number in of_topic.partition_ids
        ),
        read.transaction_last_update_timestamp_ms,
        read.transaction_start_timestamp_ms,
        client_version=read.client_transaction_version,
        next_producer_id=read.next_producer_id,
        previous_producer_id=read.previous_producer_id,
    )

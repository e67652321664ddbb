"""The records of `__transaction_state`, byte for byte those of Kafka 3.9, so that its tools can read ours.

    key 0     transactional id
    value 0   producer id, epoch, timeout, state, partitions by topic (null while Empty), time of the last change and of
              the transaction's start

In the classic (not compact) encoding. A null value is a tombstone. Value 1 belongs to the transaction protocol that
raises the epoch with each transaction (KIP-890, part 2), which this coordinator does not speak.
"""

from collections import defaultdict

from broker.common.errors import InvariantViolation
from broker.common.types import TopicPartition, new_tuple
from broker.coordinator.fields import FieldReader, FieldWriter
from broker.coordinator.transaction.states import BY_NUMBER, TransactionPhase
from broker.coordinator.transaction.transaction import Transaction


def encode_key(transactional_id: str) -> bytes:
    return FieldWriter().int16(0).string(transactional_id).to_bytes()


def decode_key(key: bytes) -> str | None:
    """The transactional id, or None if the key is of another version. Raises InvariantViolation."""
    reader = FieldReader(key)
    if reader.int16() != 0:
        return None
    return reader.last(reader.string())


def encode_value(transaction: Transaction) -> bytes:
    writer = FieldWriter().int16(0).int64(transaction.producer_id).int16(transaction.producer_epoch)
    writer.int32(transaction.timeout_ms).int8(transaction.state.number)
    if transaction.state is TransactionPhase.EMPTY:
        writer.int32(-1)
    else:
        _write_partitions(writer, transaction.partitions)
    return writer.int64(transaction.updated_ms).int64(transaction.started_ms).to_bytes()


def _write_partitions(writer: FieldWriter, partitions: frozenset[TopicPartition]) -> None:
    by_topic: dict[str, list[int]] = defaultdict(list)
    for topic, partition in sorted(partitions):
        by_topic[topic].append(partition)
    writer.int32(len(by_topic))
    for topic, numbers in by_topic.items():
        writer.string(topic).int32s(numbers)


def decode_value(transactional_id: str, value: bytes) -> Transaction:
    """Raises InvariantViolation for bytes that are no such value."""
    reader = FieldReader(value)
    version = reader.int16()
    if version != 0:
        raise InvariantViolation(f"transaction value of version {version}; only 0 is known")
    producer_id, epoch, timeout_ms, number = reader.int64(), reader.int16(), reader.int32(), reader.int8()
    if number not in BY_NUMBER:
        raise InvariantViolation(f"{transactional_id}: {number} is no state of a transaction")
    partitions = _read_partitions(reader)
    updated_ms, started_ms = reader.int64(), reader.int64()
    return reader.last(
        Transaction(
            transactional_id, producer_id, epoch, timeout_ms, BY_NUMBER[number], partitions, updated_ms, started_ms
        )
    )


def _read_partitions(reader: FieldReader) -> frozenset[TopicPartition]:
    partitions = set()
    for _ in range(reader.int32()):
        topic = reader.string()
        partitions.update([new_tuple(TopicPartition, (topic, number)) for number in reader.int32s()])
    return frozenset(partitions)

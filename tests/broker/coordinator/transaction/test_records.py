"""The bytes of `__transaction_state`, against Kafka's documented layout packed by hand."""

from struct import pack

import pytest

from broker.common.errors import InvariantViolation
from broker.common.types import TopicPartition
from broker.coordinator.transaction.records import decode_key, decode_value, encode_key, encode_value
from broker.coordinator.transaction.states import TransactionPhase
from broker.coordinator.transaction.transaction import Transaction

ONGOING = Transaction(
    "payments",
    producer_id=4_711,
    producer_epoch=3,
    timeout_ms=60_000,
    state=TransactionPhase.ONGOING,
    partitions=frozenset({TopicPartition("orders", 1), TopicPartition("bills", 0), TopicPartition("orders", 0)}),
    updated_ms=1_700_000_000_500,
    started_ms=1_700_000_000_000,
)
#: TransactionLogValue, version 0: version, ProducerId, ProducerEpoch, TransactionTimeoutMs, TransactionStatus,
#: TransactionPartitions (Topic, PartitionIds), TransactionLastUpdateTimestampMs, TransactionStartTimestampMs.
ONGOING_BYTES = (
    pack(">hqhib", 0, 4_711, 3, 60_000, 1)
    + pack(">i", 2)
    + pack(">h5s", 5, b"bills")
    + pack(">ii", 1, 0)
    + pack(">h6s", 6, b"orders")
    + pack(">iii", 2, 0, 1)
    + pack(">qq", 1_700_000_000_500, 1_700_000_000_000)
)


def test_key_is_version_and_transactional_id():
    assert encode_key("payments") == b"\x00\x00\x00\x08payments"
    assert decode_key(b"\x00\x00\x00\x08payments") == "payments"


def test_key_of_another_version_is_passed_over():
    assert decode_key(b"\x00\x01\x00\x08payments") is None


def test_value_of_an_open_transaction_is_kafkas():
    assert encode_value(ONGOING) == ONGOING_BYTES
    assert decode_value("payments", ONGOING_BYTES) == ONGOING


def test_partitions_of_an_empty_transaction_are_null():
    empty = Transaction("payments", 4_711, 0, 60_000, updated_ms=1_700_000_000_000)
    expected = pack(">hqhibiqq", 0, 4_711, 0, 60_000, 0, -1, 1_700_000_000_000, -1)
    assert encode_value(empty) == expected
    assert decode_value("payments", expected) == empty


@pytest.mark.parametrize(
    ("state", "number"),
    [
        (TransactionPhase.EMPTY, 0),
        (TransactionPhase.ONGOING, 1),
        (TransactionPhase.PREPARE_COMMIT, 2),
        (TransactionPhase.PREPARE_ABORT, 3),
        (TransactionPhase.COMPLETE_COMMIT, 4),
        (TransactionPhase.COMPLETE_ABORT, 5),
    ],
)
def test_states_have_the_numbers_of_kafka(state: TransactionPhase, number: int):
    value = encode_value(Transaction("payments", 4_711, 0, 60_000, state))
    assert value[16] == number
    assert decode_value("payments", value).state is state


@pytest.mark.parametrize("length", range(len(ONGOING_BYTES)))
def test_value_that_ends_too_early_is_refused(length: int):
    with pytest.raises(InvariantViolation):
        decode_value("payments", ONGOING_BYTES[:length])


@pytest.mark.parametrize(
    "damaged",
    [ONGOING_BYTES + b"\x00", b"\x00\x02" + ONGOING_BYTES[2:], ONGOING_BYTES[:16] + b"\x08" + ONGOING_BYTES[17:]],
    ids=["too long", "version 2", "state 8"],
)
def test_value_that_is_not_what_it_says_is_refused(damaged: bytes):
    with pytest.raises(InvariantViolation):
        decode_value("payments", damaged)

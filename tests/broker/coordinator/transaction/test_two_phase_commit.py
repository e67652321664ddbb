"""Transactions that a coordinator outside ends, whenever that is (KIP-939), as far as Kafka 4.4 serves them."""

import pytest

from broker.common.errors import ErrorCode
from broker.coordinator.transaction.transaction import NO_TIMEOUT_MS
from broker.protocol.messages.init_producer_id import InitProducerIdRequest
from tests.broker.coordinator.transaction.world import ID, ORDERS, World

MONTH_MS = 31 * 24 * 3_600_000


def begin(world: World, *, is_kept: bool = False, timeout_ms: int = 0):
    request = InitProducerIdRequest(
        transactional_id=ID, transaction_timeout_ms=timeout_ms, enable2_pc=True, keep_prepared_txn=is_kept
    )
    return world.carry_out(world.coordinator.init_producer_id(7, request, world.speaker, 1_000, world.now_ms))[7]


@pytest.fixture
def world() -> World:
    return World(transaction_two_phase_commit_enable=True)


def test_a_prepared_transaction_waits_for_its_end_through_months_and_fail_overs(world):
    answer = begin(world)
    held = answer.producer_id, answer.producer_epoch
    assert world.add(held, ORDERS) is ErrorCode.NONE
    assert world.coordinator.transactions[ID].timeout_ms == NO_TIMEOUT_MS
    for _ in range(2):
        world.advance(MONTH_MS)
        assert world.state == "Ongoing"
        world.fail_over()
    assert world.end(held) is ErrorCode.NONE


def test_without_the_setting_nobody_has_such_transactions():
    assert begin(World()).error_code == ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED


def test_an_open_transaction_is_aborted_and_never_kept(world):
    answer = begin(world)
    world.add((answer.producer_id, answer.producer_epoch), ORDERS)
    assert begin(world, is_kept=True).error_code == ErrorCode.UNSUPPORTED_VERSION
    assert world.state == "Ongoing"
    assert begin(world).error_code == ErrorCode.CONCURRENT_TRANSACTIONS
    assert world.state == "PrepareAbort"


def test_a_producer_with_a_timeout_still_needs_one_that_is_allowed(world):
    assert world.init(timeout_ms=0).error_code == ErrorCode.INVALID_TRANSACTION_TIMEOUT
    assert begin(world, timeout_ms=2**31 - 1).error_code == ErrorCode.NONE

"""EndTxn of producers whose epoch each end raises (KIP-890, part 2)."""

from dataclasses import replace

import pytest

from broker.common.errors import ErrorCode
from broker.coordinator.outcome import CoordinatorRecord
from broker.coordinator.transaction.records import decode_value, encode_key, encode_value
from broker.coordinator.transaction.states import TransactionPhase
from broker.coordinator.transaction.transaction import Transaction
from broker.protocol.messages.end_txn import EndTxnRequest
from tests.broker.coordinator.transaction.world import BILLS, ID, ORDERS, World

LAST_GIVEN = 2**15 - 2


@pytest.fixture
def world() -> World:
    return World()


def outcome_of(response) -> tuple[ErrorCode, int, int]:
    return ErrorCode(response.error_code), response.producer_id, response.producer_epoch


def test_each_end_raises_the_epoch_under_which_the_producer_goes_on(world):
    producer_id, epoch = world.producer()
    for number, is_commit in enumerate((True, False, True)):
        held = producer_id, epoch + number
        assert world.write(held, ORDERS) is ErrorCode.NONE
        assert outcome_of(world.end_and_raise(held, is_commit)) == (ErrorCode.NONE, producer_id, epoch + number + 1)
        assert [(marker.producer_epoch, marker.is_commit) for marker in world.markers] == [
            (epoch + number + 1, is_commit)
        ]
        world.write_markers()


def test_an_end_that_does_not_raise_the_epoch_names_no_producer(world):
    """A producer that is answered one begins its sequences anew: its next records would be taken for those before."""
    held = world.producer()
    world.add(held, ORDERS)
    request = EndTxnRequest(transactional_id=ID, producer_id=held[0], producer_epoch=held[1], committed=True)
    assert outcome_of(world.ask(world.coordinator.end_txn, request)) == (ErrorCode.NONE, -1, -1)
    world.write_markers()
    assert outcome_of(world.ask(world.coordinator.end_txn, request)) == (ErrorCode.NONE, -1, -1), "asked again"


def test_an_end_that_comes_again_is_answered_as_before_until_the_next_transaction_begins(world):
    held = world.producer()
    world.write(held, ORDERS)
    answered = outcome_of(world.end_and_raise(held))
    assert world.end_and_raise(held).error_code == ErrorCode.CONCURRENT_TRANSACTIONS
    world.write_markers()
    assert outcome_of(world.end_and_raise(held)) == answered
    world.fail_over()
    assert outcome_of(world.end_and_raise(held)) == answered
    assert world.end_and_raise(held, False).error_code == ErrorCode.INVALID_TXN_STATE
    assert world.write(answered[1:], BILLS) is ErrorCode.NONE
    assert world.end_and_raise(held).error_code == ErrorCode.PRODUCER_FENCED, "it would end the next one"
    assert world.state == "Ongoing"


def test_a_write_that_comes_late_belongs_to_no_later_transaction(world):
    held = world.producer()
    world.write(held, ORDERS)
    world.end_and_raise(held)
    world.write_markers()
    assert world.write(held, ORDERS) is ErrorCode.PRODUCER_FENCED


def test_what_has_not_begun_can_be_aborted_and_not_committed(world):
    producer_id, epoch = world.producer()
    assert world.end_and_raise((producer_id, epoch)).error_code == ErrorCode.INVALID_TXN_STATE
    assert outcome_of(world.end_and_raise((producer_id, epoch), False)) == (ErrorCode.NONE, producer_id, epoch + 1)
    assert (world.state, world.markers) == ("CompleteAbort", [])
    assert world.write((producer_id, epoch), ORDERS) is ErrorCode.PRODUCER_FENCED, "it was on its way"
    assert world.write((producer_id, epoch + 1), ORDERS) is ErrorCode.NONE


def test_a_producer_that_has_its_answer_before_the_markers_are_written_asks_again(world):
    held = world.producer()
    world.write(held, ORDERS)
    next_held = outcome_of(world.end_and_raise(held))[1:]
    assert world.write(next_held, BILLS) is ErrorCode.CONCURRENT_TRANSACTIONS
    assert world.end_and_raise(next_held, False).error_code == ErrorCode.CONCURRENT_TRANSACTIONS
    world.write_markers()
    assert world.write(next_held, BILLS) is ErrorCode.NONE


def test_a_transaction_whose_time_was_up_is_aborted_again_by_its_producer_which_goes_on(world):
    """So a client of version 2 aborts and begins anew, where others are fenced."""
    producer_id, epoch = world.producer()
    world.write((producer_id, epoch), ORDERS)
    world.advance(60_001)
    world.write_markers()
    assert world.end_and_raise((producer_id, epoch)).error_code == ErrorCode.INVALID_TXN_STATE
    assert outcome_of(world.end_and_raise((producer_id, epoch), False)) == (ErrorCode.NONE, producer_id, epoch + 1)
    assert world.write((producer_id, epoch + 1), ORDERS) is ErrorCode.NONE


def of_last_epoch(world: World) -> tuple[int, int]:
    used = Transaction(ID, 7, LAST_GIVEN, 60_000, TransactionPhase.EMPTY, updated_ms=world.now_ms)
    world.log.append(CoordinatorRecord(encode_key(ID), encode_value(used)))
    world.fail_over()
    return 7, LAST_GIVEN


def test_a_producer_whose_epochs_are_used_up_goes_on_under_a_new_id(world):
    held, fresh = of_last_epoch(world), world.fresh_id
    world.write(held, ORDERS)
    assert outcome_of(world.end_and_raise(held)) == (ErrorCode.NONE, fresh, 0)
    assert world.fresh_id == fresh + 1
    assert [(marker.producer_id, marker.producer_epoch) for marker in world.markers] == [(7, LAST_GIVEN + 1)]
    assert world.end_and_raise(held).error_code == ErrorCode.CONCURRENT_TRANSACTIONS
    world.write_markers()
    world.fail_over()
    assert outcome_of(world.end_and_raise(held)) == (ErrorCode.NONE, fresh, 0)
    assert world.write((fresh, 0), ORDERS) is ErrorCode.NONE
    assert world.end_and_raise(held).error_code == ErrorCode.PRODUCER_FENCED


def test_a_new_id_is_not_forgotten_by_who_takes_over_before_the_markers_are_written(world):
    held, fresh = of_last_epoch(world), world.fresh_id
    world.write(held, ORDERS)
    world.end_and_raise(held)
    world.fail_over()
    world.write_markers()
    assert world.write((fresh, 0), ORDERS) is ErrorCode.NONE


def test_one_that_was_never_there_and_one_of_another_id_are_refused(world):
    assert world.end_and_raise((1, 0)).error_code == ErrorCode.INVALID_PRODUCER_ID_MAPPING
    producer_id, epoch = world.producer()
    assert world.end_and_raise((producer_id + 1, epoch)).error_code == ErrorCode.INVALID_PRODUCER_ID_MAPPING
    assert world.end_and_raise((producer_id, epoch + 1)).error_code == ErrorCode.PRODUCER_FENCED
    assert world.end_and_raise((-1, -1)).error_code == ErrorCode.INVALID_PRODUCER_ID_MAPPING, "not the one before it"


def test_a_producer_that_is_upgraded_while_it_lives_goes_on_and_back(world):
    producer_id, epoch = world.producer()
    world.add((producer_id, epoch), ORDERS)
    assert world.end((producer_id, epoch)) is ErrorCode.NONE
    world.write_markers()
    world.write((producer_id, epoch), ORDERS)
    assert outcome_of(world.end_and_raise((producer_id, epoch))) == (ErrorCode.NONE, producer_id, epoch + 1)
    world.write_markers()
    world.add((producer_id, epoch + 1), ORDERS)
    assert world.end((producer_id, epoch + 1)) is ErrorCode.NONE


def test_records_of_others_stay_as_earlier_releases_read_them(world):
    held = world.producer()
    world.add(held, ORDERS)
    world.end(held)
    assert {bytes(record.value[:2]) for record in world.log} == {b"\0\0"}
    raised = Transaction(ID, 7, 3, 60_000, TransactionPhase.ONGOING, frozenset({ORDERS, BILLS}), 5, 4, client_version=2)
    for transaction in (raised, replace(raised, next_producer_id=9), replace(raised, previous_producer_id=8)):
        assert encode_value(transaction)[:2] == b"\0\1"
        assert decode_value(ID, encode_value(transaction)) == transaction


def test_markers_say_by_which_protocol_the_transaction_has_ended(world):
    """Whichever its producer began it by: a coordinator may hear later than a leader what the cluster has finalized."""
    held = world.producer()
    world.write(held, ORDERS)
    answered = outcome_of(world.end_and_raise(held))
    assert [marker.transaction_version for marker in world.markers] == [2]
    world.write_markers()
    world.write(answered[1:], ORDERS)
    assert world.end(answered[1:]) is ErrorCode.NONE
    assert [marker.transaction_version for marker in world.markers] == [0]
    world.fail_over()
    assert {marker.transaction_version for marker in world.markers} == {0}

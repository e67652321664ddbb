"""A transaction from its producer's first request to its last marker, and what goes wrong on the way."""

import pytest

from broker.common.errors import ErrorCode
from tests.broker.coordinator.transaction.world import BILLS, FIRST_FRESH_ID, ID, ORDERS, World


@pytest.mark.parametrize(
    ("is_commit", "prepared", "completed"),
    [
        (True, "PrepareCommit", "CompleteCommit"),
        (False, "PrepareAbort", "CompleteAbort"),
    ],
)
def test_a_transaction_is_complete_when_every_partition_has_its_marker(is_commit, prepared, completed):
    world = World()
    producer = world.producer()
    assert producer == (FIRST_FRESH_ID, 0)
    assert world.add(producer, ORDERS, BILLS) is ErrorCode.NONE
    assert world.state == "Ongoing"
    assert world.end(producer, is_commit) is ErrorCode.NONE
    assert world.state == prepared
    (markers,) = world.markers
    assert (markers.transactional_id, markers.producer_id, markers.producer_epoch) == (ID, *producer)
    assert (markers.is_commit, markers.partitions) == (is_commit, {ORDERS, BILLS})
    world.write_markers()
    assert world.state == completed


def test_partitions_that_are_covered_already_are_not_written_again():
    world = World()
    producer = world.producer()
    world.add(producer, ORDERS, BILLS)
    length = len(world.log)
    assert world.add(producer, ORDERS) is ErrorCode.NONE
    assert len(world.log) == length


def test_the_next_transaction_waits_for_the_markers_of_the_last():
    world = World()
    producer = world.producer()
    world.add(producer, ORDERS)
    world.end(producer)
    assert world.add(producer, BILLS) is ErrorCode.CONCURRENT_TRANSACTIONS
    assert world.init().error_code == ErrorCode.CONCURRENT_TRANSACTIONS
    world.write_markers()
    assert world.add(producer, BILLS) is ErrorCode.NONE
    assert world.coordinator.transactions[ID].partitions == {BILLS}


def test_an_end_that_is_repeated_succeeds_and_another_end_does_not():
    world = World()
    producer = world.producer()
    world.add(producer, ORDERS)
    world.end(producer, True)
    assert world.end(producer, True) is ErrorCode.CONCURRENT_TRANSACTIONS
    assert world.end(producer, False) is ErrorCode.INVALID_TXN_STATE
    world.write_markers()
    assert world.end(producer, True) is ErrorCode.NONE
    assert world.end(producer, False) is ErrorCode.INVALID_TXN_STATE


def test_nothing_can_be_ended_that_was_not_begun():
    world = World()
    producer = world.producer()
    assert world.end(producer) is ErrorCode.INVALID_TXN_STATE


def test_a_new_producer_fences_the_old_one_and_aborts_what_it_left_open():
    world = World()
    old = world.producer()
    world.add(old, ORDERS)
    assert world.init().error_code == ErrorCode.CONCURRENT_TRANSACTIONS
    (markers,) = world.markers
    assert (markers.is_commit, markers.producer_epoch) == (False, old[1] + 1)
    assert world.end(old) is ErrorCode.PRODUCER_FENCED
    world.write_markers()
    new = world.producer()
    assert new == (old[0], old[1] + 2)
    assert world.add(old, ORDERS) is ErrorCode.PRODUCER_FENCED


def test_a_transaction_that_takes_too_long_is_aborted_under_a_higher_epoch():
    world = World()
    response = world.init(timeout_ms=5_000)
    producer = response.producer_id, response.producer_epoch
    world.add(producer, ORDERS)
    world.advance(4_999)
    assert world.state == "Ongoing"
    world.advance(1)
    assert world.state == "PrepareAbort"
    assert world.end(producer) is ErrorCode.PRODUCER_FENCED
    world.write_markers()
    assert world.state == "CompleteAbort"


def test_an_id_nobody_uses_is_forgotten():
    world = World(transactional_id_expiration_ms=10_000)
    world.producer()
    world.advance(9_999)
    assert ID in world.coordinator.transactions
    world.advance(1)
    assert ID not in world.coordinator.transactions
    assert world.log[-1][1] is None


@pytest.mark.parametrize("is_commit", [True, False])
def test_whoever_takes_over_goes_on_from_the_decision(is_commit):
    world = World()
    producer = world.producer()
    world.add(producer, ORDERS, BILLS)
    world.end(producer, is_commit)
    expected = world.markers[0]
    world.fail_over()
    assert world.markers == [expected]
    world.write_markers()
    assert world.end(producer, is_commit) is ErrorCode.NONE


def test_whoever_takes_over_aborts_in_time_what_is_open():
    world = World()
    producer = world.producer()
    world.add(producer, ORDERS)
    world.advance(40_000)
    world.fail_over()
    assert world.markers == []
    world.advance(20_000)
    assert world.state == "PrepareAbort"


@pytest.mark.parametrize("fails_over", [False, True])
def test_a_clock_that_is_set_back_by_a_day_keeps_no_transaction_open_for_a_day(fails_over):
    """Until the transaction ends, readers of committed records stand still and nothing behind it is compacted."""
    world = World()
    producer = world.producer()
    world.wall_ahead_ms = 86_400_000
    world.add(producer, ORDERS)
    world.advance(30_000)
    world.wall_ahead_ms = 0
    if fails_over:
        world.fail_over()
    world.advance(30_000 - 1)
    assert world.state == "Ongoing"
    world.advance(30_001)
    assert world.state == "PrepareAbort"


def test_a_clock_of_a_new_coordinator_that_is_a_little_behind_aborts_nothing_early():
    world = World()
    producer = world.producer()
    world.add(producer, ORDERS)
    world.wall_ahead_ms = -5_000
    world.fail_over()
    world.advance(64_999)
    assert world.state == "Ongoing"
    world.advance(1)
    assert world.state == "PrepareAbort"


def test_a_commit_that_cannot_be_appended_has_not_happened():
    world = World()
    producer = world.producer()
    world.add(producer, ORDERS)
    world.is_refusing = ErrorCode.NOT_ENOUGH_REPLICAS
    assert world.end(producer) is ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert (world.state, world.markers) == ("Ongoing", [])
    world.is_refusing = ErrorCode.NONE
    assert world.end(producer) is ErrorCode.NONE


def test_a_completion_that_cannot_be_appended_is_tried_again():
    world = World()
    producer = world.producer()
    world.add(producer, ORDERS)
    world.end(producer)
    world.is_refusing = ErrorCode.NOT_ENOUGH_REPLICAS
    world.write_markers()
    assert world.state == "PrepareCommit"
    world.is_refusing = ErrorCode.NONE
    world.advance(1_000)
    world.write_markers()
    assert world.state == "CompleteCommit"


def test_an_abort_after_a_timeout_that_cannot_be_appended_is_tried_again():
    world = World()
    producer = world.producer()
    world.add(producer, ORDERS)
    world.is_refusing = ErrorCode.NOT_ENOUGH_REPLICAS
    world.advance(60_000)
    assert world.state == "Ongoing"
    world.is_refusing = ErrorCode.NONE
    world.advance(1_000)
    assert world.state == "PrepareAbort"


def test_a_producer_that_knows_its_epoch_goes_on_under_the_next_one():
    world = World()
    producer = world.producer()
    raised = world.init(held=producer)
    assert (raised.producer_id, raised.producer_epoch) == (producer[0], producer[1] + 1)
    repeated = world.init(held=producer)
    assert (repeated.producer_id, repeated.producer_epoch) == (raised.producer_id, raised.producer_epoch)


def test_a_producer_that_was_fenced_cannot_raise_its_epoch():
    world = World()
    old = world.producer()
    world.producer()
    assert world.init(held=old).error_code == ErrorCode.PRODUCER_FENCED


def test_the_offsets_of_a_group_are_part_of_the_transaction():
    world = World()
    producer = world.producer()
    offsets = ORDERS._replace(topic="__consumer_offsets")
    assert world.add_offsets(producer, offsets) is ErrorCode.NONE
    world.end(producer)
    assert world.markers[0].partitions == {offsets}


@pytest.mark.parametrize("timeout_ms", [0, -1, 900_001])
def test_a_timeout_beyond_the_limit_is_refused(timeout_ms):
    assert World().init(timeout_ms=timeout_ms).error_code == ErrorCode.INVALID_TRANSACTION_TIMEOUT

"""What is fixed stays fixed: decisions, markers and retries, whoever coordinates (traps 35, 37, 38, 39)."""

import pytest

from broker.common.errors import ErrorCode
from broker.common.types import TopicPartition
from tests.broker.coordinator.transaction.asking import errors_of, to_verify
from tests.broker.coordinator.transaction.world import BILLS, ID, ORDERS, World

OFFSETS = TopicPartition("__consumer_offsets", 17)


@pytest.mark.parametrize("is_commit", [True, False])
def test_trap_35_decision_survives_any_number_of_coordinators(is_commit: bool):
    world = World()
    producer = world.producer()
    world.add(producer, ORDERS, BILLS)
    world.end(producer, is_commit)
    (decided,) = world.markers
    for _ in range(3):
        world.fail_over()
        assert world.markers == [decided]
        assert world.end(producer, not is_commit) is ErrorCode.INVALID_TXN_STATE
    world.write_markers()
    assert world.state == ("CompleteCommit" if is_commit else "CompleteAbort")
    world.fail_over()
    assert world.markers == []


def test_trap_35_markers_of_an_earlier_transaction_complete_nothing():
    world = World()
    producer = world.producer()
    world.add(producer, ORDERS)
    world.end(producer)
    (first,) = world.markers
    world.write_markers()
    world.add(producer, BILLS)
    world.end(producer, False)
    world.carry_out(world.coordinator.markers_written(first, world.now_ms))
    assert world.state == "PrepareAbort"


def test_trap_35_markers_written_twice_complete_once():
    world = World()
    producer = world.producer()
    world.add(producer, ORDERS)
    world.end(producer)
    world.markers *= 2
    world.write_markers()
    assert [record.key for record in world.log].count(
        world.log[0][0]
    ) == 4  # Empty, Ongoing, PrepareCommit, CompleteCommit


def test_trap_37_leader_is_told_of_every_partition_whether_the_transaction_covers_it():
    world = World()
    producer = world.producer()
    world.add(producer, ORDERS)
    response = world.ask(world.coordinator.add_partitions_to_txn, to_verify(ID, producer, ORDERS, BILLS))
    assert errors_of(response) == {ORDERS: ErrorCode.NONE, BILLS: ErrorCode.TRANSACTION_ABORTABLE}
    assert world.coordinator.transactions[ID].partitions == {ORDERS}


def test_trap_37_nothing_is_covered_once_the_transaction_has_ended():
    world = World()
    producer = world.producer()
    world.add(producer, ORDERS)
    world.end(producer)
    assert verified(world, producer) is ErrorCode.CONCURRENT_TRANSACTIONS
    world.write_markers()
    assert verified(world, producer) is ErrorCode.TRANSACTION_ABORTABLE


def test_trap_37_producer_that_timed_out_is_not_verified():
    world = World()
    producer = world.producer()
    world.add(producer, ORDERS)
    world.advance(60_000)
    assert verified(world, producer) is ErrorCode.PRODUCER_FENCED
    assert verified(world, (producer[0] + 1, 0)) is ErrorCode.INVALID_PRODUCER_ID_MAPPING


def verified(world: World, producer: tuple[int, int]) -> ErrorCode:
    response = world.ask(world.coordinator.add_partitions_to_txn, to_verify(ID, producer, ORDERS))
    return errors_of(response)[ORDERS]


@pytest.mark.parametrize("is_commit", [True, False])
def test_trap_38_end_repeated_to_another_coordinator_succeeds_and_the_opposite_does_not(is_commit: bool):
    world = World()
    producer = world.producer()
    world.add(producer, ORDERS)
    world.end(producer, is_commit)
    world.fail_over()
    assert world.end(producer, is_commit) is ErrorCode.CONCURRENT_TRANSACTIONS
    world.write_markers()
    length = len(world.log)
    assert world.end(producer, is_commit) is ErrorCode.NONE
    assert world.end(producer, not is_commit) is ErrorCode.INVALID_TXN_STATE
    assert len(world.log) == length


def test_trap_39_offsets_partition_gets_its_marker_as_any_other():
    world = World()
    producer = world.producer()
    world.add(producer, ORDERS)
    world.add_offsets(producer, OFFSETS)
    world.fail_over()
    world.end(producer)
    assert world.markers[0].partitions == {ORDERS, OFFSETS}


def test_markers_that_share_a_tick_with_a_failed_append_are_sent_later():
    world = World()
    decided = world.producer()
    response = world.init("other", timeout_ms=1_000)
    world.add(decided, ORDERS)
    world.end(decided)
    world.add((response.producer_id, response.producer_epoch), BILLS, transactional_id="other")
    world.is_refusing = ErrorCode.NOT_ENOUGH_REPLICAS
    world.write_markers()
    world.advance(1_000)
    assert world.markers == []
    world.is_refusing = ErrorCode.NONE
    world.advance(1_000)
    world.write_markers()
    assert world.state == "CompleteCommit"


def test_transactions_that_time_out_together_are_aborted_in_batches_that_fit():
    world = World()
    producers = {}
    for index in range(40):
        response = world.init(f"id-{index}")
        producers[f"id-{index}"] = response.producer_id, response.producer_epoch
    topics = [TopicPartition("t" * 240 + f"{index:05}", 0) for index in range(200)]
    for transactional_id, producer in producers.items():
        world.add(producer, *topics, transactional_id=transactional_id)
    world.now_ms += 60_000
    sizes = []
    while (world.coordinator.next_deadline_ms() or world.now_ms + 1) <= world.now_ms:
        outcome = world.coordinator.tick(world.now_ms)
        sizes.append(sum(record.size_bytes for record in outcome.records))
        world.carry_out(outcome)
    assert max(sizes) < 768 * 1024
    assert len(sizes) > 1
    assert {transaction.state.label for transaction in world.coordinator.transactions.values()} == {"PrepareAbort"}


def test_transaction_whose_record_would_not_fit_is_refused_and_stays_as_it_was():
    world = World()
    producer = world.producer()
    world.add(producer, ORDERS)
    many = [TopicPartition("t" * 240 + f"{index:05}", 0) for index in range(3_000)]
    assert world.add(producer, *many) is ErrorCode.INVALID_REQUEST
    assert world.coordinator.transactions[ID].partitions == {ORDERS}

"""Who gets which producer id and epoch: fencing, an own epoch raised (KIP-360), epochs that run out."""

import pytest

from broker.common.errors import ErrorCode
from broker.common.limits import TRANSACTIONAL_NEWCOMER_IDS
from broker.common.shared_budget import ANONYMOUS, REFUSED, Owner
from broker.common.types import TopicPartition
from broker.coordinator.fields import STRING_BYTES_MAX
from broker.coordinator.outcome import CoordinatorRecord
from broker.coordinator.transaction.memory import TransactionMemory
from broker.coordinator.transaction.records import encode_key, encode_value
from broker.coordinator.transaction.states import TransactionPhase
from broker.coordinator.transaction.transaction import Transaction
from broker.protocol.messages.init_producer_id import InitProducerIdRequest
from tests.broker.coordinator.transaction.world import FIRST_FRESH_ID, ID, ORDERS, World

LAST_EPOCH_GIVEN = 2**15 - 2
OLD_ID = 7


def world_at(epoch: int, state: TransactionPhase = TransactionPhase.EMPTY) -> World:
    """The transactional id has been in use up to `epoch`."""
    world = World()
    partitions = frozenset({ORDERS}) if state.is_open else frozenset()
    used = Transaction(ID, OLD_ID, epoch, 60_000, state, partitions, world.now_ms, world.now_ms)
    world.log.append(CoordinatorRecord(encode_key(ID), encode_value(used)))
    world.fail_over()
    return world


def given(response) -> tuple[int, int]:
    assert response.error_code == ErrorCode.NONE
    return response.producer_id, response.producer_epoch


def test_trap_34_new_producer_is_answered_concurrent_transactions_until_the_old_transaction_is_aborted():
    world = World()
    old = world.producer()
    world.add(old, ORDERS)
    assert world.init().error_code == ErrorCode.CONCURRENT_TRANSACTIONS
    assert world.init().error_code == ErrorCode.CONCURRENT_TRANSACTIONS
    assert len(world.markers) == 1
    world.write_markers()
    assert given(world.init()) == (old[0], old[1] + 2)


def test_trap_34_exhausted_epochs_lead_to_a_new_producer_id():
    world = world_at(LAST_EPOCH_GIVEN - 1)
    assert given(world.init()) == (OLD_ID, LAST_EPOCH_GIVEN)
    assert given(world.init()) == (FIRST_FRESH_ID, 0)


def test_trap_34_last_epoch_is_kept_for_aborting_and_never_given_away():
    world = world_at(LAST_EPOCH_GIVEN, TransactionPhase.ONGOING)
    assert world.init().error_code == ErrorCode.CONCURRENT_TRANSACTIONS
    assert (world.markers[0].producer_id, world.markers[0].producer_epoch) == (OLD_ID, LAST_EPOCH_GIVEN + 1)
    world.write_markers()
    assert given(world.init()) == (FIRST_FRESH_ID, 0)


def test_trap_34_who_makes_up_the_last_epoch_begins_no_transaction_that_nobody_could_abort():
    world = world_at(LAST_EPOCH_GIVEN, TransactionPhase.ONGOING)
    world.init()
    world.write_markers()
    made_up = OLD_ID, LAST_EPOCH_GIVEN + 1
    assert world.add(made_up, ORDERS) is ErrorCode.PRODUCER_FENCED
    assert world.state == "CompleteAbort"
    assert given(world.init()) == (FIRST_FRESH_ID, 0)


def test_trap_34_producer_whose_own_request_used_the_last_epoch_gets_a_new_id():
    world = world_at(LAST_EPOCH_GIVEN, TransactionPhase.ONGOING)
    held = OLD_ID, LAST_EPOCH_GIVEN
    assert world.init(held=held).error_code == ErrorCode.CONCURRENT_TRANSACTIONS
    world.write_markers()
    assert given(world.init(held=held)) == (FIRST_FRESH_ID, 0)
    assert given(world.init(held=held)) == (FIRST_FRESH_ID, 0)


def test_repeated_request_that_led_to_a_new_producer_id_is_answered_with_it_again():
    world = world_at(LAST_EPOCH_GIVEN)
    held = OLD_ID, LAST_EPOCH_GIVEN
    assert given(world.init(held=held)) == (FIRST_FRESH_ID, 0)
    assert given(world.init(held=held)) == (FIRST_FRESH_ID, 0)
    assert world.init(held=(OLD_ID, 5)).error_code == ErrorCode.PRODUCER_FENCED


def test_producer_that_raises_its_epoch_in_an_open_transaction_gets_the_one_that_aborted_it():
    world = World()
    held = world.producer()
    world.add(held, ORDERS)
    assert world.init(held=held).error_code == ErrorCode.CONCURRENT_TRANSACTIONS
    world.write_markers()
    assert given(world.init(held=held)) == (held[0], held[1] + 1)
    assert world.add((held[0], held[1] + 1), ORDERS) is ErrorCode.NONE


def test_fenced_producer_cannot_abort_the_transaction_of_its_successor():
    world = World()
    old, new = world.producer(), world.producer()
    world.add(new, ORDERS)
    assert world.init(held=old).error_code == ErrorCode.PRODUCER_FENCED
    assert (world.state, world.markers) == ("Ongoing", [])
    assert world.end(new) is ErrorCode.NONE


def test_late_copy_of_a_request_does_not_abort_what_came_after_it():
    world = World()
    held = world.producer()
    raised = given(world.init(held=held))
    world.add(raised, ORDERS)
    assert world.init(held=held).error_code == ErrorCode.PRODUCER_FENCED
    assert world.end(raised) is ErrorCode.NONE


def test_repeated_request_after_a_fail_over_is_fenced_since_what_came_before_is_not_stored():
    world = World()
    held = world.producer()
    world.init(held=held)
    world.fail_over()
    assert world.init(held=held).error_code == ErrorCode.PRODUCER_FENCED


def test_producer_of_a_forgotten_transactional_id_gets_a_new_producer_id():
    world = World()
    assert given(world.init(held=(OLD_ID, 12))) == (FIRST_FRESH_ID, 0)


def test_id_that_was_not_needed_is_given_to_the_next():
    world = World()
    world.producer()
    world.producer()
    assert world.fresh_id == FIRST_FRESH_ID + 1


def test_epoch_that_could_not_be_appended_is_given_again():
    world = World()
    producer = world.producer()
    world.is_refusing = ErrorCode.NOT_ENOUGH_REPLICAS
    assert world.init().error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    world.is_refusing = ErrorCode.NONE
    assert given(world.init()) == (producer[0], producer[1] + 1)


@pytest.mark.parametrize("transactional_id", ["", "x" * (STRING_BYTES_MAX + 1)], ids=["empty", "too long to store"])
def test_transactional_id_that_cannot_be_is_refused(transactional_id: str):
    assert World().init(transactional_id).error_code == ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize("held", [(-1, 3), (7, -1)])
def test_producer_id_without_epoch_or_epoch_without_id_is_refused(held: tuple[int, int]):
    assert World().init(held=held).error_code == ErrorCode.INVALID_REQUEST


def test_all_coordinators_of_a_broker_together_remember_so_many_ids():
    """Each partition of the topic is one coordinator's: a bound for each would be fifty times as much."""
    memory = TransactionMemory(ids_max=3)
    first, second = World(memory=memory), World(memory=memory)
    second.speaker = Owner(ANONYMOUS, "/10.0.0.2")
    given(first.init("a"))
    given(first.init("b"))
    given(second.init("c"))
    assert first.init("d").error_code == second.init("d").error_code == ErrorCode.INVALID_REQUEST
    given(second.init("c"))
    given(first.init("a"))
    del first.coordinator
    given(second.init("d"))


@pytest.mark.parametrize("restarts", [False, True])
def test_clients_that_make_up_ids_leave_room_for_those_of_others(restarts):
    """They are remembered for a week: until then no other producer would get a new transactional id here."""
    memory = TransactionMemory(ids_max=3_000)
    worlds = World(memory=memory), World(memory=memory)
    count = 0
    for host in range(10):
        for world in worlds:
            world.speaker = Owner(ANONYMOUS, f"/10.0.1.{host}")
        while worlds[count % 2].init(f"made-up-{count}").error_code == ErrorCode.NONE:
            count += 1
        if restarts:
            for world in worlds:
                world.fail_over()
    assert 2_000 < count < 2_251 + 10 * TRANSACTIONAL_NEWCOMER_IDS
    given(worlds[0].init("made-up-0"))
    worlds[0].speaker = Owner(ANONYMOUS, "/10.0.0.7")
    for number in range(TRANSACTIONAL_NEWCOMER_IDS):
        given(worlds[0].init(f"of another client {number}"))


def test_refused_ids_are_logged_once_in_a_while():
    world = World(memory=TransactionMemory(ids_max=3))
    notes = []
    for number in range(50):
        request = InitProducerIdRequest(transactional_id=f"made-up-{number}", transaction_timeout_ms=60_000)
        outcome = world.coordinator.init_producer_id(7, request, world.speaker, number, world.now_ms)
        notes += outcome.notes
        world.carry_out(outcome)
    (note,) = notes
    assert (note.event, note.is_warning) == (REFUSED, True)
    assert (note.facts["of"], note.facts["max"], note.facts["address"]) == ("transactional ids", 3, "/127.0.0.1")
    assert world.memory.ids.refused == 47


def test_an_id_of_which_the_log_names_no_client_goes_on_and_is_counted_for_the_first_that_initialises_it():
    world = World()
    producer = world.producer()
    world.add(producer, TopicPartition("t", 0))
    world.log = [record._replace(headers=()) for record in world.log]
    world.fail_over()
    assert world.memory.ids.held_by(world.speaker) == world.memory.partitions.held_by(world.speaker) == 0
    assert world.add(producer, TopicPartition("t", 1)) == ErrorCode.NONE
    world.init(held=producer)
    assert world.memory.ids.held_by(world.speaker) == 1
    assert world.memory.partitions.held_by(world.speaker) == world.memory.partitions.held == 2
    world.write_markers()
    assert world.memory.partitions.held == 0


def test_an_id_that_could_not_be_written_is_counted_for_no_client():
    world = World()
    world.is_refusing = ErrorCode.NOT_ENOUGH_REPLICAS
    world.init("a")
    assert world.memory.ids.held == 0


def test_open_transactions_of_all_coordinators_of_a_broker_cover_so_many_partitions():
    """One by one they are bounded; ids times partitions would be millions."""
    memory = TransactionMemory(partitions_max=5)
    first, second = World(memory=memory), World(memory=memory)
    partitions = [TopicPartition("t", index) for index in range(4)]
    mine, yours = first.producer(), second.producer()
    assert first.add(mine, *partitions) == ErrorCode.NONE
    assert first.add(mine, *partitions[:2]) == ErrorCode.NONE, "they are in it already"
    assert second.add(yours, *partitions[:2]) == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert second.add(yours, partitions[0]) == ErrorCode.NONE
    assert first.end(mine) == ErrorCode.NONE
    first.write_markers()
    assert second.add(yours, *partitions) == ErrorCode.NONE, "a transaction that is over covers nothing"


@pytest.mark.parametrize("restarts", [False, True])
def test_a_client_that_keeps_transactions_open_leaves_room_for_those_of_others(restarts):
    """They time out after 15 minutes, and are opened again at once."""
    world = World(memory=TransactionMemory(partitions_max=4_000))
    world.speaker = Owner("User:greedy", "/10.0.0.66")
    many = [TopicPartition("t", index) for index in range(100)]
    for number in range(50):
        init = world.init(f"greedy-{number}")
        world.add((init.producer_id, init.producer_epoch), *many, transactional_id=f"greedy-{number}")
    held = world.memory.partitions.held_by(world.speaker)
    assert 2_000 < held < 2_251
    if restarts:
        world.fail_over()
    assert world.memory.partitions.held_by(world.speaker) == held
    world.speaker = Owner("User:calm", "/10.0.0.7")
    assert world.add(world.producer(), *many) == ErrorCode.NONE

"""DescribeTransactions and ListTransactions (KIP-664, KIP-994)."""

from broker.common.errors import ErrorCode
from broker.protocol.messages.describe_transactions import DescribeTransactionsRequest
from broker.protocol.messages.list_transactions import ListTransactionsRequest, ListTransactionsResponse
from tests.broker.coordinator.transaction.world import BILLS, FIRST_FRESH_ID, ID, ORDERS, World


def described(world: World, transactional_id: str = ID):
    request = DescribeTransactionsRequest(transactional_ids=[transactional_id])
    return world.ask(world.coordinator.describe_transactions, request).transaction_states[0]


def listed(world: World, **filters) -> ListTransactionsResponse:
    return world.ask(world.coordinator.list_transactions, ListTransactionsRequest(**filters))


def ids(response: ListTransactionsResponse) -> set[str]:
    return {state.transactional_id for state in response.transaction_states}


def two_open_and_one_idle() -> World:
    """`first` has been open for 10 s, `second` for 1 s, `idle` has never begun."""
    world = World()
    for transactional_id, open_ms in (("first", 9_000), ("second", 1_000), ("idle", None)):
        response = world.init(transactional_id)
        if open_ms is not None:
            producer = response.producer_id, response.producer_epoch
            world.add(producer, ORDERS, transactional_id=transactional_id)
            world.advance(open_ms)
    return world


def test_open_transaction_is_described_with_its_start_and_partitions():
    world = World()
    producer = world.producer()
    began_ms = world.now_ms
    world.add(producer, ORDERS, BILLS)
    world.advance(5)
    description = described(world)
    assert (description.error_code, description.transaction_state, description.transaction_timeout_ms) == (
        0,
        "Ongoing",
        60_000,
    )
    assert (description.producer_id, description.producer_epoch) == producer
    assert description.transaction_start_time_ms == began_ms
    assert {(topic.topic, *topic.partitions) for topic in description.topics} == {ORDERS, BILLS}


def test_decided_transaction_is_described_with_all_its_partitions_until_it_is_complete_and_always_with_its_start():
    world = World()
    began_ms = world.now_ms
    producer = world.producer()
    world.add(producer, ORDERS)
    world.end(producer)
    assert (described(world).transaction_state, len(described(world).topics)) == ("PrepareCommit", 1)
    world.write_markers()
    description = described(world)
    assert (description.transaction_state, description.topics, description.transaction_start_time_ms) == (
        "CompleteCommit",
        [],
        began_ms,
    )


def test_unknown_and_empty_transactional_ids_are_refused():
    world = World()
    assert described(world, "nobody").error_code == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND
    assert described(world, "").error_code == ErrorCode.INVALID_REQUEST


def test_list_without_filters_names_every_id():
    assert ids(listed(two_open_and_one_idle())) == {"first", "second", "idle"}


def test_list_is_filtered_by_state_and_names_the_states_nobody_knows():
    response = listed(two_open_and_one_idle(), state_filters=["Ongoing", "Sleeping", "Dead"])
    assert ids(response) == {"first", "second"}
    assert response.unknown_state_filters == ["Sleeping"]


def test_list_of_unknown_states_alone_is_empty():
    assert ids(listed(two_open_and_one_idle(), state_filters=["Sleeping"])) == set()


def test_list_is_filtered_by_producer_id():
    assert ids(listed(two_open_and_one_idle(), producer_id_filters=[FIRST_FRESH_ID + 1])) == {"second"}


def test_list_is_filtered_by_how_long_ago_the_last_transaction_began_be_it_over_or_not():
    """As in Kafka, where who has none yet counts as very old."""
    world = two_open_and_one_idle()
    assert ids(listed(world, duration_filter=9_999)) == {"first", "idle"}
    assert ids(listed(world, duration_filter=10_000)) == {"idle"}
    assert ids(listed(world, duration_filter=0)) == {"first", "second", "idle"}
    first = described(world, "first")
    world.end((first.producer_id, first.producer_epoch), transactional_id="first")
    world.write_markers()
    assert ids(listed(world, duration_filter=9_999, state_filters=["CompleteCommit"])) == {"first"}

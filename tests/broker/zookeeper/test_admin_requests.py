"""What is asked by znodes below /admin, and topics' znodes as partitions move, on a real server."""

import asyncio
from uuid import UUID

import pytest

from broker.common.errors import ApiError, ErrorCode
from broker.common.replica_assignment import ReplicaAssignment
from broker.common.types import TopicPartition
from broker.zookeeper import admin_znodes
from broker.zookeeper.admin_requests import (
    read_election_request,
    read_reassignment_request,
    remove_election_request,
    rewrite_reassignment_request,
)
from broker.zookeeper.assignment_writes import write_assignments
from broker.zookeeper.controller_store import ControllerMoved, ControllerStore
from broker.zookeeper.election import try_become_controller

T0, T1, GONE = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("gone", 0)
MOVING = ReplicaAssignment((3, 1), adding=(3,), removing=(1,))


@pytest.fixture
async def writes(store):
    return ControllerStore(store, await try_become_controller(store.session, 1, 5))


async def test_reassignment_request_is_read_as_kafkas_tools_write_it(store):
    assert await read_reassignment_request(store.session) is None
    text = b'{"version":1,"partitions":[{"topic":"t","partition":1,"replicas":[2,3],"log_dirs":["any","any"]}]}'
    await store.session.create(admin_znodes.REASSIGNMENT_REQUEST, text)
    assert await read_reassignment_request(store.session) == {T1: (2, 3)}


async def test_watch_of_a_request_fires_when_it_comes(store):
    came = asyncio.Event()
    assert await read_election_request(store.session, came.set) is None
    data = b'{"version":1,"partitions":[{"topic":"t","partition":0},{"topic":"t","partition":1}]}'
    await store.session.create(admin_znodes.ELECTION_REQUEST, data)
    await asyncio.wait_for(came.wait(), 10)
    assert await read_election_request(store.session, came.set) == {T0, T1}


@pytest.mark.parametrize("data", [b"", b"garbage", b"[]", b'{"partitions":[{"topic":"t"}]}', b'{"partitions":7}'])
async def test_requests_that_cannot_be_read_ask_for_nothing(store, data):
    await store.session.create(admin_znodes.REASSIGNMENT_REQUEST, data)
    await store.session.create(admin_znodes.ELECTION_REQUEST, data)
    assert await read_reassignment_request(store.session) == {}
    assert await read_election_request(store.session) == frozenset()


async def test_reassignment_request_shrinks_and_goes(store, writes):
    data = admin_znodes.encode_reassignment_request({T0: (1,), T1: (2,)})
    await store.session.create(admin_znodes.REASSIGNMENT_REQUEST, data)
    await rewrite_reassignment_request(writes, {T1: (2,)})
    assert await read_reassignment_request(store.session) == {T1: (2,)}
    await rewrite_reassignment_request(writes, {})
    assert await read_reassignment_request(store.session) is None
    await rewrite_reassignment_request(writes, {T1: (2,)})
    assert await read_reassignment_request(store.session) is None


async def test_removing_an_election_request_twice_is_no_error(store, writes):
    await store.session.create(admin_znodes.ELECTION_REQUEST, b"{}")
    await remove_election_request(writes)
    await remove_election_request(writes)
    assert await read_election_request(store.session) is None


async def test_moving_partition_leaves_the_rest_of_its_topic(store, writes):
    topic = await store.create_topic("t", {0: (1,), 1: (2,)}, {})
    ids = {"t": topic.topic_id, "gone": UUID(int=1)}
    written = await write_assignments(store.session, writes, {T0: MOVING, GONE: MOVING}, ids)
    assert written == {T0: MOVING}
    assert await store.topic("t") == topic.having({0: MOVING})


async def test_topic_made_anew_is_not_touched_by_moves_of_its_predecessor(store, writes):
    topic = await store.create_topic("t", {0: (1,)}, {})
    assert await write_assignments(store.session, writes, {T0: MOVING}, {"t": UUID(int=1)}) == {}
    assert await store.topic("t") == topic


async def test_partitions_added_while_a_move_is_written_are_kept(store, writes):
    topic = await store.create_topic("t", {0: (1,)}, {})
    moves = write_assignments(store.session, writes, {T0: MOVING}, {"t": topic.topic_id})
    outcomes = await asyncio.gather(moves, store.add_partitions("t", {1: (2,)}), return_exceptions=True)
    stored = await store.topic("t")
    assert stored.of(0) == MOVING
    assert (1 in stored.partitions) == (outcomes[1] is None)


async def test_partitions_are_not_added_to_a_topic_on_the_move(store, writes):
    topic = await store.create_topic("t", {0: (1,)}, {})
    await write_assignments(store.session, writes, {T0: MOVING}, {"t": topic.topic_id})
    with pytest.raises(ApiError) as refusal:
        await store.add_partitions("t", {1: (2,)})
    assert refusal.value.code is ErrorCode.REASSIGNMENT_IN_PROGRESS


async def test_controller_that_was_replaced_moves_nothing(store, writes):
    topic = await store.create_topic("t", {0: (1,)}, {})
    await store.session.set("/controller_epoch", b"9")
    with pytest.raises(ControllerMoved):
        await write_assignments(store.session, writes, {T0: MOVING}, {"t": topic.topic_id})
    assert await store.topic("t") == topic

"""Moves and elections carried out on a real ZooKeeper, by controllers that come and go."""

import json

import pytest

from broker.common.errors import ApiError, ErrorCode
from broker.common.types import TopicPartition
from broker.controller.events import Election, ElectionAsked, ReassignmentsAsked
from broker.controller.verdict import DONE
from broker.protocol.api_keys import ApiKey
from broker.zookeeper import admin_znodes
from broker.zookeeper.errors import NodeMissing
from tests.broker.runtime.controller.nodes import Node, until
from tests.eventually import eventually

T0 = TopicPartition("t", 0)


async def _replicated_topic(cluster, *replicas: int) -> list[Node]:
    """Three brokers, the first of which is controller."""
    nodes = [await cluster.start(1)]
    await eventually(lambda: nodes[0].runtime.is_controller, "1 is controller")
    nodes += [await cluster.start(broker_id) for broker_id in (2, 3)]
    await nodes[0].store.create_topic("t", {0: replicas}, {})
    await eventually(lambda: nodes[replicas[0] - 1].broker.leads == {T0: 0}, "leader")
    return nodes


async def _count_in(node: Node, *isr: int) -> None:
    """As the leader would: another ISR, made from what whoever was quicker has written, and word of it."""
    written = None
    while written is None or written.isr != isr:
        state = await node.store.state(T0)
        written = await node.store.write_isr(T0, state.with_isr(isr))
    await node.store.announce_isr_changes([T0])


async def _move(node: Node, target: tuple[int, ...] | None):
    return await node.runtime.ask(lambda request_id: ReassignmentsAsked(request_id, {T0: target}), 10_000)


def _stopped(node: Node) -> list[tuple[int, bool]]:
    """(leader epoch, delete) of each replica of t-0 the broker was told to stop."""
    return [
        (state.leader_epoch, state.delete_partition)
        for request in node.broker.requests(ApiKey.STOP_REPLICA)
        for topic in request.topic_states
        for state in topic.partition_states
    ]


async def test_trap_13_partition_moves_once_its_target_is_in_sync(cluster):
    one, two, three = await _replicated_topic(cluster, 1)
    assert await _move(one, (2, 3)) == {T0: DONE}
    moving = (await one.runtime.reassignments())[T0]
    assert (moving.replicas, moving.adding, moving.removing) == ((2, 3, 1), (2, 3), (1,))
    assert (await one.store.topic("t")).of(0) == moving
    await eventually(lambda: one.broker.leads == {T0: 1}, "everybody involved is told under a higher epoch")
    partition_state = one.broker.requests(ApiKey.LEADER_AND_ISR)[-1].topic_states[0].partition_states[0]
    assert (partition_state.replicas, partition_state.adding_replicas, partition_state.removing_replicas) == (
        [2, 3, 1],
        [2, 3],
        [1],
    )
    await _count_in(one, 1, 2, 3)
    await eventually(lambda: two.broker.leads == {T0: 2}, "the leader has moved")
    await eventually(lambda: _stopped(one) == [(2, True)], "the old replica is deleted")
    await until(lambda: _assigned(one), ((2, 3), (), ()), "the znode says the target")
    await until(one.runtime.reassignments, {}, "the controller has read that it is written")
    assert _stopped(two) == _stopped(three) == []


async def test_trap_13_move_goes_on_under_the_next_controller(cluster):
    one, two, three = await _replicated_topic(cluster, 2)
    assert await _move(one, (3,)) == {T0: DONE}
    await cluster.stop(one)
    await eventually(lambda: three.runtime.is_controller or two.runtime.is_controller, "another controller")
    await _count_in(two, 2, 3)
    await eventually(lambda: T0 in three.broker.leads, "the leader has moved")
    await until(lambda: _assigned(two), ((3,), (), ()), "the znode says the target")


async def test_trap_13_move_that_is_called_off_goes_back(cluster):
    one, _, three = await _replicated_topic(cluster, 1)
    await _move(one, (3,))
    assert await _move(one, None) == {T0: DONE}
    await until(lambda: _assigned(one), ((1,), (), ()), "the znode says the origin")
    await eventually(lambda: [delete for _, delete in _stopped(three)] == [True], "the copy is deleted")
    await until(one.runtime.reassignments, {}, "the controller has read that it is over")
    assert (await _move(one, None))[T0].code is ErrorCode.NO_REASSIGNMENT_IN_PROGRESS


async def test_only_the_controller_is_asked(cluster):
    one, two, _ = await _replicated_topic(cluster, 1)
    with pytest.raises(ApiError) as refusal:
        await _move(two, (2,))
    assert refusal.value.code is ErrorCode.NOT_CONTROLLER
    with pytest.raises(ApiError) as refusal:
        await two.runtime.reassignments()
    assert refusal.value.code is ErrorCode.NOT_CONTROLLER
    assert await one.runtime.reassignments() == {}


async def test_moves_asked_for_by_znode_end_and_the_znode_goes(cluster):
    one, two, _ = await _replicated_topic(cluster, 1)
    targets = {T0: (2,), TopicPartition("t", 9): (1,)}
    data = admin_znodes.encode_reassignment_request(targets)
    await two.store.session.create(admin_znodes.REASSIGNMENT_REQUEST, data)
    await eventually(lambda: two.broker.requests(ApiKey.LEADER_AND_ISR), "the target is told")
    left = admin_znodes.encode_reassignment_request({T0: (2,)})
    await until(lambda: _data(one, admin_znodes.REASSIGNMENT_REQUEST), left, "what cannot be is dropped")
    await _count_in(one, 1, 2)
    await until(lambda: _data(one, admin_znodes.REASSIGNMENT_REQUEST), None, "the request is done with")
    await until(lambda: _assigned(one), ((2,), (), ()), "the znode says the target")


async def test_preferred_leader_is_elected_on_request_and_by_znode(cluster):
    one, two, _ = await _replicated_topic(cluster, 2, 1)
    await cluster.stop(two)
    await eventually(lambda: one.broker.leads == {T0: 1}, "1 leads")
    two = await cluster.start(2)
    await eventually(lambda: two.broker.requests(ApiKey.LEADER_AND_ISR), "2 follows")
    await _count_in(one, 1, 2)
    await _elect_until_done(one)
    await eventually(lambda: two.broker.leads == {T0: 2}, "the leader elected is told")
    asked_for = json.dumps({"version": 1, "partitions": [{"topic": T0.topic, "partition": T0.partition}]})
    await two.store.session.create(admin_znodes.ELECTION_REQUEST, asked_for.encode())
    await until(lambda: _data(one, admin_znodes.ELECTION_REQUEST), None, "the request is done with")


async def test_requests_that_cannot_be_read_are_removed(cluster):
    one = await cluster.start(1)
    for path in (admin_znodes.ELECTION_REQUEST, admin_znodes.REASSIGNMENT_REQUEST):
        await one.store.session.create(path, b"garbage")
        await until(lambda: _data(one, path), None, path)  # noqa: B023


async def _elect_until_done(node: Node) -> None:
    """The controller may not have read of the ISR yet."""
    verdicts = [{}]

    async def elect():
        verdicts[0] = await node.runtime.ask(
            lambda request_id: ElectionAsked(request_id, Election.PREFERRED, frozenset({T0})), 10_000
        )
        return verdicts[0]

    await until(elect, {T0: DONE}, "elected")


async def _assigned(node: Node):
    one = (await node.store.topic("t")).of(0)
    return one.replicas, one.adding, one.removing


async def _data(node: Node, path: str) -> bytes | None:
    try:
        return (await node.store.session.get(path)).data
    except NodeMissing:
        return None

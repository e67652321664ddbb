"""The controller's traps, by their numbers in the list of correctness traps, on a real ZooKeeper.

8: one controller at a time, fenced in ZooKeeper and at the brokers. 10: suspended is not lost. 11: unclean elections.
"""

import asyncio

import pytest

from broker.common.errors import ApiError, ErrorCode
from broker.common.replica_assignment import ReplicaAssignment
from broker.common.types import TopicPartition
from broker.controller.events import ShutdownAsked
from broker.protocol.api_keys import ApiKey
from broker.zookeeper.assignment_writes import write_assignments
from broker.zookeeper.controller_store import ControllerMoved, ControllerStore
from broker.zookeeper.election import ControllerEpoch
from broker.zookeeper.session import Check
from broker.zookeeper.znodes import CONTROLLER_EPOCH
from tests.broker.runtime.controller.nodes import until
from tests.eventually import eventually
from tests.severable_proxy import SeverableProxy

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


class Spy:
    """Notes every write of a session."""

    def __init__(self, session, monkeypatch):
        self.transactions: list[list] = []
        self.single: list[str] = []
        multi = session.multi

        async def note_transaction(operations):
            self.transactions.append(operations)
            return await multi(operations)

        monkeypatch.setattr(session, "multi", note_transaction)
        for name in ("set", "create", "delete"):
            monkeypatch.setattr(session, name, self._noting(getattr(session, name)))

    def _noting(self, write):
        async def note(path, *arguments, **options):
            self.single.append(path)
            return await write(path, *arguments, **options)

        return note


async def test_trap_8_every_write_of_a_controller_carries_the_fence_of_its_term(cluster, monkeypatch):
    one = await cluster.start(1)
    await eventually(lambda: one.runtime.is_controller, "1 is controller")
    spy = Spy(one.store.session, monkeypatch)
    two = await cluster.start(2)
    await two.store.create_topic("t", {0: (2, 1), 1: (1,)}, {})
    await eventually(lambda: one.broker.metadata == {T0: 2, T1: 1}, "topic created")
    await two.store.write_isr(T0, (await two.store.state(T0)).with_isr((2,)))
    await two.store.announce_isr_changes([T0])
    await until(two.store.isr_changes, [], "ISR change noted")
    await two.store.announce_log_dir_failure(2)
    await until(two.store.log_dir_events, [], "log directory event noted")
    await two.store.set_config("topics", "t", {"unclean.leader.election.enable": "true"})
    await two.store.session.create("/admin/preferred_replica_election", b'{"partitions":[{"topic":"t","partition":0}]}')
    await two.store.session.create(
        "/admin/reassign_partitions", b'{"version":1,"partitions":[{"topic":"t","partition":1,"replicas":[2]}]}'
    )
    await two.store.request_topic_deletion("t")
    await until(two.store.topic_names, [], "topic deleted")
    await two.store.create_topic("t", {0: (2, 1)}, {})
    await eventually(lambda: one.broker.metadata[T0] == 2, "topic made anew")
    epoch = (await two.store.brokers())[2].epoch
    await one.runtime.ask(lambda number: ShutdownAsked(number, 2, epoch), 10_000)
    await eventually(lambda: one.broker.leads == {T0: 1}, "leader moved")
    assert len(spy.transactions) >= 6
    fence = Check(CONTROLLER_EPOCH, spy.transactions[0][0].version)
    assert [operations[0] for operations in spy.transactions] == [fence] * len(spy.transactions)
    assert spy.single == []


async def test_trap_8_nothing_at_all_is_written_when_the_term_is_over(cluster):
    one = await cluster.start(1)
    await one.store.create_topic("t", {0: (1,)}, {})
    await eventually(lambda: one.broker.leads == {T0: 0}, "leader")
    await one.store.announce_isr_changes([T0])
    state, topic = await one.store.state(T0), await one.store.topic("t")
    version = (await one.store.session.get(CONTROLLER_EPOCH)).version
    writes = ControllerStore(one.store, ControllerEpoch(0, version - 1))
    move = write_assignments(one.store.session, writes, {T0: ReplicaAssignment((2,))}, {"t": topic.topic_id})
    for attempt in (
        writes.write_states({T0: state.next(-1, (1,), 0)}),
        writes.write_states({T1: state}),
        writes.remove_topic("t"),
        writes.remove_deletion_request("u"),
        writes.remove_notifications("/isr_change_notification", ["isr_change_0"]),
        move,
    ):
        with pytest.raises(ControllerMoved):
            await attempt
    assert await one.store.state(T0) == state
    assert await one.store.topic("t") == topic


async def test_trap_8_brokers_that_race_never_share_a_controller_epoch(cluster):
    nodes = [await cluster.start(broker_id) for broker_id in (1, 2, 3)]
    for epoch in range(1, 5):
        await eventually(lambda: epoch in {node for node, _ in _spoken(nodes)}, f"word of epoch {epoch}")  # noqa: B023
        await nodes[0].store.session.delete("/controller")
    spoken = _spoken(nodes)
    assert len(spoken) >= 4
    assert len({epoch for epoch, _ in spoken}) == len(spoken)


def _spoken(nodes) -> set[tuple[int, int]]:
    return {(request.controller_epoch, request.controller_id) for node in nodes for request in node.broker.received}


async def test_trap_10_suspended_controller_answers_nobody(cluster, zookeeper):
    async with SeverableProxy(zookeeper.port) as proxy:
        one = await cluster.start(1, proxy.port)
        await eventually(lambda: one.runtime.is_controller, "1 is controller")
        asking = asyncio.ensure_future(one.runtime.ask(lambda number: ShutdownAsked(number, 1, 0), 10_000))
        proxy.cut()
        await eventually(lambda: not one.runtime.is_controller, "suspended")
        asking.cancel()
        with pytest.raises(ApiError) as refusal:
            await one.runtime.ask(lambda number: ShutdownAsked(number, 1, 0), 10_000)
        assert refusal.value.code is ErrorCode.NOT_CONTROLLER
        proxy.mend()
        await eventually(lambda: one.runtime.is_controller, "and goes on")
        await cluster.stop(one)


async def test_trap_10_suspended_controller_stands_still_and_catches_up_under_the_same_epoch(cluster, zookeeper):
    async with SeverableProxy(zookeeper.port) as proxy:
        one = await cluster.start(1, proxy.port)
        await eventually(lambda: one.runtime.is_controller, "1 is controller")
        two = await cluster.start(2)
        proxy.cut()
        await eventually(lambda: not one.runtime.is_controller, "suspended")
        await two.store.create_topic("t", {0: (1,)}, {})
        assert one.broker.leads == {}
        proxy.mend()
        await eventually(lambda: one.broker.leads == {T0: 0}, "it has caught up")
        assert (await two.store.session.get("/controller_epoch")).data == b"1"
        await cluster.stop(one)


async def test_trap_10_controller_whose_session_ends_is_replaced_and_stands_by(cluster, zookeeper):
    async with SeverableProxy(zookeeper.port) as proxy:
        one = await cluster.start(1, proxy.port, session_timeout_ms=1_500)
        two = await cluster.start(2)
        await two.store.create_topic("t", {0: (2,)}, {})
        await eventually(lambda: two.broker.leads == {T0: 0}, "leader")
        proxy.cut()
        await eventually(lambda: two.runtime.is_controller, "2 has taken over", within_s=15)
        await eventually(lambda: two.broker.requests(ApiKey.LEADER_AND_ISR)[-1].controller_epoch == 2, "and acts")
        proxy.mend()
        await eventually(lambda: one.runtime.controller_id == 2, "1 knows")
        assert not one.runtime.is_controller
        await one.register()
        await eventually(lambda: one.broker.requests(ApiKey.UPDATE_METADATA)[-1].controller_epoch == 2, "1 is told")
        await cluster.stop(one)


async def test_trap_8_controller_that_was_replaced_unawares_is_stopped_by_its_fence(cluster):
    one, two = await cluster.start(1), await cluster.start(2)
    await eventually(lambda: one.runtime.is_controller, "1 is controller")
    await one.store.session.set("/controller_epoch", b"9")
    await one.store.create_topic("t", {0: (1,)}, {})
    await eventually(lambda: one.broker.leads == {T0: 0}, "a controller of a later epoch has acted")
    requests = [*one.broker.received, *two.broker.received]
    assert {request.controller_epoch for request in requests if request.topic_states} == {9}


async def test_trap_11_unclean_election_waits_until_the_topic_allows_it(cluster):
    one, two = await cluster.start(1), await cluster.start(2)
    await one.store.create_topic("t", {0: (2, 1)}, {})
    await eventually(lambda: two.broker.leads == {T0: 0} and one.broker.metadata == {T0: 2}, "leader")
    await one.store.write_isr(T0, (await one.store.state(T0)).with_isr((2,)))
    await one.store.announce_isr_changes([T0])
    await eventually(lambda: one.broker.isrs == {T0: [2]}, "told")
    await cluster.stop(two)
    await eventually(lambda: one.broker.metadata == {T0: -1}, "nobody leads")
    await one.store.set_config("topics", "t", {"unclean.leader.election.enable": "true"})
    await eventually(lambda: one.broker.leads == {T0: 2}, "1 leads")
    state = await one.store.state(T0)
    assert (state.leader, state.isr, state.leader_recovery_state) == (1, (1,), 1)

"""What the controller writes, on a real server."""

import pytest

from broker.common.cluster import LeaderAndIsr
from broker.common.types import TopicPartition
from broker.zookeeper import controller_store
from broker.zookeeper.controller_store import ControllerStore
from broker.zookeeper.election import try_become_controller


@pytest.fixture
async def writes(store):
    return ControllerStore(store, await try_become_controller(store.session, 1, 5))


def _new(topic: str, count: int) -> dict[TopicPartition, LeaderAndIsr]:
    return {TopicPartition(topic, index): LeaderAndIsr(1, 0, (1,), 1) for index in range(count)}


async def test_first_states_come_with_their_parents(store, writes):
    await store.create_topic("t", {0: (1,), 1: (1,)}, {})
    written, first = await writes.write_states(_new("t", 2))
    assert first == {}
    assert {state.zk_version for state in written.values()} == {0}
    assert await store.states(list(written)) == written
    znode = await store.session.get("/brokers/topics/t/partitions/1/state")
    assert znode.data == b'{"version":1,"leader":1,"leader_epoch":0,"controller_epoch":1,"isr":[1]}'


async def test_many_states_take_several_transactions(store, writes, monkeypatch):
    monkeypatch.setattr(controller_store, "OPERATIONS_PER_TRANSACTION", 7)
    await store.create_topic("t", dict.fromkeys(range(50), (1,)), {})
    written, first = await writes.write_states(_new("t", 50))
    assert (len(written), first) == (50, {})
    rewritten, _ = await writes.write_states({key: state.next(-1, (1,), 1) for key, state in written.items()})
    assert {state.zk_version for state in rewritten.values()} == {1}
    await writes.remove_topic("t")
    assert await store.topic_names() == []


async def test_state_somebody_else_has_written_is_left_and_shown(store, writes):
    await store.create_topic("t", {0: (1,), 1: (1,)}, {})
    written, _ = await writes.write_states(_new("t", 2))
    zero, one = TopicPartition("t", 0), TopicPartition("t", 1)
    await store.session.set(
        "/brokers/topics/t/partitions/0/state", b'{"leader":1,"leader_epoch":9,"controller_epoch":1,"isr":[1]}'
    )
    rewritten, first = await writes.write_states({key: state.next(-1, (1,), 1) for key, state in written.items()})
    assert rewritten == {one: LeaderAndIsr(-1, 1, (1,), 1, 1)}
    assert first == {zero: LeaderAndIsr(1, 9, (1,), 1, 1)}


async def test_first_state_that_stands_already_is_left_and_shown(store, writes):
    await store.create_topic("t", {0: (1,), 1: (1,)}, {})
    written, _ = await writes.write_states(_new("t", 1))
    again, first = await writes.write_states(_new("t", 2))
    assert list(again) == [TopicPartition("t", 1)]
    assert first == written


async def test_state_of_a_topic_that_is_gone_is_neither_written_nor_found(writes):
    assert await writes.write_states(_new("gone", 1)) == ({}, {})


async def test_removed_topic_leaves_nothing_behind(store, writes):
    await store.create_topic("t", {0: (1,), 1: (1,)}, {"retention.ms": "5"})
    await writes.write_states(_new("t", 2))
    await store.request_topic_deletion("t")
    await writes.remove_topic("t")
    assert await store.topic_names() == []
    assert await store.topics_to_delete() == []
    assert await store.session.children("/config/topics") == []
    await writes.remove_topic("t")


async def test_removal_that_stopped_half_way_is_finished(store, writes):
    await store.create_topic("t", {0: (1,)}, {})
    await writes.write_states(_new("t", 1))
    await store.request_topic_deletion("t")
    await store.session.delete("/brokers/topics/t/partitions/0/state")
    await store.session.delete("/config/topics/t")
    await writes.remove_topic("t")
    assert await store.topic_names() == []
    assert await store.topics_to_delete() == []


async def test_deletion_request_of_an_existing_topic_stays(store, writes):
    await store.create_topic("t", {0: (1,)}, {})
    await store.request_topic_deletion("t")
    await store.session.create("/admin/delete_topics/unknown")
    await writes.remove_deletion_request("t")
    await writes.remove_deletion_request("unknown")
    await writes.remove_deletion_request("unknown")
    assert await store.topics_to_delete() == ["t"]

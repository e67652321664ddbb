"""Controllers race, are fenced, and give up, on a real server."""

import asyncio

import pytest

from broker.common.clock import SystemClock
from broker.common.cluster import BrokerRegistration, LeaderAndIsr
from broker.common.types import TopicPartition
from broker.zookeeper.controller_store import ControllerMoved, ControllerStore
from broker.zookeeper.election import (
    ControllerEpoch,
    doubt_of_controller,
    read_controller,
    resign,
    try_become_controller,
)
from broker.zookeeper.store import ClusterStore
from broker.zookeeper.znodes import encode_broker
from tests.broker.zookeeper.kafka_znodes import BROKER_11 as KAFKA_3_9_1_BROKER

T0 = TopicPartition("t", 0)


async def test_first_controller_has_epoch_1(session):
    assert await read_controller(session) == -1
    term = await try_become_controller(session, 1, 5)
    assert term == ControllerEpoch(epoch=1, epoch_zk_version=1)
    assert await read_controller(session) == 1
    assert (await session.get("/controller_epoch")).data == b"1"
    znode = await session.get("/controller")
    assert znode.ephemeral_owner == session.session_id
    assert znode.data == b'{"version":2,"brokerid":1,"timestamp":"5","kraftControllerEpoch":-1}'


async def test_of_many_who_race_one_wins(new_session):
    sessions = [await new_session() for _ in range(5)]
    outcomes = await asyncio.gather(*(try_become_controller(one, number, 5) for number, one in enumerate(sessions)))
    winners = [number for number, term in enumerate(outcomes) if term is not None]
    assert len(winners) == 1
    assert await read_controller(sessions[0]) == winners[0]
    assert outcomes[winners[0]].epoch == 1


async def test_epoch_rises_with_each_controller_and_by_losers_not_at_all(new_session):
    first, second = await new_session(), await new_session()
    assert (await try_become_controller(first, 1, 5)).epoch == 1
    assert await try_become_controller(second, 2, 5) is None
    await first.close()
    assert (await try_become_controller(second, 2, 5)).epoch == 2


async def test_term_held_already_is_returned(session):
    term = await try_become_controller(session, 1, 5)
    assert await try_become_controller(session, 1, 6) == term


async def test_resigning_keeps_the_epoch_and_touches_nobody_elses_term(new_session):
    first, second = await new_session(), await new_session()
    await try_become_controller(first, 1, 5)
    await resign(second)
    assert await read_controller(first) == 1
    await resign(first)
    assert await read_controller(first) == -1
    assert (await try_become_controller(second, 2, 5)).epoch == 2


async def test_controller_that_was_replaced_cannot_write(store, new_session):
    old = ControllerStore(store, await try_become_controller(store.session, 1, 5))
    await store.create_topic("t", {0: (1,)}, {})
    written, _ = await old.write_states({T0: LeaderAndIsr(1, 0, (1,), 1)})
    await resign(store.session)
    await try_become_controller(await new_session(), 2, 5)
    for write in (
        old.write_states({T0: written[T0].next(-1, (1,), 1)}),
        old.write_states({TopicPartition("t", 1): LeaderAndIsr(1, 0, (1,), 1)}),
        old.remove_topic("t"),
    ):
        with pytest.raises(ControllerMoved):
            await write
    assert await store.state(T0) == written[T0]
    assert await store.session.children("/brokers/topics/t/partitions") == ["0"]


NONSENSE = (
    b"",
    b"garbage",
    b"\xff\xfe",
    b"[]",
    b"{}",
    b'{"brokerid":"three"}',
    b'{"brokerid":-1}',
    b'{"brokerid":99999999999}',
    b'{"brokerid":1e999}',
    b"[" * 100_000,
)


@pytest.mark.parametrize("nonsense", [*NONSENSE, b'{"version":1,"brokerid":2}'], ids=lambda data: repr(data[:30]))
async def test_controller_whose_znode_was_overwritten_is_controller_still_and_writes_its_name_again(
    new_session, nonsense
):
    first, second = await new_session(), await new_session()
    term = await try_become_controller(first, 1, 5)
    await second.set("/controller", nonsense)
    assert await read_controller(second) == (2 if b"2" in nonsense else -1)
    assert await try_become_controller(second, 2, 5) is None
    assert await try_become_controller(first, 1, 5) == term
    assert await read_controller(second) == 1
    await second.set("/controller", nonsense)
    await resign(first)
    assert await try_become_controller(second, 2, 5) == ControllerEpoch(epoch=2, epoch_zk_version=2)


@pytest.mark.parametrize("nonsense", [*NONSENSE, b'{"version":1,"brokerid":2}'], ids=lambda data: repr(data[:30]))
async def test_znode_that_would_stay_without_any_session_is_no_controllers_and_removed(new_session, nonsense):
    sessions = [await new_session() for _ in range(3)]
    await sessions[0].create("/controller", nonsense)
    terms = await asyncio.gather(*(try_become_controller(one, number, 5) for number, one in enumerate(sessions)))
    (winner,) = (number for number, term in enumerate(terms) if term is not None)
    assert await read_controller(sessions[0]) == winner
    assert (await sessions[0].get("/controller")).ephemeral_owner == sessions[winner].session_id


@pytest.mark.parametrize("nonsense", NONSENSE, ids=lambda data: repr(data[:30]))
async def test_znode_of_a_living_stranger_is_left_alone_and_doubted(new_session, nonsense):
    session, stranger = await new_session(), await new_session()
    await stranger.create("/controller", nonsense, ephemeral=True)
    assert await try_become_controller(session, 1, 5) is None
    await resign(session)
    assert f"session {stranger.session_id:#x}, which lives" in (await doubt_of_controller(session)).reason
    await stranger.close()
    assert await doubt_of_controller(session) is None
    assert (await try_become_controller(session, 1, 5)).epoch == 1


@pytest.mark.parametrize("content", [b"", b"seven", b"\xff", b"-1", b"2147483646", b"2147483647", b"9" * 5_000])
async def test_an_epoch_that_no_other_can_follow_keeps_nobody_from_being_elected(session, content):
    await session.create("/controller_epoch", content)
    assert (await try_become_controller(session, 1, 5)).epoch == 1


async def test_an_epoch_is_raised_above_those_in_use_by_the_last_controller_only(new_session):
    first, second = await new_session(), await new_session()
    old = ControllerStore(ClusterStore(first, SystemClock()), await try_become_controller(first, 1, 5))
    states = [LeaderAndIsr(1, 0, (1,), controller_epoch) for controller_epoch in (0, 1, 2**31 - 1, 2**31 - 2)]
    for last in states[2:]:
        assert (await old.raise_epoch([states[0], last], last.controller_epoch)).epoch == 1, "none follows the last"
    assert await old.raise_epoch(states, 41) == ControllerEpoch(epoch=42, epoch_zk_version=2)
    assert (await first.get("/controller_epoch")).data == b"42"
    await resign(first)
    assert (await try_become_controller(second, 2, 5)).epoch == 43
    with pytest.raises(ControllerMoved):
        await old.raise_epoch([], 99)
    assert (await first.get("/controller_epoch")).data == b"43"


async def test_the_last_epoch_is_given_out_once(new_session):
    """Brokers would not know the controller that was replaced from its successor."""
    first, second = await new_session(), await new_session()
    await first.create("/controller_epoch", b"2147483645")
    old = ControllerStore(ClusterStore(first, SystemClock()), await try_become_controller(first, 1, 5))
    assert (await old.raise_epoch([], -1)).epoch == 2**31 - 2
    states = [LeaderAndIsr(1, 0, (1,), epoch) for epoch in (41, 2**31 - 4, 2**31 - 3, 2**31 - 2)]
    await resign(first)
    new = ControllerStore(ClusterStore(second, SystemClock()), await try_become_controller(second, 2, 5))
    assert (await new.raise_epoch(states, 2**31 - 2)).epoch == 42
    await resign(second)
    assert (await try_become_controller(first, 1, 5)).epoch == 43


@pytest.mark.parametrize("epoch", [2**31 - 3, 2**31 - 2])
async def test_a_controller_under_the_last_epoch_has_it_at_every_look(session, epoch):
    """Brokers believe what is written in ZooKeeper: under another epoch nothing it says would be heard."""
    await session.create("/controller_epoch", str(epoch - 1).encode())
    taken = await try_become_controller(session, 1, 5)
    assert taken.epoch == epoch
    assert await try_become_controller(session, 1, 5, taken) == taken


@pytest.mark.parametrize("content", [b"", b"seven", b"2147483647", b"2147483646"])
async def test_a_controller_whose_epoch_is_overwritten_by_one_that_none_follows_takes_a_new_one(session, content):
    held = await try_become_controller(session, 1, 5)
    await session.set("/controller_epoch", content)
    taken = await try_become_controller(session, 1, 5, held)
    assert (await session.get("/controller_epoch")).data == b"1"
    assert await try_become_controller(session, 1, 5, taken) == taken == ControllerEpoch(epoch=1, epoch_zk_version=3)
    assert await read_controller(session) == 1


async def test_controller_that_is_not_registered_is_doubted(new_session):
    session, other = await new_session(), await new_session()
    await try_become_controller(other, 7, 5)
    doubt = await doubt_of_controller(session)
    assert doubt.reason == "/controller names broker 7, which is not registered"
    assert "delete /controller" in doubt.remedy
    await other.ensure("/brokers/ids")
    await other.create("/brokers/ids/7", encode_broker(BrokerRegistration(7, ()), 5))
    assert await doubt_of_controller(session) is None


async def test_a_controller_of_another_kafka_is_doubted_and_not_robbed_of_its_znode(new_session):
    session, other = await new_session(), await new_session()
    await try_become_controller(other, 11, 5)
    await other.ensure("/brokers/ids")
    await other.create("/brokers/ids/11", KAFKA_3_9_1_BROKER, ephemeral=True)
    doubt = await doubt_of_controller(session)
    assert doubt.reason == "/controller is held by broker 11 of another Kafka"
    assert "stop that broker" in doubt.remedy
    assert await try_become_controller(session, 1, 5) is None
    await other.close()
    assert (await try_become_controller(session, 1, 5)).epoch == 2

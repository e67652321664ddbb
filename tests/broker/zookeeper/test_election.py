"""Controllers race, are fenced, and give up, on a real server."""

import asyncio

import pytest

from broker.common.types import TopicPartition
from broker.controller.cluster import LeaderAndIsr
from broker.zookeeper.controller_store import ControllerMoved, ControllerStore
from broker.zookeeper.election import ControllerTerm, current_term, read_controller, resign, try_become_controller

T0 = TopicPartition("t", 0)


async def test_first_controller_has_epoch_1(session):
    assert await read_controller(session) == -1
    term = await try_become_controller(session, 1, 5)
    assert term == ControllerTerm(epoch=1, epoch_zk_version=1)
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
    await resign(second, 2)
    assert await current_term(first, 1) is not None
    await resign(first, 1)
    assert await read_controller(first) == -1
    assert (await try_become_controller(second, 2, 5)).epoch == 2


async def test_controller_that_was_replaced_cannot_write(store, new_session):
    old = ControllerStore(store, await try_become_controller(store.session, 1, 5))
    await store.create_topic("t", {0: (1,)}, {})
    written, _ = await old.write_states({T0: LeaderAndIsr(1, 0, (1,), 1)})
    await resign(store.session, 1)
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

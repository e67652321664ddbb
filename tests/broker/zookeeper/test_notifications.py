"""How leaders change ISRs and call the controller, on a real server."""

import asyncio

import pytest

from broker.common.cluster import LeaderAndIsr
from broker.common.types import TopicPartition
from broker.zookeeper import notifications
from broker.zookeeper.controller_store import ControllerMoved, ControllerStore
from broker.zookeeper.election import try_become_controller
from broker.zookeeper.errors import ConnectionInterrupted
from broker.zookeeper.notification_znodes import ISR_CHANGES
from broker.zookeeper.session import SessionState
from tests.eventually import eventually
from tests.severable_proxy import SeverableProxy

T0 = TopicPartition("t", 0)


@pytest.fixture
async def writes(store):
    return ControllerStore(store, await try_become_controller(store.session, 1, 5))


@pytest.fixture
async def led(store, writes) -> LeaderAndIsr:
    """Partition t-0 led by 1 with 2 and 3 in sync, as the controller wrote it."""
    await store.create_topic("t", {0: (1, 2, 3)}, {})
    written, _ = await writes.write_states({T0: LeaderAndIsr(1, 4, (1, 2, 3), 1)})
    return written[T0]


async def test_leader_writes_an_isr_over_the_state_it_knows(store, led):
    shrunk = await store.write_isr(T0, led.with_isr((1, 2)))
    assert shrunk == LeaderAndIsr(1, 4, (1, 2), 1, zk_version=1)
    assert await store.state(T0) == shrunk
    assert await store.write_isr(T0, shrunk.with_isr((1, 2, 3))) == LeaderAndIsr(1, 4, (1, 2, 3), 1, zk_version=2)


async def test_leader_that_was_replaced_finds_the_other_state_and_overwrites_nothing(store, writes, led):
    elected, _ = await writes.write_states({T0: led.next(2, (2, 3), 1)})
    assert await store.write_isr(T0, led.with_isr((1,))) == elected[T0]
    assert await store.state(T0) == elected[T0]


async def test_isr_write_whose_answer_was_lost_is_taken_as_done(store, led, monkeypatch):
    write, answers_lost = store.session.set, []

    async def lose_the_first_answer(path, data, version):
        done = await write(path, data, version)
        if not answers_lost:
            answers_lost.append(path)
            raise ConnectionInterrupted(path)
        return done

    monkeypatch.setattr(store.session, "set", lose_the_first_answer)
    assert await store.write_isr(T0, led.with_isr((1, 2))) == LeaderAndIsr(1, 4, (1, 2), 1, zk_version=1)
    assert answers_lost


async def test_isr_write_waits_until_zookeeper_is_back(zookeeper, new_session, store, led):
    async with SeverableProxy(zookeeper.port) as proxy:
        session = await new_session(port=proxy.port)
        proxy.cut()
        writing = asyncio.ensure_future(notifications.write_isr(session, T0, led.with_isr((1,))))
        await eventually(lambda: session.state is not SessionState.CONNECTED, "interrupted")
        assert not writing.done()
        proxy.mend()
        await eventually(writing.done, "written")
        assert (await writing).isr == (1,)


async def test_isr_of_a_deleted_topic_is_not_written(store):
    assert await store.write_isr(T0, LeaderAndIsr(1, 0, (1,), 1, 0)) is None


async def test_announcement_is_kafkas_json_under_a_number(store):
    await store.announce_isr_changes([T0, TopicPartition("u", 7)])
    assert await store.isr_changes() == ["isr_change_0000000000"]
    znode = await store.session.get(f"{ISR_CHANGES}/isr_change_0000000000")
    assert znode.data == b'{"version":1,"partitions":[{"topic":"t","partition":0},{"topic":"u","partition":7}]}'


async def test_very_many_changes_are_announced_in_parts(store):
    partitions = {TopicPartition("t" * 249, index) for index in range(4_500)}
    await store.announce_isr_changes(sorted(partitions))
    names = await store.isr_changes()
    assert len(names) == 6
    assert await notifications.read_isr_changes(store.session, names) == partitions


async def test_announcements_that_are_gone_or_garbled_name_nothing(store):
    await store.announce_isr_changes([T0])
    await store.session.create(f"{ISR_CHANGES}/isr_change_9", b"garbage")
    await store.session.create(f"{ISR_CHANGES}/isr_change_8", b'{"version":1,"partitions":[{"topic":"t"}]}')
    names = [*await store.isr_changes(), "isr_change_7"]
    assert await notifications.read_isr_changes(store.session, names) == {T0}


async def test_log_directory_failure_is_kafkas_json(store):
    await store.announce_log_dir_failure(3)
    [name] = await store.log_dir_events()
    assert name == "log_dir_event_0000000000"
    data = (await store.session.get(f"/log_dir_event_notification/{name}")).data
    assert data == b'{"version":1,"broker":3,"event":1}'
    assert await notifications.read_log_dir_events(store.session, [name]) == {3}


async def test_announcements_are_removed_whether_or_not_some_are_gone(store, writes):
    for _ in range(3):
        await store.announce_isr_changes([T0])
    names = await store.isr_changes()
    await store.session.delete(f"{ISR_CHANGES}/{names[1]}")
    await writes.remove_notifications(ISR_CHANGES, names)
    assert await store.isr_changes() == []


async def test_only_the_controller_of_this_term_removes_announcements(store, writes):
    await store.announce_isr_changes([T0])
    await store.session.set("/controller_epoch", b"2")
    with pytest.raises(ControllerMoved):
        await writes.remove_notifications(ISR_CHANGES, await store.isr_changes())
    assert len(await store.isr_changes()) == 1

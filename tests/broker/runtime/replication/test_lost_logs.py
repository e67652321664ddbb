"""A broker that came back with less than it had: what it leaves standing in ZooKeeper, which is played."""

from types import SimpleNamespace
from uuid import UUID

import pytest

from broker.common.cluster import LeaderAndIsr, TopicAssignment
from broker.common.types import TopicPartition
from broker.runtime.replication.lost_logs import LostLogs

ME, OTHER = 1, 2
TOPIC = UUID(int=7)
LED, FOLLOWED, ALONE, NOT_IN_SYNC, KEPT, ELSEWHERE = (TopicPartition("t", index) for index in range(6))


class Store:
    """Partition states; `meddle` may write between a reading and the write that goes by it."""

    def __init__(self, states: dict[TopicPartition, LeaderAndIsr]):
        self.states = states
        self.meddle = {}

    async def topic_names(self) -> list[str]:
        return ["t"]

    async def topics(self, _names) -> list[TopicAssignment]:
        replicas = {one.partition: (ME, OTHER) for one in self.states} | {ELSEWHERE.partition: (OTHER,)}
        return [TopicAssignment("t", TOPIC, replicas)]

    async def state(self, partition) -> LeaderAndIsr | None:
        return self.states.get(partition)

    async def write_isr(self, partition, wanted) -> LeaderAndIsr | None:
        if partition in self.meddle:
            self.states[partition] = self.meddle.pop(partition)
        standing = self.states[partition]
        if standing.zk_version == wanted.zk_version:
            self.states[partition] = wanted.at_version(wanted.zk_version + 1)
        return self.states[partition]


class Logs:
    may_lack_records = True
    is_dealt_with = False

    def has_whole(self, partition, topic_id) -> bool:
        return partition == KEPT and topic_id == TOPIC

    def note_machine_start(self) -> None:
        self.is_dealt_with = True


@pytest.fixture
def world():
    states = {
        LED: LeaderAndIsr(ME, 5, (ME, OTHER), 1, 3),
        FOLLOWED: LeaderAndIsr(OTHER, 5, (OTHER, ME), 1, 3),
        ALONE: LeaderAndIsr(ME, 5, (ME,), 1, 3),
        NOT_IN_SYNC: LeaderAndIsr(OTHER, 5, (OTHER,), 1, 3),
        KEPT: LeaderAndIsr(ME, 5, (ME, OTHER), 1, 3),
        ELSEWHERE: LeaderAndIsr(OTHER, 5, (OTHER,), 1, 3),
    }
    store, logs = Store(dict(states)), Logs()
    return SimpleNamespace(store=store, logs=logs, before=states, lost_logs=LostLogs(store, ME, logs))


async def test_trap_11_broker_that_may_lack_records_is_in_no_isr_that_has_another_member(world):
    await world.lost_logs.leave_isrs(await world.store.topics([]))
    assert world.store.states[LED] == LeaderAndIsr(-1, 6, (OTHER,), 1, 4)
    assert world.store.states[FOLLOWED] == LeaderAndIsr(OTHER, 6, (OTHER,), 1, 4)
    assert world.store.states[ALONE] == LeaderAndIsr(-1, 6, (ME,), 1, 4)
    assert world.logs.is_dealt_with


async def test_trap_11_leader_about_to_count_its_earlier_life_in_finds_another_version(world):
    await world.lost_logs.leave_isrs(await world.store.topics([]))
    assert world.store.states[NOT_IN_SYNC] == world.before[NOT_IN_SYNC].at_version(4)


async def test_states_of_whole_logs_and_of_others_are_left_alone(world):
    await world.lost_logs.leave_isrs(await world.store.topics([]))
    assert [world.store.states[one] for one in (KEPT, ELSEWHERE)] == [world.before[one] for one in (KEPT, ELSEWHERE)]


async def test_state_that_somebody_writes_meanwhile_is_read_again(world):
    world.store.meddle[NOT_IN_SYNC] = LeaderAndIsr(OTHER, 5, (OTHER, ME), 1, 4)
    await world.lost_logs.leave_isrs(await world.store.topics([]))
    assert world.store.states[NOT_IN_SYNC] == LeaderAndIsr(OTHER, 6, (OTHER,), 1, 5)


async def test_topic_that_is_deleted_meanwhile_is_none_of_its_concern(world):
    world.store.write_isr = _gone
    await world.lost_logs.leave_isrs(await world.store.topics([]))
    assert world.logs.is_dealt_with


async def _gone(_partition, _wanted) -> None:
    return None

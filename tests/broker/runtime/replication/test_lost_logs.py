"""A broker that came back with less than it had: what it leaves standing in ZooKeeper, which is played."""

from dataclasses import replace
from types import SimpleNamespace
from uuid import UUID

import pytest

from broker.common.cluster import NO_LOG, LeaderAndIsr, LogLoss, TopicAssignment
from broker.common.types import TopicPartition
from broker.runtime.replication.lost_logs import LostLogs

ME, OTHER = 1, 2
NOTHING = LogLoss(ME, -1, NO_LOG)
TOPIC = UUID(int=7)
LED, FOLLOWED, ALONE, NOT_IN_SYNC, KEPT, ELSEWHERE = (TopicPartition("t", index) for index in range(6))


class Store:
    """Partition states; `meddle` may write between a reading and the write that goes by it."""

    def __init__(self, states: dict[TopicPartition, LeaderAndIsr]):
        self.states = states
        self.meddle = {}
        self.registered = {OTHER}

    async def topic_names(self) -> list[str]:
        return ["t"]

    async def topics(self, _names) -> list[TopicAssignment]:
        replicas = {one.partition: (ME, OTHER) for one in self.states} | {ELSEWHERE.partition: (OTHER,)}
        return [TopicAssignment("t", TOPIC, replicas)]

    async def state(self, partition) -> LeaderAndIsr | None:
        return self.states.get(partition)

    async def registered_epoch(self, broker_id) -> int | None:
        return 7 if broker_id in self.registered else None

    async def write_isr(self, partition, wanted) -> LeaderAndIsr | None:
        if partition in self.meddle:
            self.states[partition] = self.meddle.pop(partition)
        standing = self.states[partition]
        if standing.zk_version == wanted.zk_version:
            self.states[partition] = wanted.at_version(wanted.zk_version + 1)
        return self.states[partition]


class Logs:
    """`ends` are of the logs that are here; what is not in it is missing."""

    may_lack_records = True
    is_dealt_with = False

    def __init__(self):
        self.ends = {}
        self.withheld = set()
        self.restored = set()
        self.records_aside = {}
        self.is_directory_offline = False

    def get(self, partition) -> SimpleNamespace | None:
        end = self.ends.get(partition)
        return end and SimpleNamespace(log_end_offset=end, leader_epochs=SimpleNamespace(latest_epoch=4))

    def is_out_of_reach(self, _partition) -> bool:
        return self.is_directory_offline

    def has_whole(self, partition, topic_id) -> bool:
        return partition == KEPT and topic_id == TOPIC

    def find_records_aside(self, topic_ids) -> None:
        """`records_aside` is given."""

    def recovery_advice(self, _partition) -> str:
        return "restore it"

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
    await world.lost_logs.leave_isrs(await world.store.topics([]), {})
    assert world.store.states[LED] == LeaderAndIsr(-1, 6, (OTHER,), 1, 4, log_losses=(NOTHING,))
    assert world.store.states[FOLLOWED] == LeaderAndIsr(OTHER, 6, (OTHER,), 1, 4)
    assert world.store.states[ALONE] == LeaderAndIsr(-1, 6, (ME,), 1, 4, log_losses=(NOTHING,))
    assert world.logs.is_dealt_with


async def test_the_last_of_the_isr_makes_no_log_in_the_place_of_one_that_is_missing(world):
    await world.lost_logs.leave_isrs(await world.store.topics([]), {})
    assert world.logs.withheld == {ALONE}


async def test_the_last_of_the_isr_leads_with_what_is_left_of_its_log(world):
    world.logs.ends[ALONE] = 90
    await world.lost_logs.leave_isrs(await world.store.topics([]), {})
    assert world.store.states[ALONE] == LeaderAndIsr(-1, 6, (ME,), 1, 4, log_losses=(LogLoss(ME, 4, 90),))
    assert world.logs.withheld == set()


async def test_the_last_of_the_isr_makes_a_log_when_no_replica_has_one(world):
    noted = LogLoss(OTHER, -1, NO_LOG)
    world.store.states[ALONE] = replace(world.store.states[ALONE], log_losses=(noted,))
    await world.lost_logs.leave_isrs(await world.store.topics([]), {})
    assert world.store.states[ALONE].log_losses == (NOTHING, noted)
    assert world.logs.withheld == set()


async def test_a_log_in_an_offline_directory_is_not_reported_as_missing(world):
    world.logs.is_directory_offline = True
    await world.lost_logs.leave_isrs(await world.store.topics([]), {})
    assert world.store.states[ALONE] == LeaderAndIsr(-1, 6, (ME,), 1, 4)
    assert world.logs.withheld == set()


async def test_a_loss_is_noted_for_the_next_election_only_if_the_leader_is_not_registered(world):
    await world.lost_logs.leave_isrs(await world.store.topics([]), {})
    assert world.store.states[LED].log_losses == (NOTHING,)
    assert world.store.states[FOLLOWED].log_losses == ()
    world.store.states[FOLLOWED] = world.before[FOLLOWED]
    world.store.registered.clear()
    await world.lost_logs.leave_isrs(await world.store.topics([]), {})
    assert world.store.states[FOLLOWED].log_losses == (NOTHING,)


async def test_trap_11_leader_about_to_count_its_earlier_life_in_finds_another_version(world):
    await world.lost_logs.leave_isrs(await world.store.topics([]), {})
    assert world.store.states[NOT_IN_SYNC] == world.before[NOT_IN_SYNC].at_version(4)


async def test_states_of_whole_logs_and_of_others_are_left_alone(world):
    await world.lost_logs.leave_isrs(await world.store.topics([]), {})
    assert [world.store.states[one] for one in (KEPT, ELSEWHERE)] == [world.before[one] for one in (KEPT, ELSEWHERE)]


async def test_state_that_somebody_writes_meanwhile_is_read_again(world):
    world.store.meddle[NOT_IN_SYNC] = LeaderAndIsr(OTHER, 5, (OTHER, ME), 1, 4)
    await world.lost_logs.leave_isrs(await world.store.topics([]), {})
    assert world.store.states[NOT_IN_SYNC] == LeaderAndIsr(OTHER, 6, (OTHER,), 1, 5)


async def test_topic_that_is_deleted_meanwhile_is_none_of_its_concern(world):
    world.store.write_isr = _gone
    await world.lost_logs.leave_isrs(await world.store.topics([]), {})
    assert world.logs.is_dealt_with


async def _gone(_partition, _wanted) -> None:
    return None

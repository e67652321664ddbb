"""Taking over and giving up an offsets partition, whatever is found in it."""

import asyncio
from dataclasses import replace
from uuid import UUID

import pytest
from structlog.testing import capture_logs

from broker.common.errors import ApiError, ErrorCode, InvariantViolation
from broker.common.types import TopicIdPartition, TopicPartition
from broker.coordinator.group.config import GroupConfig
from broker.coordinator.group.coordinator import GroupCoordinator
from broker.coordinator.outcome import CoordinatorOutcome
from broker.log.config import LogConfig
from broker.log.log import Log
from broker.protocol.messages.leader_and_isr import (
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrTopicState,
)
from broker.records.batch import iterate_headers
from broker.records.control import MarkerType
from broker.runtime.coordinators import loading
from broker.runtime.coordinators.group_coordinators import forget_partitions
from broker.runtime.coordinators.shard import Shard
from broker.runtime.replication.role_changes import StoppedPartition, stop_replicas
from broker.runtime.topics.internal_topics import OFFSETS_TOPIC
from tests.broker.runtime.applied_roles import apply_leader_and_isr
from tests.broker.runtime.coordinators.world import CLIENT, PRODUCER_ID, TOPIC_ID, World
from tests.eventually import eventually
from tests.manual_clock import ManualClock


@pytest.fixture
async def world(tmp_path):
    world = World(tmp_path / "logs")
    yield world
    world.coordinators.stop()
    world.logs.shutdown()


async def test_offsets_are_there_after_the_partition_was_away(world):
    world.lead()
    world.commit(5)
    await world.reload()
    assert world.committed() == 5


async def test_offsets_of_partitions_that_are_deleted_while_no_coordinator_is_loaded_go_when_one_is(world):
    world.lead()
    world.topic_ids["t"] = UUID(int=1)
    world.commit(5)
    world.lead(leader=2, leader_epoch=1)
    deleted = [TopicIdPartition(TopicPartition("t", 0), UUID(int=1))]
    del world.topic_ids["t"]
    forget_partitions(world.coordinators, world.deleted, world.clock, deleted)
    world.lead(leader_epoch=2)
    await eventually(lambda: world.coordinators.loaded_partitions() == [0], "it is loaded")
    await eventually(lambda: world.committed() == -1, "the offset is gone")


async def test_being_told_again_changes_nothing(world):
    world.lead(leader_epoch=3)
    shard = world.coordinators.shard(0)
    world.lead(leader_epoch=3)
    world.lead(leader_epoch=4)
    assert world.coordinators.shard(0) is shard


async def test_after_a_lost_session_nobody_is_answered_until_roles_are_told_anew(world):
    world.lead()
    world.commit(5)
    world.replicas.lost_epoch = world.replicas.told_epoch = 7
    with pytest.raises(ApiError) as refused:
        world.committed()
    assert refused.value.code is ErrorCode.NOT_COORDINATOR
    world.replicas.told_epoch = 8
    assert world.committed() == 5


async def test_what_a_broker_tells_its_own_coordinators_is_heard_after_a_lost_session_too(world):
    world.lead()
    world.commit(5)
    world.replicas.lost_epoch = world.replicas.told_epoch = 7
    heard = []
    world.coordinators.tell(0, lambda coordinator, now_ms: heard.append(coordinator) or CoordinatorOutcome())
    assert heard == [world.coordinators.shard(0).coordinator]


async def test_trap_24_requests_are_put_off_while_the_partition_is_loaded(world):
    world.lead()
    world.commit(5)
    world.lead(leader=2, leader_epoch=1)
    with pytest.raises(ApiError) as refused:
        world.committed()
    assert refused.value.code is ErrorCode.NOT_COORDINATOR
    world.lead(leader_epoch=2)
    with pytest.raises(ApiError) as refused:
        world.committed()
    assert refused.value.code is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS


async def test_trap_24_the_load_of_an_earlier_leadership_ends_with_it(world):
    world.lead()
    world.commit(5)
    world.lead(leader=2, leader_epoch=1)
    world.lead(leader_epoch=2)
    first = world.coordinators._shards[0]
    await world.reload(leader_epoch=4)
    assert first.loading.cancelled()
    assert not first.is_loaded
    assert world.committed() == 5


@pytest.mark.parametrize("key", [None, b"", b"x", b"\x00\x63garbage", b"\x00\x01\x00\x05ab", b"\x00\x02\xff\xff"])
async def test_a_record_that_is_none_of_ours_is_passed_over(world, key):
    world.lead()
    world.commit(5)
    world.write(key, b"\x00")
    world.commit(6)
    await world.reload()
    assert world.committed() == 6


async def test_a_load_that_fails_is_tried_again_until_it_works(world, monkeypatch):
    monkeypatch.setattr(loading, "_AGAIN_FIRST_S", 0.001)
    world.lead()
    world.commit(5)
    read, failures = Log.read, iter([ApiError(ErrorCode.KAFKA_STORAGE_ERROR), RuntimeError("too many open files")])
    refused = []

    def fail_twice(*arguments, **named):
        error = next(failures, None)
        if error is None:
            refused.extend(world.coordinators.not_loaded)
            with pytest.raises(ApiError) as loading_still:
                world.coordinators.shard(0)
            assert loading_still.value.code is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
            return read(*arguments, **named)
        raise error

    with monkeypatch.context() as broken, capture_logs() as lines:
        broken.setattr(Log, "read", fail_twice)
        await world.reload()
    assert [line["event"] for line in lines if line["log_level"] == "error"] == ["coordinator is not loaded yet"] * 2
    assert refused == [0]
    assert world.coordinators.not_loaded == set()
    assert world.committed() == 5


async def test_a_load_that_fails_ends_with_the_leadership(world, monkeypatch):
    world.lead()
    world.commit(5)

    def fail(*_arguments, **_named):
        raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR)

    with monkeypatch.context() as broken:
        broken.setattr(Log, "read", fail)
        world.lead(leader=2, leader_epoch=1)
        world.lead(leader_epoch=2)
        await eventually(lambda: world.coordinators.not_loaded, "the load has failed")
        load = world.coordinators._shards[0].loading
        world.lead(leader=2, leader_epoch=3)
        await asyncio.wait([load])
    assert load.cancelled()
    assert world.coordinators.not_loaded == set()
    await world.reload(leader_epoch=5)
    assert world.committed() == 5


async def test_a_partition_that_cannot_be_understood_is_not_coordinated(world, monkeypatch):
    world.lead()
    world.commit(5)

    def fail(*_arguments, **_named):
        raise InvariantViolation("no record of ours")

    with monkeypatch.context() as broken, capture_logs() as lines:
        broken.setattr(Log, "read", fail)
        await world.reload()
    assert [line["log_level"] for line in lines if "loaded" in line["event"]] == ["error"]
    assert world.coordinators.not_loaded == {0}
    with pytest.raises(ApiError) as refused:
        world.committed()
    assert refused.value.code is ErrorCode.NOT_COORDINATOR
    await world.reload(leader_epoch=4)
    assert world.coordinators.not_loaded == set()
    assert world.committed() == 5


async def test_a_hosted_partition_comes_back_after_it_was_stopped(world):
    world.lead()
    world.commit(5)
    partition = world.replicas.get(OFFSETS_TOPIC, 0).partition.topic_partition
    world.replicas.stop_replica(partition, delete=False)
    world.lead()
    await eventually(lambda: not world.coordinators.is_loading, "the partition is loaded")
    assert world.committed() == 5
    deletion = StoppedPartition(partition, is_deletion=True, leader_epoch=-1)
    await stop_replicas(world.replicas, [deletion])
    await stop_replicas(world.replicas, [deletion])
    world.lead()
    assert world.committed() == -1
    await world.replicas.logs.purged()


async def test_records_name_the_clients_that_they_are_counted_for_when_the_partition_comes_back(tmp_path):
    world = World(tmp_path / "logs", clock=ManualClock())
    world.lead()
    join = world.send_join(group_id="members")
    world.advance(3_000)
    world.send_sync((await join).member_id, group_id="members")
    world.commit(5)
    world.commit_in_transaction(6)
    held = {name: (budget.held, budget.held_by(CLIENT.owner)) for name, budget in world.memory.budgets()}
    assert held["members"][0] == held["members"][1] > 0
    assert held["simple offsets"][0] == held["simple offsets"][1] > 0
    await world.reload()
    assert {name: (budget.held, budget.held_by(CLIENT.owner)) for name, budget in world.memory.budgets()} == held
    world.coordinators.stop()
    world.logs.shutdown()


async def test_records_name_no_clients_where_a_batch_would_be_too_large_by_that_alone(tmp_path):
    world = World(tmp_path / "logs", clock=ManualClock())
    world.lead()
    for write in (write_offsets, write_generation):
        before = world.hosted.log.size_bytes
        await write(world, "first")
        too_large = world.hosted.log.size_bytes - before - 1
        world.hosted.log.config = replace(world.hosted.log.config, max_message_bytes=too_large)
        await write(world, "other")
        world.hosted.log.config = LogConfig()
    held = {name: (budget.held, budget.held_by(CLIENT.owner)) for name, budget in world.memory.budgets()}
    assert held["members"][0] == held["members"][1] > 0
    assert held["simple offsets"][0] == held["simple offsets"][1] > 0
    await world.reload()
    for name, budget in world.memory.budgets():
        assert budget.held == held[name][0]
        assert 2 * budget.held_by(CLIENT.owner) == held[name][1], "the first half names its client"
    world.coordinators.stop()
    world.logs.shutdown()


async def write_offsets(world: World, group_id: str) -> None:
    (topic,) = world.send_commit(5, group_id, range(10)).topics
    assert {partition.error_code for partition in topic.partitions} == {ErrorCode.NONE}


async def write_generation(world: World, group_id: str) -> None:
    join = world.send_join(group_id=f"{group_id} members")
    world.advance(3_000)
    synced = world.send_sync((await join).member_id, group_id=f"{group_id} members")
    assert synced.error_code == ErrorCode.NONE


async def test_offsets_of_a_transaction_are_written_as_kafka_does_and_count_from_its_marker_on(world):
    world.lead()
    assert world.commit_in_transaction(5) == ErrorCode.NONE
    assert world.commit_in_transaction(6) == ErrorCode.NONE  # no repetition: there are no sequence numbers
    log = world.replicas.get(OFFSETS_TOPIC, 0).log
    headers = [header for _, header in iterate_headers(memoryview(log.read(0, 10_000, 2).read()))]
    assert [(h.producer_id, h.producer_epoch, h.base_sequence, h.is_transactional) for h in headers] == [
        (PRODUCER_ID, 0, -1, True)
    ] * 2
    assert log.last_stable_offset(2) == 0
    assert world.committed() == -1
    world.end_transaction(MarkerType.COMMIT)
    assert world.committed() == 6
    assert log.last_stable_offset(3) == 3


@pytest.mark.parametrize(("marker_type", "offset"), [(MarkerType.COMMIT, 6), (MarkerType.ABORT, 5)])
async def test_pending_offsets_and_markers_are_found_when_the_partition_comes_back(world, marker_type, offset):
    world.lead()
    world.commit(5)
    world.commit_in_transaction(6)
    await world.reload()
    assert world.committed() == 5
    world.end_transaction(marker_type)
    assert world.committed() == offset
    await world.reload(leader_epoch=4)
    assert world.committed() == offset


async def test_marker_written_while_the_partition_is_loaded_is_not_missed(world):
    world.lead()
    world.commit_in_transaction(6)
    world.lead(leader=2, leader_epoch=1)
    world.lead(leader_epoch=2)
    world.end_transaction(MarkerType.COMMIT)
    await eventually(lambda: not world.coordinators.is_loading, "the partition is loaded")
    assert world.committed() == 6


async def test_offsets_of_a_replaced_producer_are_refused(world):
    world.lead()
    world.commit_in_transaction(5, producer_epoch=1)
    assert world.commit_in_transaction(6, producer_epoch=0) == ErrorCode.INVALID_PRODUCER_EPOCH


async def test_trap_24_commit_is_answered_when_all_in_sync_replicas_hold_it(world):
    world.lead(followers=(2,))
    answer = asyncio.ensure_future(world.send_commit(5))
    await asyncio.sleep(0)
    assert not answer.done()
    world.replicas.follower_holds(world.replicas.get(OFFSETS_TOPIC, 0), 2, 1, broker_epoch=20)
    assert (await answer).topics[0].partitions[0].error_code == ErrorCode.NONE


async def test_trap_24_commit_of_a_leader_that_is_replaced_is_answered_not_coordinator(world):
    world.lead(followers=(2,))
    answer = asyncio.ensure_future(world.send_commit(5))
    await asyncio.sleep(0)
    world.lead(leader=2, leader_epoch=1)
    assert (await answer).topics[0].partitions[0].error_code == ErrorCode.NOT_COORDINATOR


async def test_trap_30_marker_that_is_not_committed_shows_nobody_the_offset(world):
    world.lead(followers=(2,))
    answer = asyncio.ensure_future(world.send_commit_in_transaction(6))
    world.replicate(2)
    await answer
    world.end_transaction(MarkerType.COMMIT)
    assert world.committed() == -1
    unstable = world.send_fetch(require_stable=True)
    assert unstable.topics[0].partitions[0].error_code == ErrorCode.UNSTABLE_OFFSET_COMMIT
    world.replicate(2)
    assert world.committed() == 6


async def test_load_leaves_the_loop_to_others_every_few_hundred_records(world, monkeypatch):
    world.lead()
    for offset in range(2_000):
        world.commit(offset)
    replayed_in_turn = [0]
    replay = GroupCoordinator.replay

    def counting(*arguments) -> None:
        replayed_in_turn[-1] += 1
        replay(*arguments)

    monkeypatch.setattr(GroupCoordinator, "replay", counting)
    world.lead(leader=2, leader_epoch=1)
    world.lead(leader_epoch=2)
    while world.coordinators.is_loading:
        await asyncio.sleep(0)
        replayed_in_turn.append(0)
    assert world.committed() == 1_999
    assert sum(replayed_in_turn) == 2_000
    assert max(replayed_in_turn) <= 500


async def test_offsets_expire_whatever_other_groups_are_called(tmp_path):
    """What a tick writes is one batch, and all that is due would wait for ever for one that the log refuses."""
    world = World(tmp_path, GroupConfig(offsets_retention_minutes=0, offsets_retention_check_interval_ms=1))
    world.lead()
    for first in range(0, 400, 10):
        assert not world.send_commit(5, "€" * 1_000, range(first, first + 10)).topics[0].partitions[0].error_code
    world.commit(5)
    await eventually(lambda: world.committed() == -1, "the offset of the other group has expired")
    world.coordinators.stop()
    world.logs.shutdown()


def with_many_offsets(world) -> None:
    """More offsets than there is room for the tombstones of in one batch."""
    world.lead()
    for first in range(0, 100, 10):
        world.send_commit(5, partitions=range(first, first + 10))
    world.hosted.log.config = replace(world.hosted.log.config, max_message_bytes=1_000)


async def test_group_whose_tombstones_exceed_a_batch_is_deleted(world):
    with_many_offsets(world)
    assert world.delete_group() is ErrorCode.NONE
    for _ in range(2):
        assert world.delete_group() is ErrorCode.GROUP_ID_NOT_FOUND
        assert world.offsets_count() == 0
        await world.reload()


@pytest.mark.parametrize("is_away_meanwhile", [False, True])
async def test_group_that_was_deleted_in_part_can_be_deleted_again(world, monkeypatch, is_away_meanwhile):
    with_many_offsets(world)
    append, appended = world.replicas.append_checked, []

    def append_two(*arguments):
        if len(appended) == 2:
            raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR)
        appended.append(append(*arguments))
        return appended[-1]

    with monkeypatch.context() as full:
        full.setattr(world.replicas, "append_checked", append_two)
        assert world.delete_group() is not ErrorCode.NONE
    if is_away_meanwhile:
        await world.reload()
    assert 0 < world.offsets_count() < 100
    assert world.delete_group() is ErrorCode.NONE
    assert (world.delete_group(), world.offsets_count()) == (ErrorCode.GROUP_ID_NOT_FOUND, 0)


async def test_loads_of_many_partitions_take_turns(world, monkeypatch):
    """Fifty partitions that are led at once would each have a slice of every pass of the loop."""
    monkeypatch.setattr(loading, "_RECORDS_PER_SLICE", 1)
    world.lead()
    for offset in range(1, 6):
        world.commit(offset)
    taken = []
    turns = world.coordinators._loading_turns
    mine = type(turns).mine
    monkeypatch.setattr(type(turns), "mine", lambda turn: (taken.append(turn), mine(turn))[1])
    await world.reload()
    assert world.committed() == 5
    assert len(taken) >= 5
    assert {id(item) for item in taken} == {id(turns)}


async def test_of_many_partitions_with_something_due_one_has_its_turn_at_a_time(world, monkeypatch):
    both = [
        LeaderAndIsrPartitionState(partition_index=index, leader=1, leader_epoch=0, isr=[1], replicas=[1])
        for index in (0, 1)
    ]
    topic = LeaderAndIsrTopicState(topic_name=OFFSETS_TOPIC, topic_id=TOPIC_ID, partition_states=both)
    apply_leader_and_isr(world.replicas, LeaderAndIsrRequest(topic_states=[topic]))
    due, ticked = {0: 5, 1: 3}, []
    monkeypatch.setattr(Shard, "next_timer_ms", lambda shard: due.get(shard.partition))
    monkeypatch.setattr(Shard, "next_deadline_ms", lambda shard: due.get(shard.partition))

    def tick(shard, now_ms):
        ticked.append(shard.partition)
        del due[shard.partition]

    monkeypatch.setattr(world.coordinators, "_tick_shard", tick)
    world.coordinators._tick()
    assert ticked == [1], "who waits for longest"
    await eventually(lambda: ticked == [1, 0], "the other's turn")

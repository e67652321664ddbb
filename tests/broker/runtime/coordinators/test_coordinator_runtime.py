"""Taking over and giving up an offsets partition, whatever is found in it."""

import asyncio
from uuid import UUID

import pytest
from structlog.testing import capture_logs

from broker.common.clock import SystemClock
from broker.common.errors import ApiError, ErrorCode
from broker.common.types import TopicPartition
from broker.coordinator.group.config import GroupConfig
from broker.coordinator.group.coordinator import GroupCoordinator
from broker.log.config import LogConfig
from broker.log.log import Log
from broker.log.manager import LogManager
from broker.protocol.messages.leader_and_isr import (
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrTopicState,
)
from broker.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from broker.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestTopic
from broker.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from broker.records.batch import iterate_headers
from broker.records.builder import build_batch
from broker.records.control import EndMarker, MarkerType
from broker.records.record import Record
from broker.runtime.coordinators.group_coordinators import group_coordinators
from broker.runtime.purgatory import Purgatory
from broker.runtime.replication.replica_manager import ReplicaManager
from broker.runtime.topics.internal_topics import OFFSETS_TOPIC
from tests.eventually import eventually

TOPIC_ID = UUID(int=9)
PRODUCER_ID = 7


class World:
    def __init__(self, directory, config: GroupConfig = GroupConfig()):
        clock = SystemClock()
        self.logs = LogManager([directory], LogConfig(), 1, "cluster")
        self.logs.load_all()
        self.replicas = ReplicaManager(1, self.logs, Purgatory(clock), clock)
        self.coordinators = group_coordinators(self.replicas, config, clock)

    def lead(self, leader: int = 1, leader_epoch: int = 0, followers: tuple[int, ...] = ()) -> None:
        replicas = [leader, *followers]
        state = LeaderAndIsrPartitionState(leader=leader, leader_epoch=leader_epoch, isr=replicas, replicas=replicas)
        topic = LeaderAndIsrTopicState(topic_name=OFFSETS_TOPIC, topic_id=TOPIC_ID, partition_states=[state])
        self.replicas.apply_leader_and_isr(LeaderAndIsrRequest(topic_states=[topic]))

    def write(self, key: bytes | None, value: bytes | None = b"") -> None:
        batch = build_batch([Record(0, 1_700_000_000_000, key, value)])
        self.replicas.append_checked(self.replicas.get(OFFSETS_TOPIC, 0), batch)

    def commit(self, offset: int) -> None:
        answer = self.send_commit(offset)
        assert answer.topics[0].partitions[0].error_code == ErrorCode.NONE

    def send_commit(self, offset: int, group_id: str = "g", partitions: range = range(1)):
        named = [OffsetCommitRequestPartition(partition_index=each, committed_offset=offset) for each in partitions]
        topic = OffsetCommitRequestTopic(name="t", partitions=named)
        request = OffsetCommitRequest(group_id=group_id, topics=[topic], generation_id_or_member_epoch=-1)
        return self.coordinators.submit(0, lambda shard, token, now: shard.offset_commit(request, token, now))

    def committed(self) -> int:
        return self.send_fetch().topics[0].partitions[0].committed_offset

    def send_fetch(self):
        topic = OffsetFetchRequestTopic(name="t", partition_indexes=[0])
        request = OffsetFetchRequest(group_id="g", topics=[topic])
        return self.coordinators.submit(0, lambda shard, token, now: shard.offset_fetch(request, 5, token, now))

    def commit_in_transaction(self, offset: int, producer_epoch: int = 0) -> ErrorCode:
        return self.send_commit_in_transaction(offset, producer_epoch).topics[0].partitions[0].error_code

    def send_commit_in_transaction(self, offset: int, producer_epoch: int = 0):
        partition = TxnOffsetCommitRequestPartition(partition_index=0, committed_offset=offset)
        request = TxnOffsetCommitRequest(
            transactional_id="x",
            group_id="g",
            producer_id=PRODUCER_ID,
            producer_epoch=producer_epoch,
            member_id="",
            topics=[TxnOffsetCommitRequestTopic(name="t", partitions=[partition])],
        )
        return self.coordinators.submit(0, lambda shard, token, now: shard.txn_offset_commit(request, token, now))

    def end_transaction(self, marker_type: MarkerType) -> None:
        """As WriteTxnMarkers does."""
        marker = EndMarker(marker_type, coordinator_epoch=0)
        self.replicas.append_marker(TopicPartition(OFFSETS_TOPIC, 0), marker, PRODUCER_ID, 0)

    async def reload(self, leader_epoch: int = 2) -> None:
        """As if another broker had led the partition in between."""
        self.lead(leader=2, leader_epoch=leader_epoch - 1)
        self.lead(leader_epoch=leader_epoch)
        await eventually(lambda: not self.coordinators.is_loading, "the partition is loaded")


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


async def test_being_told_again_changes_nothing(world):
    world.lead(leader_epoch=3)
    shard = world.coordinators.shard(0)
    world.lead(leader_epoch=3)
    world.lead(leader_epoch=4)
    assert world.coordinators.shard(0) is shard


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


async def test_a_partition_that_cannot_be_read_is_not_coordinated(world, monkeypatch):
    world.lead()
    world.commit(5)

    def fail(*_arguments, **_named):
        raise ApiError(ErrorCode.CORRUPT_MESSAGE)

    with monkeypatch.context() as broken, capture_logs() as lines:
        broken.setattr(Log, "read", fail)
        await world.reload()
    assert [line["event"] for line in lines if line["log_level"] == "error"] == ["coordinator cannot be loaded"]
    with pytest.raises(ApiError) as refused:
        world.committed()
    assert refused.value.code is ErrorCode.NOT_COORDINATOR
    await world.reload(leader_epoch=4)
    assert world.committed() == 5


async def test_a_hosted_partition_comes_back_after_it_was_stopped(world):
    world.lead()
    world.commit(5)
    partition = world.replicas.get(OFFSETS_TOPIC, 0).partition.topic_partition
    world.replicas.stop_replica(partition, delete=False)
    world.lead()
    await eventually(lambda: not world.coordinators.is_loading, "the partition is loaded")
    assert world.committed() == 5
    world.replicas.stop_replica(partition, delete=True)
    world.replicas.stop_replica(partition, delete=True)
    world.lead()
    assert world.committed() == -1
    await world.replicas.logs.purged()


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
    hosted = world.replicas.get(OFFSETS_TOPIC, 0)
    world.replicas.follower_holds(hosted, 2, 1, broker_epoch=20)
    await answer
    world.end_transaction(MarkerType.COMMIT)
    fetched = asyncio.ensure_future(world.send_fetch())
    await asyncio.sleep(0)
    assert not fetched.done()
    world.replicas.follower_holds(hosted, 2, 2, broker_epoch=20)
    assert (await fetched).topics[0].partitions[0].committed_offset == 6


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

"""DeleteRecords is answered when no live replica has the records any more; two brokers' rooms, the test is the wire."""

import asyncio
from itertools import count
from types import SimpleNamespace
from uuid import UUID

import pytest

from broker.common.errors import ApiError, ErrorCode
from broker.common.types import TopicPartition
from broker.log.config import LogConfig
from broker.log.manager import LogManager
from broker.protocol.codec import decode, encode
from broker.protocol.messages.fetch import FetchRequest, FetchResponse
from broker.protocol.messages.leader_and_isr import (
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrTopicState,
)
from broker.records.builder import build_batch
from broker.records.record import Record
from broker.replication.leader_link import FollowerPosition, LeaderLink
from broker.replication.throttle import ReplicationThrottle
from broker.runtime.delayed_fetches import DelayedFetches
from broker.runtime.replication.fetch_requests import FETCH_VERSION, FetchSettings, fetch_request
from broker.runtime.replication.follower_feeds import FollowerFeeds
from broker.runtime.replication.record_deletions import DeletedRecords, PartitionDeletion, RecordDeletions
from broker.runtime.replication.replica_manager import ReplicaManager
from tests.broker.runtime.applied_roles import apply_leader_and_isr
from tests.eventually import eventually
from tests.manual_clock import ManualClock

ME, NEAR, FAR = 1, 2, 3
T = TopicPartition("t", 0)
RECORDS = 10


def role(leader: int = ME, leader_epoch: int = 5) -> LeaderAndIsrRequest:
    state = LeaderAndIsrPartitionState(
        partition_index=0, leader=leader, leader_epoch=leader_epoch, isr=[ME, NEAR, FAR], replicas=[ME, NEAR, FAR]
    )
    topic = LeaderAndIsrTopicState(topic_name="t", topic_id=UUID(int=1), partition_states=[state])
    return LeaderAndIsrRequest(topic_states=[topic])


class Follower:
    """A broker that follows ME by the real rooms; `exchange` carries one request and its answer over the wire."""

    def __init__(self, broker_id: int, directory, clock, feeds: FollowerFeeds):
        self.logs = LogManager([directory], LogConfig(), broker_id, "cluster")
        self.logs.load_all()
        self.replicas = ReplicaManager(broker_id, self.logs, DelayedFetches(clock), clock)
        apply_leader_and_isr(self.replicas, role())
        self.log = self.replicas.get(*T).log
        self._settings = FetchSettings(broker_id, 500, 1 << 20, 1 << 20, 100, 30_000, 1 << 21)
        self._feeds = feeds
        self.link = LeaderLink()
        self.link.follow(T, UUID(int=1), 5)

    def _position(self, _partition) -> FollowerPosition:
        end = self.log.log_end_offset
        return FollowerPosition(end, self.log.leader_epoch_at(end - 1), self.log.log_start_offset)

    async def exchange(self) -> None:
        """Ask, and take what is answered."""
        plan = self.link.next_plan(self._position, 0)
        request = fetch_request(plan, self._settings, 1)
        request.max_wait_ms = 0
        decoded = decode(FetchRequest, memoryview(encode(request, FETCH_VERSION)), FETCH_VERSION)
        response = self._feeds.fetch(decoded, self._settings.broker_id, by_id=True)
        answer = decode(FetchResponse, memoryview(encode(response, FETCH_VERSION)), FETCH_VERSION)
        self.link.answered(answer.session_id)
        for topic in answer.responses:
            for data in topic.partitions:
                hosted = self.replicas.get(*T)
                records = data.records or b""
                self.replicas.take_fetched(hosted, records, data.high_watermark, data.log_start_offset)
                self.link.starts_at(T, hosted.log.log_start_offset)
                if records:
                    self.link.took_records(T, now_ms=0)


@pytest.fixture
async def world(tmp_path):
    """ME leads ten committed records; NEAR and FAR have them, and are registered."""
    clock, live = ManualClock(), {ME, NEAR, FAR}
    logs = LogManager([tmp_path / "leader"], LogConfig(), ME, "cluster")
    logs.load_all()
    replicas = ReplicaManager(ME, logs, DelayedFetches(clock), clock)
    feeds = FollowerFeeds(replicas, ReplicationThrottle(1), count(1).__next__, clock)
    apply_leader_and_isr(replicas, role())
    deletions = RecordDeletions(replicas, live.__contains__, clock)
    feeds.on_log_start = deletions.on_news
    for _ in range(RECORDS):
        replicas.append(T, memoryview(build_batch([Record(0, 1, b"k", b"v")])))
    near, far = (Follower(broker_id, tmp_path / str(broker_id), clock, feeds) for broker_id in (NEAR, FAR))
    hosted = replicas.get(*T)
    for _ in range(3):
        await near.exchange()
        await far.exchange()
    assert hosted.partition.high_watermark == near.log.log_end_offset == RECORDS
    yield SimpleNamespace(
        replicas=replicas, deletions=deletions, hosted=hosted, near=near, far=far, live=live, clock=clock
    )
    deletions.close()
    feeds.close()
    for item in (logs, near.logs, far.logs):
        item.shutdown()


async def deletion_of(world, offset: int) -> PartitionDeletion:
    """Return a deletion that this leader has carried out."""
    deletion = world.deletions.plan("t", 0, offset)
    assert await world.deletions.carry_out([deletion]) == {}
    return deletion


async def delete(world, offset: int, timeout_ms: int = 30_000) -> asyncio.Future:
    """Return what the request is answered, once this leader has carried it out."""
    return world.deletions.wait([await deletion_of(world, offset)], timeout_ms, lambda outcomes: outcomes[0])


@pytest.mark.parametrize("offset", [7, -1], ids=["to an offset", "all that is committed"])
async def test_answer_comes_when_every_follower_has_said_that_it_let_go(world, offset):
    target = RECORDS if offset == -1 else offset
    answer = await delete(world, offset)
    for follower in (world.near, world.far):
        assert not answer.done()
        await follower.exchange()
        assert follower.log.log_start_offset == target
        assert not answer.done(), "the follower has not said so yet"
        await follower.exchange()
    assert answer.result() == DeletedRecords(ErrorCode.NONE, target)
    assert len(world.deletions) == 0


async def test_what_all_have_let_go_of_before_is_answered_at_once(world):
    first = await delete(world, 5)
    for follower in (world.near, world.far) * 2:
        await follower.exchange()
    assert first.done()
    assert (await delete(world, 3)).result() == DeletedRecords(ErrorCode.NONE, 5)


async def test_follower_that_let_go_of_more_by_itself_is_not_waited_for_in_vain(world):
    """Retention moved its start, which it says with what it says next; the leader's start changes nothing there."""
    for follower in (world.near, world.far):
        follower.log.delete_records(8, RECORDS)
    answer = await delete(world, 7)
    for follower in (world.near, world.far) * 2:
        await follower.exchange()
    assert answer.result() == DeletedRecords(ErrorCode.NONE, 7)


async def test_time_that_is_up_is_said_with_how_far_all_have_come(world):
    answer = await delete(world, 7, timeout_ms=1_000)
    await world.near.exchange()
    await world.near.exchange()
    world.clock.advance(1_001)
    assert await asyncio.wait_for(answer, 10) == DeletedRecords(ErrorCode.REQUEST_TIMED_OUT, 0)
    assert len(world.deletions) == 0


async def test_replica_whose_broker_is_away_is_not_waited_for(world):
    answer = await delete(world, 7)
    await world.near.exchange()
    await world.near.exchange()
    assert not answer.done()
    world.live.discard(FAR)
    assert await asyncio.wait_for(answer, 10) == DeletedRecords(ErrorCode.NONE, 7)


async def test_follower_that_registered_anew_has_to_say_again_where_it_starts(world):
    apply_leader_and_isr(world.replicas, role(leader_epoch=6))
    answer = await delete(world, 0)
    assert not answer.done(), "under this epoch nobody has said anything"
    for follower in (world.near, world.far):
        follower.link.follow(T, UUID(int=1), 6)
        await follower.exchange()
    assert answer.result() == DeletedRecords(ErrorCode.NONE, 0)


async def test_leadership_that_is_lost_leaves_it_open_what_the_next_leader_shows(world):
    answer = await delete(world, 7)
    apply_leader_and_isr(world.replicas, role(leader=NEAR, leader_epoch=6))
    assert answer.result().code is ErrorCode.NOT_LEADER_OR_FOLLOWER


async def test_disk_that_fails_meanwhile_is_said(world):
    answer = await delete(world, 7)
    world.hosted.log.on_disk_error(OSError(5, "Input/output error"))
    world.replicas.resign_offline()
    assert answer.result().code is ErrorCode.KAFKA_STORAGE_ERROR


async def test_client_that_hung_up_is_forgotten(world):
    (await delete(world, 7)).cancel()
    await eventually(lambda: not len(world.deletions), "nobody waits")


async def test_one_partition_that_is_slow_does_not_lose_the_outcome_of_another(world):
    outcomes = []
    await world.near.exchange()
    deletion = await deletion_of(world, 7)
    elsewhere = SimpleNamespace(partition=SimpleNamespace(topic_partition=TopicPartition("u", 0), is_leader=False))
    elsewhere.partition.refusal = ErrorCode.NOT_LEADER_OR_FOLLOWER
    answer = world.deletions.wait([PartitionDeletion(elsewhere, 1), deletion], 30_000, outcomes.extend)
    for follower in (world.near, world.far) * 2:
        assert not answer.done()
        await follower.exchange()
    assert outcomes == [DeletedRecords(ErrorCode.NOT_LEADER_OR_FOLLOWER, -1), DeletedRecords(ErrorCode.NONE, 7)]


async def test_records_of_a_topic_that_is_only_compacted_are_not_deleted(world):
    world.hosted.log.config = LogConfig(cleanup_policy=("compact",))
    with pytest.raises(ApiError) as refused:
        world.deletions.plan("t", 0, 1)
    assert refused.value.code is ErrorCode.POLICY_VIOLATION
    assert world.hosted.log.log_start_offset == 0

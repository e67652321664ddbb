"""What a leader makes of followers' fetches that wait."""

import asyncio
from itertools import count
from uuid import UUID

import pytest

from broker.common.errors import ErrorCode
from broker.common.types import TopicPartition
from broker.log.config import LogConfig
from broker.log.manager import LogManager
from broker.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic, ForgottenTopic, ReplicaState
from broker.protocol.messages.leader_and_isr import (
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrTopicState,
)
from broker.records.builder import build_batch
from broker.records.record import Record
from broker.replication.throttle import ReplicationThrottle
from broker.runtime.delayed_fetches import DelayedFetches
from broker.runtime.replication import follower_feeds
from broker.runtime.replication.follower_feeds import FollowerFeeds
from broker.runtime.replication.replica_manager import ReplicaManager
from tests.broker.runtime.applied_roles import apply_leader_and_isr
from tests.manual_clock import ManualClock

ME, NEAR, FAR = 1, 2, 3
T = TopicPartition("t", 0)
TOPIC_ID, LATER_ID = UUID(int=1), UUID(int=2)


@pytest.fixture
def replicas(tmp_path):
    logs = LogManager([tmp_path], LogConfig(), ME, "cluster")
    logs.load_all()
    clock = ManualClock()
    replicas = ReplicaManager(ME, logs, DelayedFetches(clock), clock)
    yield replicas
    logs.shutdown()


def lead(replicas: ReplicaManager, partitions: int = 1, topic_id: UUID = TOPIC_ID) -> None:
    states = [
        LeaderAndIsrPartitionState(
            partition_index=index, leader=ME, leader_epoch=1, isr=[ME, NEAR], replicas=[ME, NEAR], is_new=True
        )
        for index in range(partitions)
    ]
    topic = LeaderAndIsrTopicState(topic_name="t", topic_id=topic_id, partition_states=states)
    apply_leader_and_isr(replicas, LeaderAndIsrRequest(topic_states=[topic]))


def made_anew(replicas: ReplicaManager) -> None:
    """The topic was deleted, and there is another one of its name, in the same leader epoch."""
    replicas.stop_replica(T, delete=True)
    lead(replicas, topic_id=LATER_ID)


def fetch(
    session_id: int = 0, session_epoch: int = 0, max_wait_ms: int = 0, partitions: int = 1, **of: int
) -> FetchRequest:
    fetch_partitions = [
        FetchPartition(
            partition=index, **{"current_leader_epoch": 1, "fetch_offset": 0, "partition_max_bytes": 1_000} | of
        )
        for index in range(partitions)
    ]
    return FetchRequest(
        replica_state=ReplicaState(replica_id=NEAR, replica_epoch=1),
        session_id=session_id,
        session_epoch=session_epoch,
        max_wait_ms=max_wait_ms,
        max_bytes=1_000_000,
        topics=[] if session_id else [FetchTopic(topic_id=TOPIC_ID, partitions=fetch_partitions)],
    )


async def test_what_nobody_foresaw_is_the_outcome_of_the_fetch_that_waited(replicas, monkeypatch):
    """It may not wait for ever: answers leave in the order of the requests, so none would leave any more."""
    feeds = FollowerFeeds(replicas, ReplicationThrottle(1), count(1).__next__, ManualClock())
    lead(replicas)
    opened = feeds.fetch(fetch(), NEAR, by_id=True)
    waiting = [feeds.fetch(fetch(opened.session_id, epoch, max_wait_ms=500), NEAR, by_id=True) for epoch in (1, 2)]

    def raising_at_first(*arguments, **more):
        monkeypatch.undo()
        raise RuntimeError("nobody foresaw this")

    monkeypatch.setattr(follower_feeds, "read_for_follower", raising_at_first)
    replicas.append(T, memoryview(build_batch([Record(0, 1, None, b"v")])))
    outcomes = await asyncio.wait_for(asyncio.gather(waiting[0], return_exceptions=True), 10)
    assert isinstance(outcomes[0], RuntimeError)
    feeds.close()
    assert waiting[1].done()


async def test_one_answer_tells_of_so_many_partitions_and_the_next_of_the_others(replicas, monkeypatch):
    monkeypatch.setattr(follower_feeds, "PARTITIONS_PER_FETCH", 4)
    feeds = FollowerFeeds(replicas, ReplicationThrottle(1), count(1).__next__, ManualClock())
    lead(replicas, partitions=10)
    opened = feeds.fetch(fetch(partitions=10), NEAR, by_id=True)
    session = opened.session_id
    waiting = [feeds.fetch(fetch(session, epoch, max_wait_ms=500), NEAR, by_id=True) for epoch in (1, 2, 3, 4)]
    for index in range(10):
        replicas.append(TopicPartition("t", index), memoryview(build_batch([Record(0, 1, None, b"v")])))
    answers = await asyncio.wait_for(asyncio.gather(*waiting[:3]), 10)
    assert [len(answer.responses) for answer in answers] == [4, 4, 2]
    everywhere = {topic.partitions[0].partition_index for answer in answers for topic in answer.responses}
    assert everywhere == set(range(10))
    assert not waiting[3].done(), "and then there is nothing to tell"
    feeds.close()


async def test_who_follows_an_earlier_topic_of_the_name_holds_nothing_of_this_one(replicas):
    """Its offsets would commit records that it has never seen."""
    feeds = FollowerFeeds(replicas, ReplicationThrottle(1), count(1).__next__, ManualClock())
    lead(replicas)
    made_anew(replicas)
    replicas.append(T, memoryview(build_batch([Record(0, 1, None, b"v")])))
    (answered,) = feeds.fetch(fetch(fetch_offset=1), NEAR, by_id=True).responses
    assert answered.partitions[0].error_code == ErrorCode.UNKNOWN_TOPIC_ID
    partition = replicas.get(*T).partition
    assert (partition.followers[NEAR].log_end_offset, partition.high_watermark) == (-1, 0)
    feeds.close()


async def test_who_was_served_an_earlier_topic_of_the_name_gets_and_holds_nothing_of_this_one(replicas):
    feeds = FollowerFeeds(replicas, ReplicationThrottle(1), count(1).__next__, ManualClock())
    lead(replicas)
    session_id = feeds.fetch(fetch(), NEAR, by_id=True).session_id
    made_anew(replicas)
    replicas.append(T, memoryview(build_batch([Record(0, 1, None, b"v")])))
    (answered,) = feeds.fetch(fetch(session_id, 1), NEAR, by_id=True).responses
    assert answered.partitions[0].error_code == ErrorCode.INCONSISTENT_TOPIC_ID
    progress = fetch(session_id, 2)
    progress.topics = fetch(fetch_offset=1, is_progress=True).topics
    feeds.fetch(progress, NEAR, by_id=True)
    assert replicas.get(*T).partition.followers[NEAR].log_end_offset == -1
    feeds.close()


async def test_what_is_forgotten_of_an_earlier_topic_takes_nothing_of_this_one(replicas):
    """Of very many partitions that are forgotten at once the last are told later than what is asked anew."""
    feeds = FollowerFeeds(replicas, ReplicationThrottle(1), count(1).__next__, ManualClock())
    lead(replicas)
    session_id = feeds.fetch(fetch(), NEAR, by_id=True).session_id
    made_anew(replicas)
    request = fetch(session_id, 1)
    request.topics = [FetchTopic(topic_id=LATER_ID, partitions=fetch().topics[0].partitions)]
    feeds.fetch(request, NEAR, by_id=True)
    forgetting = fetch(session_id, 2)
    forgetting.forgotten_topics_data = [ForgottenTopic(topic_id=TOPIC_ID, partitions=[0])]
    feeds.fetch(forgetting, NEAR, by_id=True)
    replicas.append(T, memoryview(build_batch([Record(0, 1, None, b"v")])))
    (answered,) = feeds.fetch(fetch(session_id, 3), NEAR, by_id=True).responses
    assert (answered.topic_id, answered.partitions[0].error_code) == (LATER_ID, ErrorCode.NONE)
    assert len(answered.partitions[0].records) > 0
    feeds.close()


async def test_nothing_is_kept_of_a_topic_that_is_hosted_no_more_though_its_followers_forget_it_afterwards(replicas):
    """Or a broker that lives for years would keep whatever was ever made and deleted."""
    feeds = FollowerFeeds(replicas, ReplicationThrottle(1), count(1).__next__, ManualClock())
    lead(replicas, partitions=2)
    session_id = feeds.fetch(fetch(partitions=2), NEAR, by_id=True).session_id
    replicas.stop_replica(T, delete=True)
    assert replicas.topic_names.of(TOPIC_ID) == "t", "its other partition is still asked for"
    replicas.stop_replica(T._replace(partition=1), delete=True)
    refused = feeds.fetch(fetch(session_id, 1), NEAR, by_id=True).responses
    assert {item.partitions[0].error_code for item in refused} == {ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
    forgetting = fetch(session_id, 2)
    forgetting.forgotten_topics_data = [ForgottenTopic(topic_id=TOPIC_ID, partitions=[0, 1])]
    assert feeds.fetch(forgetting, NEAR, by_id=True).error_code == ErrorCode.NONE
    assert len(replicas.topic_names) == 0
    assert not feeds._served[NEAR].feed.partitions
    feeds.close()


async def test_followers_whose_time_is_up_nearly_at_once_are_answered_in_one_wake_up(replicas):
    """Brokers at rest do little else than answer two followers, each twice a second."""
    clock = ManualClock()
    feeds = FollowerFeeds(replicas, ReplicationThrottle(1), count(1).__next__, clock)
    lead(replicas)
    waiting = []
    for follower, waits_ms in ((NEAR, 30), (FAR, 45), (FAR + 1, 500)):
        session = feeds.fetch(fetch(), follower, by_id=True).session_id
        waiting.append(feeds.fetch(fetch(session, 1, max_wait_ms=waits_ms), follower, by_id=True))
    clock.advance(30)
    await asyncio.wait_for(waiting[0], 10)
    assert [item.done() for item in waiting] == [True, True, False]
    feeds.close()

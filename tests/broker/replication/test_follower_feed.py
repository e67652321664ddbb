"""What a leader still has to send to one follower."""

from uuid import UUID

import pytest

from broker.common.errors import ApiError, ErrorCode
from broker.common.types import TopicPartition
from broker.replication.follower_feed import FedPartition, FollowerFeed

T, U = TopicPartition("t", 0), TopicPartition("u", 0)


@pytest.fixture
def feed():
    fed = FollowerFeed(replica_id=2, session_id=7)
    for partition in (T, U):
        fed.ask(FedPartition(partition, UUID(int=1), leader_epoch=5, read_from=10, max_bytes=100))
    return fed


def news_of(feed) -> list[TopicPartition]:
    return [ask.topic_partition for ask in feed.news()]


def test_what_was_just_asked_for_is_looked_at_once(feed):
    assert news_of(feed) == [T, U]
    assert not feed.has_news
    assert news_of(feed) == []


def test_only_partitions_with_records_are_looked_at(feed):
    news_of(feed)
    feed.records_came(U)
    assert feed.has_news
    assert news_of(feed) == [U]


def test_a_moved_high_watermark_makes_no_answer_due_but_goes_along_with_one(feed):
    news_of(feed)
    feed.high_watermark_moved(T)
    assert not feed.has_news
    feed.records_came(U)
    assert news_of(feed) == [U, T]


def test_what_did_not_fit_comes_after_the_others_next_time(feed):
    first = next(feed.news())
    feed.keep(first)
    assert news_of(feed) == [U, T]


def test_a_refused_partition_is_left_alone_until_it_is_asked_for_anew(feed):
    for ask in feed.news():
        feed.forget(ask.topic_partition)
    feed.records_came(T)
    assert not feed.has_news
    feed.ask(FedPartition(T, UUID(int=1), leader_epoch=6, read_from=3, max_bytes=100))
    assert news_of(feed) == [T]


def test_an_acknowledgement_does_not_move_reading_back(feed):
    feed.partitions[T].read_from = 30
    feed.acknowledge(T, 20)
    assert feed.partitions[T].read_from == 30


def test_a_follower_that_skipped_ahead_is_not_sent_what_it_has(feed):
    feed.acknowledge(T, 50)
    assert feed.partitions[T].read_from == 50


def test_a_paused_partition_has_no_news_until_it_is_resumed(feed):
    news_of(feed)
    paused = feed.partitions[T]
    paused.is_paused = True
    feed.records_came(T)
    assert not feed.has_news
    feed.resume(paused)
    assert news_of(feed) == [T]


def test_a_forgotten_partition_has_no_news(feed):
    feed.forget(T)
    feed.records_came(T)
    assert news_of(feed) == [U]


def test_trap_44_a_request_that_came_twice_or_too_early_is_noticed(feed):
    feed.accept(1)
    for epoch in (1, 3):
        with pytest.raises(ApiError) as refused:
            feed.accept(epoch)
        assert refused.value.code is ErrorCode.INVALID_FETCH_SESSION_EPOCH
    feed.accept(2)


def test_session_epochs_start_again_after_the_last_one(feed):
    feed.next_epoch = 2**31 - 1
    feed.accept(2**31 - 1)
    feed.accept(1)

"""What is known of the cluster after each word of the controller."""

from uuid import UUID

from broker.common.types import TopicIdPartition, TopicPartition
from broker.protocol.messages.update_metadata import (
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataTopicState,
)
from broker.runtime import metadata_cache
from broker.runtime.metadata_cache import LEADER_DURING_DELETE, MetadataCache
from tests.broker.runtime.controllers_word import tell_all


def update_of(
    topic: str,
    *partitions: int,
    broker_epoch: int = 1,
    leader: int = 1,
    topic_id: int = 1,
    has_vanished: bool = False,
) -> UpdateMetadataRequest:
    states = [UpdateMetadataPartitionState(partition_index=index, leader=leader) for index in partitions]
    topic_state = UpdateMetadataTopicState(
        topic_name=topic, topic_id=UUID(int=topic_id), partition_states=states, has_vanished=has_vanished
    )
    return UpdateMetadataRequest(
        controller_id=1, controller_epoch=1, broker_epoch=broker_epoch, topic_states=[topic_state]
    )


def test_partitions_add_up_and_a_deleted_topic_goes():
    cache = MetadataCache()
    tell_all(cache, update_of("a", 0, 1))
    tell_all(cache, update_of("a", 2))
    assert cache.partition_count("a") == 3
    tell_all(cache, update_of("a", 0, 1, 2, leader=LEADER_DURING_DELETE))
    assert cache.topics == {}


def test_a_topic_deleted_while_this_broker_was_not_registered_is_forgotten_when_it_is_again():
    cache = MetadataCache()
    tell_all(cache, update_of("deleted", 0))
    tell_all(cache, update_of("kept", 0, broker_epoch=2))
    assert cache.topics.keys() == {"kept"}
    tell_all(cache, update_of("new", 0, broker_epoch=2))
    assert cache.topics.keys() == {"kept", "new"}


def test_the_partitions_of_a_topic_are_not_counted_before_all_are_known():
    cache = MetadataCache()
    assert cache.partition_count("a") == 0
    tell_all(cache, update_of("a", 0, 2))
    assert cache.partition_count("a") == 0
    tell_all(cache, update_of("a", 1))
    assert cache.partition_count("a") == 3


def test_a_topic_is_found_by_the_id_it_has_now():
    cache = MetadataCache()
    tell_all(cache, update_of("a", 0))
    assert cache.topic_of_id(UUID(int=1)).name == "a"
    tell_all(cache, update_of("a", 0, topic_id=2))
    assert (cache.topic_of_id(UUID(int=1)), cache.topic_of_id(UUID(int=2)).name) == (None, "a")
    tell_all(cache, update_of("a", 0, topic_id=2, leader=LEADER_DURING_DELETE))
    assert cache.topic_of_id(UUID(int=2)) is None
    tell_all(cache, update_of("b", 0, topic_id=3))
    tell_all(cache, update_of("c", 0, topic_id=4, broker_epoch=2))
    assert cache.topic_of_id(UUID(int=3)) is None


def test_while_it_is_told_a_topic_is_as_it_was():
    cache = MetadataCache()
    tell_all(cache, update_of("a", 0, 1))
    whole = cache.topics["a"].partitions.copy()
    for change in (
        update_of("a", 0, 1, 2, leader=2),
        update_of("a", 0, 1, leader=LEADER_DURING_DELETE),
        update_of("a", 0, topic_id=2),
    ):
        steps = cache.apply(change)
        next(steps)
        for _ in change.topic_states[0].partition_states[1:]:
            next(steps)
            assert cache.topics["a"].partitions == whole
            assert cache.topic_of_id(UUID(int=1)) is cache.topics["a"]


def test_what_a_new_registration_is_told_is_seen_when_it_is_whole():
    cache = MetadataCache()
    tell_all(cache, update_of("old", 0))
    steps = cache.apply(update_of("new", 0, 1, broker_epoch=2))
    for _ in range(2):
        next(steps)
        assert cache.topics.keys() == {"old"}
    for _ in steps:
        pass
    assert cache.topics.keys() == {"new"}


def test_who_listens_hears_of_partitions_that_are_gone_for_good():
    cache, gone = MetadataCache(), []
    cache.on_deleted.append(lambda deleted: gone.append([(str(one), topic_id.int) for one, topic_id in deleted]))
    tell_all(cache, update_of("a", 0, 1))
    tell_all(cache, update_of("a", 0, leader=-1))
    assert gone == []
    tell_all(cache, update_of("a", 0, topic_id=2))
    tell_all(cache, update_of("a", 0, topic_id=2, leader=LEADER_DURING_DELETE))
    assert gone == [[("a-0", 1), ("a-1", 1)], [("a-0", 2)]]


def test_a_topic_that_was_made_anew_while_this_broker_was_not_registered_is_gone_for_good():
    cache, gone = MetadataCache(), []
    cache.on_deleted.append(gone.extend)
    tell_all(cache, update_of("a", 0, 1))
    tell_all(cache, update_of("a", 0, broker_epoch=2, topic_id=2))
    assert gone == [TopicIdPartition(TopicPartition("a", index), UUID(int=1)) for index in (0, 1)]


def test_a_topic_that_a_new_registration_is_not_told_of_is_not_gone_for_good_before_another_has_its_name():
    """It may wait for its id, and then comes again."""
    cache, gone = MetadataCache(), []
    cache.on_deleted.append(gone.extend)
    tell_all(cache, update_of("a", 0))
    tell_all(cache, update_of("b", 0))
    tell_all(cache, update_of("other", 0, broker_epoch=2))
    tell_all(cache, update_of("other", 0, broker_epoch=3))
    tell_all(cache, update_of("a", 0, broker_epoch=3))
    assert gone == []
    tell_all(cache, update_of("b", 0, broker_epoch=3, topic_id=2))
    tell_all(cache, update_of("b", 0, broker_epoch=3, topic_id=2))
    assert gone == [TopicIdPartition(TopicPartition("b", 0), UUID(int=1))]


def test_a_topic_that_vanished_is_not_gone_for_good_before_another_has_its_name():
    cache, deleted = MetadataCache(), []
    cache.on_deleted.append(deleted.extend)
    tell_all(cache, update_of("a", 0, 1))
    for _ in range(2):
        tell_all(cache, update_of("a", 0, 1, leader=LEADER_DURING_DELETE, has_vanished=True))
        assert (cache.topics, cache.topic_of_id(UUID(int=1)), deleted) == ({}, None, [])
    tell_all(cache, update_of("a", 0, 1))
    assert (cache.topics.keys(), deleted) == ({"a"}, [])
    tell_all(cache, update_of("a", 0, 1, leader=LEADER_DURING_DELETE, has_vanished=True))
    tell_all(cache, update_of("a", 0, topic_id=2))
    assert deleted == [TopicIdPartition(TopicPartition("a", index), UUID(int=1)) for index in (0, 1)]


def test_what_is_kept_of_vanished_topics_is_bounded(monkeypatch):
    monkeypatch.setattr(metadata_cache, "_EARLIER_TOPICS_MAX", 2)
    cache, deleted = MetadataCache(), []
    cache.on_deleted.append(deleted.extend)
    for name in ("a", "b", "c"):
        tell_all(cache, update_of(name, 0))
        tell_all(cache, update_of(name, 0, leader=LEADER_DURING_DELETE, has_vanished=True))
    for name in ("a", "b", "c"):
        tell_all(cache, update_of(name, 0, topic_id=2))
    assert [topic for (topic, _), _ in deleted] == ["b", "c"]


def test_a_topic_told_of_without_its_id_is_the_one_that_is_known():
    """By a controller of an earlier version, which read a znode that lost its id: nothing of the topic is deleted."""
    cache, deleted = MetadataCache(), []
    cache.on_deleted.append(deleted.extend)
    tell_all(cache, update_of("a", 0, 1))
    tell_all(cache, update_of("a", 1, leader=2, topic_id=0))
    assert (cache.partition_count("a"), cache.leader_of("a", 1), deleted) == (2, 2, [])
    assert cache.topic_of_id(UUID(int=1)) is cache.topics["a"]
    assert cache.topic_ids() == {"a": UUID(int=1)}


def test_topics_without_ids_are_not_found_by_none():
    cache = MetadataCache()
    for name in "ab":
        tell_all(cache, update_of(name, 0, topic_id=0))
    assert (cache.topics.keys(), cache.topic_of_id(UUID(int=0)), cache.topic_ids()) == ({"a", "b"}, None, {})
    tell_all(cache, update_of("a", 0, topic_id=5))
    assert cache.topic_of_id(UUID(int=5)).name == "a"

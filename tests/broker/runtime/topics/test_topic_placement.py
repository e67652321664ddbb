"""What is left open in a request is filled in, and what cannot be is refused with words that say what to change."""

from collections import Counter
from dataclasses import replace
from uuid import UUID

import pytest

from broker.common.errors import ApiError, ErrorCode
from broker.config.broker import read_broker_config
from broker.runtime.metadata_cache import BrokerAddress, MetadataCache, PartitionMetadata, TopicMetadata
from broker.runtime.topics.topic_placement import NewTopic, place_added, place_topic

CONFIG = read_broker_config(
    "broker.id=1\nzookeeper.connect=127.0.0.1:1\nnum.partitions=4\ndefault.replication.factor=2\n"
)


def cluster(*racks: str | None) -> MetadataCache:
    """Brokers 1, 2… that are alive, one for each rack."""
    metadata = MetadataCache()
    metadata.brokers = {number: BrokerAddress(number, {}, rack) for number, rack in enumerate(racks, start=1)}
    return metadata


def topic_of(*partitions: tuple[int, ...]) -> TopicMetadata:
    states = {index: PartitionMetadata(ids[0] if ids else -1, 0, ids, ids, ()) for index, ids in enumerate(partitions)}
    return TopicMetadata("t", UUID(int=1), states)


def refusal(call, *arguments) -> ApiError:
    with pytest.raises(ApiError) as refused:
        call(*arguments)
    return refused.value


def test_numbers_left_open_are_the_brokers_defaults():
    placed = place_topic(NewTopic("t"), cluster(None, None, None), CONFIG)
    assert {index: len(replicas) for index, replicas in placed.items()} == {0: 2, 1: 2, 2: 2, 3: 2}


def test_replicas_of_a_topic_stand_in_different_racks():
    racks = ("a", "a", "b", "b")
    for _ in range(20):
        placed = place_topic(NewTopic("t", 8, 2), cluster(*racks), CONFIG)
        assert all({racks[one - 1] for one in replicas} == {"a", "b"} for replicas in placed.values())


def test_factor_above_the_number_of_live_brokers_is_refused_with_both_numbers():
    refused = refusal(place_topic, NewTopic("t", 1, 3), cluster(None, None), CONFIG)
    assert refused.code is ErrorCode.INVALID_REPLICATION_FACTOR
    assert "factor of 3 cannot be reached because only 2 broker(s) are registered" in refused.message


def test_default_factor_waits_for_enough_brokers_too():
    assert refusal(place_topic, NewTopic("t"), cluster(None), CONFIG).code is ErrorCode.INVALID_REPLICATION_FACTOR


def test_nobody_can_be_placed_before_brokers_are_known():
    assert refusal(place_topic, NewTopic("t"), cluster(), CONFIG).code is ErrorCode.BROKER_NOT_AVAILABLE


def test_assignment_by_hand_may_have_several_replicas():
    by_hand = {0: (3, 1), 1: (1, 2)}
    assert place_topic(NewTopic("t", assignment=by_hand), cluster(None, None, None), CONFIG) == by_hand


def test_assignment_by_hand_excludes_both_numbers():
    refused = refusal(place_topic, NewTopic("t", 1, -1, {0: (1,)}), cluster(None), CONFIG)
    assert refused.code is ErrorCode.INVALID_REQUEST


def test_added_partitions_have_as_many_replicas_as_the_first_and_go_on_in_its_round():
    known = topic_of((2, 3), (3, 1), (1, 2))
    assert place_added(known, 6, None, cluster(None, None, None)) == {3: (2, 3), 4: (3, 1), 5: (1, 2)}


def test_added_partitions_are_spread_evenly():
    placed = place_added(topic_of((4, 1)), 13, None, cluster(*[None] * 4))
    assert set(Counter(replicas[0] for replicas in placed.values()).values()) == {3}


def test_partitions_added_by_hand_need_as_many_replicas_as_the_first():
    known = topic_of((1, 2))
    assert place_added(known, 2, [(2, 1)], cluster(None, None)) == {1: (2, 1)}
    refused = refusal(place_added, known, 2, [(2,)], cluster(None, None))
    assert refused.code is ErrorCode.INVALID_REPLICA_ASSIGNMENT
    assert (
        "a partition with 1 replica(s), but this is not consistent with previous partitions, which have 2"
        in refused.message
    )


def test_a_topic_whose_first_partition_has_no_replicas_is_refused_as_by_kafka():
    """Found by the fuzzer. Kafka takes the replication factor from that partition, and refuses a factor of 0."""
    refused = refusal(place_added, topic_of((), (1,)), 3, None, cluster(None, None))
    assert refused.code is ErrorCode.INVALID_REPLICATION_FACTOR
    assert "partition 0 of 't' has no replicas" in refused.message
    by_hand = refusal(place_added, topic_of(()), 2, [(1,)], cluster(None))
    assert by_hand.code is ErrorCode.INVALID_REPLICA_ASSIGNMENT


def test_partitions_cannot_be_added_while_too_few_brokers_live():
    refused = refusal(place_added, topic_of((1, 2)), 2, None, cluster(None))
    assert refused.code is ErrorCode.INVALID_REPLICATION_FACTOR


@pytest.mark.parametrize("count", [0, 1, 10_001])
def test_topic_can_only_grow_and_only_to_the_limit(count):
    assert refusal(place_added, topic_of((1,)), count, None, cluster(None)).code is ErrorCode.INVALID_PARTITIONS


def test_a_topic_without_its_first_partition_is_not_enlarged():
    """Found by the fuzzer: a controller may tell of a partition -1 beside a partition 1."""
    known = topic_of((1,), (1,))
    known = replace(known, partitions={-1: known.partitions[0], 1: known.partitions[1]})
    assert refusal(place_added, known, 3, None, cluster(None)).code is ErrorCode.REQUEST_TIMED_OUT


def test_topic_that_is_not_wholly_known_is_not_enlarged():
    known = topic_of((1,), (1,))
    del known.partitions[0]
    assert refusal(place_added, known, 3, None, cluster(None)).code is ErrorCode.REQUEST_TIMED_OUT

"""Previews, settings, commits and elections: the cluster in memory and real brokers say the same."""

import time

import pytest

from console.kit.gateway.errors import RefusedError
from tests.conformance.gateway.test_gateway import eventually, find_topic


@pytest.fixture
def topic(gateway, topic_name):
    gateway.create_topic(topic_name, 2, 1, {"retention.ms": "86400000", "min.insync.replicas": "1"})
    return eventually(
        lambda: find_topic(gateway, topic_name),
        lambda view: view is not None and all(partition.next_offset is not None for partition in view.partitions),
    )


def setting(gateway, topic, name: str) -> tuple[str | None, str]:
    return next((item.value, item.source) for item in gateway.topic_settings(topic.name) if item.name == name)


def test_nothing_goes_while_everything_is_young(gateway, topic, append):
    append(topic.name, 1, 7)
    view = gateway.preview_retention(topic.name, {})

    assert (view.cleanup_policy, view.retention_ms, view.retention_bytes) == ("delete", 86_400_000, -1)
    assert [(partition.partition, partition.error, partition.deleted_records) for partition in view.partitions] == [
        (0, "", 0),
        (1, "", 0),
    ]
    assert view.partitions[1].next_offset == 7


def test_a_changed_time_shows_what_would_go_and_deletes_nothing(gateway, topic, append):
    append(topic.name, 1, 7)
    view = eventually(
        lambda: gateway.preview_retention(topic.name, {"retention.ms": "1"}),
        lambda seen: seen.partitions[1].deleted_records == 7,
    )
    partition = view.partitions[1]

    assert (partition.first_offset, partition.new_first_offset, partition.next_offset) == (0, 7, 7)
    assert partition.deleted_bytes == sum(segment.size_bytes for segment in partition.segments) > 0
    assert {segment.reason for segment in partition.segments} == {"retention.ms"}
    assert [(segment.first_offset, segment.last_offset) for segment in partition.segments] == [(0, 6)]
    assert find_topic(gateway, topic.name).partitions[1].first_offset == 0


def test_a_value_that_cannot_be_is_refused_by_preview_and_change(gateway, topic):
    for ask in (gateway.preview_retention, gateway.change_topic_settings):
        with pytest.raises(RefusedError) as refused:
            ask(topic.name, {"retention.ms": "-5"})
        assert refused.value.code == "INVALID_CONFIG"


def test_previewing_an_unknown_topic_is_refused(gateway, topic_name):
    with pytest.raises(RefusedError) as refused:
        gateway.preview_retention(topic_name, {})

    assert refused.value.code == "UNKNOWN_TOPIC_OR_PARTITION"


def test_a_changed_setting_counts_and_taken_away_the_default_returns(gateway, topic):
    gateway.change_topic_settings(topic.name, {"retention.bytes": "1000000"})
    eventually(lambda: setting(gateway, topic, "retention.bytes"), lambda seen: seen == ("1000000", "topic"))
    assert setting(gateway, topic, "retention.ms") == ("86400000", "topic")

    gateway.change_topic_settings(topic.name, {"retention.bytes": None})
    eventually(lambda: setting(gateway, topic, "retention.bytes"), lambda seen: seen == ("-1", "default"))


def test_settings_are_sorted_and_hold_those_of_retention(gateway, topic):
    names = [item.name for item in gateway.topic_settings(topic.name)]

    assert names == sorted(names)
    assert {"cleanup.policy", "retention.ms", "retention.bytes"} <= set(names)


def test_committed_offsets_are_known_by_group(gateway, topic, append, commit):
    append(topic.name, 1, 7)
    commit("conformance-group", topic.name, 1, 3)

    seen = eventually(lambda: gateway.committed_offsets(topic.name), lambda seen: seen.offsets)
    assert seen.offsets == {"conformance-group": {1: 3}}
    assert seen.silent_brokers == 0


def test_the_minimum_in_sync_is_learned(gateway, topic):
    seen = eventually(lambda: find_topic(gateway, topic.name), lambda view: view.min_insync_replicas is not None)

    assert seen.min_insync_replicas == 1


def test_electing_the_leader_that_leads_already_is_no_failure(gateway, topic):
    assert gateway.elect_preferred_leaders([(topic.name, 0), (topic.name, 1)]) == {}


def test_electing_in_an_unknown_partition_says_so(gateway, topic):
    refused = gateway.elect_preferred_leaders([(topic.name, 9)])

    assert list(refused) == [(topic.name, 9)]
    assert refused[topic.name, 9]


def test_an_outlook_covers_many_topics_at_once(gateway, topic, append):
    append(topic.name, 1, 7)
    gateway.change_topic_settings(topic.name, {"retention.ms": "1"})
    outlook = eventually(
        lambda: gateway.retention_outlook([topic.name, "no-such-topic"]),
        lambda seen: topic.name in seen and seen[topic.name].retention_ms == 1,
    )

    assert outlook.keys() == {topic.name}
    assert [partition.partition for partition in outlook[topic.name].partitions] == [0, 1]


def test_the_oldest_record_has_a_time_and_an_empty_partition_none(gateway, topic, append):
    before_ms = time.time_ns() // 1_000_000
    append(topic.name, 1, 3)
    oldest = gateway.oldest_records([(topic.name, 0), (topic.name, 1)])

    assert oldest[topic.name, 0] is None
    assert before_ms - 5_000 <= oldest[topic.name, 1] <= time.time_ns() // 1_000_000 + 5_000


def test_the_newest_record_has_a_time_too(gateway, topic, append):
    append(topic.name, 1, 3)
    places = [(topic.name, 0), (topic.name, 1)]
    newest = gateway.newest_records(places)

    assert newest[topic.name, 0] is None
    assert newest[topic.name, 1] >= gateway.oldest_records(places)[topic.name, 1]


def test_every_segment_is_told_though_nothing_goes(gateway, topic, append):
    append(topic.name, 1, 7)
    result = eventually(lambda: gateway.segments_of(topic.name, 1), lambda seen: len(seen.segments) == 1)
    (segment,) = result.segments

    assert (result.partition, result.error, result.segment_count, result.next_offset) == (1, "", 1, 7)
    assert (segment.first_offset, segment.last_offset, segment.size_bytes) == (0, 6, result.size_bytes)
    assert segment.newest_at_ms > time.time() * 1_000 - 60_000
    assert gateway.segments_of(topic.name, 0).segments == ()
    assert find_topic(gateway, topic.name).partitions[1].first_offset == 0

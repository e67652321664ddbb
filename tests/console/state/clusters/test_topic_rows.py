"""What changed between two looks, without a database."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.kit.gateway.interface import PartitionView, TopicView
from console.state.clusters.topic_looks import TopicLooks
from console.state.clusters.topic_rows import compare

PARTITION = PartitionView(0, leader=1, replicas=(1, 2), isr=(1, 2), leader_epoch=4, first_offset=0, next_offset=100)
ORDERS = TopicView("orders", "id-1", False, (PARTITION, replace(PARTITION, partition=1, leader=2)))


def with_first(topic: TopicView, **fields) -> TopicView:
    return replace(topic, partitions=(replace(topic.partitions[0], **fields), *topic.partitions[1:]))


@pytest.fixture
def look():
    """look(views, before, at_ms) with rates that last for the test."""
    return TopicLooks().look


def test_nothing_new_is_no_change(look):
    before = look([ORDERS], {}, 0)
    after = look([ORDERS], look([ORDERS], before, 1_000), 2_000)

    assert not compare(after, look([ORDERS], after, 3_000))


def test_a_new_topic_is_created(look):
    changes = compare({}, look([ORDERS], {}, 0))

    assert [row.name for row in changes.created] == ["orders"]
    assert changes.is_list_changed


def test_a_gone_topic_is_deleted(look):
    changes = compare(look([ORDERS], {}, 0), {})

    assert changes.deleted == ["orders"]


def test_only_the_partition_that_grew_is_changed(look):
    steady = look([ORDERS], look([ORDERS], {}, 0), 1_000)
    after = look([with_first(ORDERS, next_offset=150)], steady, 2_000)
    changes = compare(steady, after)

    ((row, partitions),) = changes.changed
    assert not changes.is_list_changed
    assert [partition.partition for partition in partitions] == [0]
    assert partitions[0].records_per_second == 25.0
    assert row.record_count == 250


def test_a_partition_told_of_again_is_changed_and_those_beside_it_are_not(look):
    third = replace(PARTITION, partition=2)
    before = look([replace(ORDERS, partitions=(PARTITION, third))], {}, 0)
    after = look([replace(ORDERS, partitions=(*ORDERS.partitions, third))], before, 0)

    changes = compare(before, after)
    assert [[partition.partition for partition in changed] for _, changed in changes.changed] == [[1]]
    assert changes.moved == ["orders"]


def test_with_another_minimum_every_partition_is_changed_and_none_has_moved(look):
    before = look([ORDERS], {}, 0)
    changes = compare(before, look([replace(ORDERS, min_insync_replicas=2)], before, 0))

    assert [[partition.partition for partition in changed] for _, changed in changes.changed] == [[0, 1]]
    assert changes.moved == []


def test_a_silent_leader_keeps_the_last_known_offsets_and_shows_no_rate(look):
    before = look([ORDERS], {}, 0)
    silent = with_first(ORDERS, leader=None, leader_epoch=None, isr=(2,), first_offset=None, next_offset=None)
    row = look([silent], before, 1_000)["orders"]

    first = row.partitions[0]
    assert (first.first_offset, first.next_offset, first.leader_epoch) == (0, 100, 4)
    assert first.records_per_second is None
    assert first.leader is None
    assert (row.leaderless_count, row.under_replicated_count) == (1, 1)


def test_a_topic_created_again_under_its_name_forgets_the_old_offsets(look):
    before = look([ORDERS], {}, 0)
    anew = with_first(replace(ORDERS, topic_id="id-2"), first_offset=None, next_offset=None)
    after = look([anew], before, 1_000)
    changes = compare(before, after)

    assert changes.deleted == ["orders"]
    assert [row.topic_id for row in changes.created] == ["id-2"]
    assert after["orders"].partitions[0].next_offset is None


def test_learning_a_topic_id_is_not_a_new_topic(look):
    before = look([replace(ORDERS, topic_id="")], {}, 0)
    changes = compare(before, look([ORDERS], before, 1_000))

    assert not changes.is_list_changed
    assert changes.changed[0][0].topic_id == "id-1"


def test_fewer_partitions_than_before_is_another_topic(look):
    before = look([ORDERS], {}, 0)
    changes = compare(before, look([replace(ORDERS, partitions=ORDERS.partitions[:1])], before, 1_000))

    assert (changes.deleted, len(changes.created)) == (["orders"], 1)


REPLICAS = st.lists(st.integers(1, 4), min_size=1, max_size=3, unique=True).map(tuple)
SAID = st.dictionaries(st.integers(1, 4), st.integers(0, 2))


@given(st.lists(st.tuples(REPLICAS, SAID), min_size=1, max_size=6))
def test_sizes_are_the_newest_said_of_each_replica_that_stayed(looks_seen):
    looks, rows, expected = TopicLooks(), {}, {}
    for at_ms, (replicas, sizes) in enumerate(looks_seen):
        views = [with_first(ORDERS, leader=replicas[0], replicas=replicas, isr=replicas)]
        rows = looks.look(views, rows, at_ms, {("orders", 0): sizes})
        expected = {item: size for item, size in (expected | sizes).items() if item in replicas}
        assert rows["orders"].partitions[0].sizes == tuple(sorted(expected.items()))

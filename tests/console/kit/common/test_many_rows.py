"""Rows written by hand read as those that Django would have written."""

import pytest

from console.cluster.charts.models import Series, SeriesRow
from console.kit.common import many_rows
from console.kit.common.many_rows import keys_of, put_rows, update_rows
from console.state.clusters.models import Partition, Topic

pytestmark = pytest.mark.django_db
FIELDS = ["leader", "replicas", "isr", "adding", "next_offset", "sizes"]


@pytest.fixture
def topic():
    return Topic.objects.create(name="orders")


def test_lists_are_read_as_lists_and_what_is_not_known_as_none(topic):
    put_rows(
        Partition, ["topic", "partition"], FIELDS, [(topic.pk, 0, None, (1, 2), [2], (), None, ((1, 10), (2, 20)))]
    )

    row = Partition.objects.get()
    assert (row.leader, row.replicas, row.isr, row.adding) == (None, [1, 2], [2], [])
    assert (row.next_offset, row.sizes) == (None, [[1, 10], [2, 20]])


def test_a_row_that_is_there_keeps_its_key_and_what_is_not_named(topic):
    known = Partition.objects.create(topic=topic, partition=1, first_offset=7, next_offset=8)

    put_rows(
        Partition,
        ["topic", "partition"],
        FIELDS,
        [(topic.pk, 0, 1, (1,), (1,), (), 3, ()), (topic.pk, 1, 1, (1,), (1,), (), 9, ())],
    )

    assert list(Partition.objects.values_list("partition", "first_offset", "next_offset")) == [(0, None, 3), (1, 7, 9)]
    assert Partition.objects.get(partition=1).pk == known.pk


def test_truth_is_read_as_truth():
    names = ["topic_id", "is_internal", "partition_count", "replication_factor", "under_min_isr_count"]
    names += ["under_replicated_count", "leaderless_count", "record_count", "size_bytes", "last_record_at_ms"]
    put_rows(Topic, ["name"], [*names, "cleanup_policy"], [("__orders", "id", True, 1, 3, 0, 0, 0, 5, 6, 7, "delete")])

    row = Topic.objects.get()
    assert (row.is_internal, row.topic_id, row.record_count, row.cleanup_policy) == (True, "id", 5, "delete")


def test_bytes_are_read_as_bytes():
    series = Series.objects.create(kind="topic", name="orders")
    for packed in (b"\x00\xff", b"\x01'"):
        put_rows(SeriesRow, ["series", "tier", "begins_ms"], ["values"], [(series.pk, 0, 5, packed)])

    assert bytes(SeriesRow.objects.get().values) == b"\x01'"


def test_nothing_is_written_of_nothing():
    put_rows(Topic, ["name"], ["topic_id"], [])

    assert not Topic.objects.exists()


def test_one_field_of_rows_by_their_name(topic):
    update_rows(Topic, "name", "read_per_second", {"orders": 2.5, "gone": 1.0})

    assert list(Topic.objects.values_list("name", "read_per_second")) == [("orders", 2.5)]


def test_keys_are_told_in_the_order_asked_for_and_of_nobody_else(topic, monkeypatch, django_assert_num_queries):
    others = {name: Topic.objects.create(name=name).pk for name in ("a", "b", "c")}
    monkeypatch.setattr(many_rows, "_VALUES_PER_QUERY", 2)
    with django_assert_num_queries(2):
        assert list(keys_of(Topic, "name", ["c", "gone", "a"]).items()) == [("c", others["c"]), ("a", others["a"])]
    with django_assert_num_queries(0):
        assert keys_of(Topic, "name", []) == {}

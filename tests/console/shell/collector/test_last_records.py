"""The last record of topics that are not written to is asked for once."""

from dataclasses import replace

import pytest

from console.shell.collector.last_records import LastRecords
from console.state.clusters.models import Topic
from console.state.clusters.store import load_topics


@pytest.fixture
def asked_places(cluster, monkeypatch) -> list:
    """What brokers were asked for, one list a question."""
    questions, ask = [], cluster.newest_records
    monkeypatch.setattr(cluster, "newest_records", lambda places: questions.append(list(places)) or ask(places))
    return questions


def test_a_topic_written_before_the_console_looked_has_the_time_of_its_newest_record(
    cluster, collect, clock, asked_places
):
    cluster.create_topic("blobs", 2, 1)
    cluster.create_topic("empty", 1, 1)
    cluster.append("blobs", 0, 3)
    clock.advance(60_000)
    cluster.append("blobs", 1, 1)
    written_at_ms = clock.now_ms()
    clock.advance(3_600_000)
    collect()
    collect()

    assert Topic.objects.get(name="blobs").last_record_at_ms == written_at_ms
    assert Topic.objects.get(name="empty").last_record_at_ms == 0
    assert asked_places == [[("blobs", 0), ("blobs", 1)]]


def test_what_arrives_later_is_dated_by_the_look(cluster, collect, clock):
    cluster.create_topic("orders", 1, 1)
    cluster.append("orders", 0, 1)
    collect()
    clock.advance(5_000)
    cluster.append("orders", 0, 1)
    collect()
    assert Topic.objects.get(name="orders").last_record_at_ms == clock.now_ms()


def test_a_topic_whose_records_have_no_time_is_asked_for_once(cluster, collect, collector, asked_places, monkeypatch):
    cluster.create_topic("timeless", 1, 1)
    cluster.append("timeless", 0, 1)
    monkeypatch.setattr(cluster, "written_at_ms", lambda *place: None)
    collector.collect_topics()
    collector.collect_topics()
    assert len(asked_places) == 1


def test_one_look_asks_for_a_bounded_part(cluster, collector, asked_places, monkeypatch):
    monkeypatch.setattr("console.shell.collector.last_records.PARTITIONS_PER_LOOK", 3)
    for name in ("a", "b", "c"):
        cluster.create_topic(name, 2, 1)
        cluster.append(name, 0, 1)
    for _ in range(4):
        collector.collect_topics()
    assert [len(item) for item in asked_places] == [2, 2, 2]


def test_a_cluster_that_does_not_answer_is_asked_again(cluster, collector, asked_places):
    cluster.create_topic("a", 1, 1)
    cluster.append("a", 0, 1)
    collector.collect_topics()
    unknown = {name: replace(row, last_record_at_ms=0) for name, row in load_topics().items()}
    last = LastRecords(cluster)
    cluster.cut_off()
    assert last.found_for(unknown) == {}
    cluster.cut_off(False)
    assert last.found_for(unknown)["a"].last_record_at_ms

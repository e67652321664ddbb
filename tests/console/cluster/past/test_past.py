"""From the collector's looks to the page: for each moment it shows what was true then, and nothing else."""

from datetime import UTC, datetime

import pytest
from django.urls import reverse
from hypothesis import given, settings
from hypothesis import strategies as st

from console.cluster.past import store
from console.cluster.past.models import TimelineKind, Unseen, Was
from console.cluster.past.queries import PastQuery, groups_then, topic_pair, topics_then, totals, was
from console.cluster.past.states import GroupThen, PartitionThen, TopicThen
from console.kit.access.reach import EVERYTHING
from console.shell.collector.collector import Collector
from console.state.clusters import store as cluster_store
from tests.examples import examples

MINUTE_MS = 60_000


def at(moment_ms: int, **chosen) -> PastQuery:
    return PastQuery(at_ms=moment_ms, begins_ms=0, now_ms=moment_ms, **chosen)


def in_trouble(moment_ms: int) -> dict[str, tuple[int, int]]:
    rows = topics_then(at(moment_ms, shown="trouble"), EVERYTHING)
    return {row.name: (row.out_of_sync_count, row.leaderless_count) for row in rows}


@pytest.fixture
def minute(collect, clock):
    """minute(): a look, then a minute goes by; answers when it was looked."""

    def look() -> int:
        collect()
        looked_ms = clock.now_ms()
        clock.advance(MINUTE_MS)
        return looked_ms

    return look


def test_each_moment_has_the_leaders_and_isr_it_had(cluster, minute):
    cluster.create_topic("orders", 2, 3)
    well = minute()
    cluster.stop_broker(1)
    ill = minute()
    cluster.start_broker(1)
    well_again = minute()

    assert in_trouble(well) == {}
    assert in_trouble(ill) == {"orders": (2, 0)}
    assert in_trouble(well_again) == {}
    before, during = (topic_pair("orders", at(moment)).partitions[0].then for moment in (well, ill))
    assert (before.leader, during.leader) == (1, 2)
    assert (set(before.isr), set(during.isr)) == ({1, 2, 3}, {2, 3})
    assert totals(at(ill), EVERYTHING).registered == 2
    assert totals(at(ill), EVERYTHING).controller == "2"
    assert totals(at(well_again), EVERYTHING).registered == 3


def test_a_moment_between_two_looks_has_what_the_first_saw(cluster, minute):
    cluster.create_topic("orders", 1, 3)
    minute()
    cluster.stop_broker(3)
    ill = minute()
    assert in_trouble(ill - 1) == {}
    assert in_trouble(ill + MINUTE_MS - 1) == {"orders": (1, 0)}


def test_a_topic_is_there_from_its_creation_to_its_deletion(cluster, minute):
    empty = minute()
    cluster.create_topic("orders", 1, 3)
    there = minute()
    cluster.delete_topic("orders")
    gone = minute()
    assert [topics_then(at(moment), EVERYTHING).count() for moment in (empty, there, gone)] == [0, 1, 0]


def test_settings_are_those_of_then_beside_those_of_now(cluster, minute):
    cluster.create_topic("orders", 1, 3)
    before = minute()
    cluster.change_topic_settings("orders", {"retention.ms": "60000"})
    after = minute()
    cluster.change_topic_settings("orders", {"retention.ms": "90000"})
    now = minute()
    seen = {moment: topic_pair("orders", PastQuery(moment, 0, now)).settings for moment in (before, after, now)}
    assert seen == {
        before: (("retention.ms", None, "90000"),),
        after: (("retention.ms", "60000", "90000"),),
        now: (("retention.ms", "90000", "90000"),),
    }


def test_groups_are_as_they_were(cluster, minute):
    cluster.create_topic("orders", 1, 3)
    cluster.commit("readers", "orders", 0, 0)
    idle = minute()
    cluster.groups.join("readers", "member-1", ("orders", 0))
    busy = minute()
    counts = [[item.then.member_count for item in groups_then(at(moment), EVERYTHING)] for moment in (idle, busy)]
    assert counts == [[0], [1]]


def test_what_stands_still_is_written_once(cluster, minute):
    cluster.create_topic("orders", 3, 3)
    for _ in range(3):
        cluster.append("orders", 0, 5)
        minute()
    assert Was.objects.filter(kind=TimelineKind.TOPIC).count() == 1


def test_a_collector_that_starts_anew_goes_on_and_tells_of_its_silence(cluster, minute, zookeeper, clock):
    cluster.create_topic("orders", 1, 3)
    looked = minute()
    clock.advance(10 * MINUTE_MS)
    later = Collector(cluster, lambda: list(zookeeper), clock.now_ms)
    later.collect_cluster()
    later.collect_topics()
    assert Was.objects.filter(kind=TimelineKind.TOPIC).count() == 1
    gap = Unseen.objects.exclude(from_ms=0).get()
    assert (gap.from_ms, gap.until_ms) == (looked, clock.now_ms())


def test_what_was_over_a_month_ago_is_forgotten_and_what_is_so_now_is_not(db):
    store.write(store.News(TimelineKind.TOPIC, {"orders": b"1", "still": b"1"}), 1_000)
    store.write(store.News(TimelineKind.TOPIC, {"orders": b"2"}), 2_000)
    store.forget(2_000 + store.KEPT_MS)
    assert sorted(Was.objects.values_list("name", "from_ms")) == [("orders", 2_000), ("still", 1_000)]
    assert Unseen.objects.get(from_ms=0).until_ms == 2_000


def test_no_more_rows_are_kept_than_allowed_and_the_page_begins_later(db, monkeypatch):
    monkeypatch.setattr(store, "ROWS_MAX", 5)
    for number in range(20):
        store.write(store.News(TimelineKind.TOPIC, {"orders": b"%d" % number}), number * 1_000)
    store.forget(20_000)
    assert Was.objects.count() == 6
    begins_ms = Unseen.objects.get(from_ms=0).until_ms
    assert [was(TimelineKind.TOPIC, moment).count() for moment in range(begins_ms, 20_000, 500)] == [1] * len(
        range(begins_ms, 20_000, 500)
    )


NUMBERS = st.lists(st.integers(0, 5), max_size=4).map(tuple)
PARTITIONS = st.builds(PartitionThen, st.integers(0, 9), st.none() | st.integers(0, 5), NUMBERS, NUMBERS)


@given(st.lists(PARTITIONS, max_size=5), st.lists(st.text(max_size=300), max_size=3))
@settings(max_examples=examples(50))
def test_what_is_packed_is_read_as_it_was(partitions, topics):
    assert TopicThen.unpack(TopicThen(tuple(partitions)).pack()) == TopicThen(tuple(partitions))
    group = GroupThen("Stable", 1, 2, tuple(topics))
    assert GroupThen.unpack(group.pack()) == group


def iso(moment_ms: int) -> str:
    return datetime.fromtimestamp(moment_ms / 1000, UTC).isoformat()


def test_the_page_shows_the_moment_that_is_asked_for(cluster, minute, client_of, viewer):
    cluster.create_topic("orders", 1, 3)
    well = minute()
    cluster.stop_broker(3)
    ill = minute()
    client = client_of(viewer)
    assert "every partition was led" in client.get(reverse("past"), {"ms": str(well)}).content.decode()
    shown = client.get(reverse("past"), {"at": iso(ill)}).content.decode()
    assert "short of replicas" in shown
    assert "some were missing" in shown


@pytest.mark.parametrize("query", [{"at": "yesterday"}, {"ms": "9" * 30}, {"ms": "-1"}, {"at": "9999-12-31T00:00Z"}])
def test_nonsense_and_the_future_are_answered_all_the_same(cluster, minute, client_of, viewer, query):
    minute()
    assert client_of(viewer).get(reverse("past"), query).status_code == 200


def test_a_topic_that_is_gone_has_its_page_and_one_that_never_was_has_none(cluster, minute, client_of, viewer):
    cluster.create_topic("orders", 1, 3)
    there = minute()
    cluster.delete_topic("orders")
    minute()
    client = client_of(viewer)
    assert client.get(reverse("past-topic", args=["orders"]), {"ms": str(there)}).status_code == 200
    assert client.get(reverse("past-topic", args=["never"]), {"ms": str(there)}).status_code == 404


def test_whose_rights_end_before_a_topic_sees_nothing_of_its_past(cluster, minute, client_of, limited_reader):
    for name in ("orders", "secret-plans"):
        cluster.create_topic(name, 1, 3)
    for group, topics in (("both", ("orders", "secret-plans")), ("only-there", ("secret-plans",))):
        for topic in topics:
            cluster.commit(group, topic, 0, 0)
    looked = minute()
    client = client_of(limited_reader)
    for table in ("topics", "groups", "brokers"):
        response = client.get(reverse("past"), {"ms": str(looked), "format": "csv", "table": table})
        text = b"".join(response.streaming_content).decode()
        assert "secret" not in text
        assert "only-there" not in text
    page = client.get(reverse("past"), {"ms": str(looked)}).content.decode()
    assert "secret-plans" not in page
    assert "only-there" not in page
    assert client.get(reverse("past-topic", args=["secret-plans"])).status_code == 403


def test_before_the_first_look_the_page_says_that_nothing_is_kept(db, client_of, viewer):
    cluster_store.ensure_state()
    assert "Nothing is kept yet." in client_of(viewer).get(reverse("past")).content.decode()

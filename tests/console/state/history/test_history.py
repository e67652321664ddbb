"""From the collector's look to the pages: events are kept, found by time, object and kind, and pushed."""

import csv
import io
from datetime import UTC, datetime

import pytest

from console.kit.live import groups
from console.state.history import store
from console.state.history.differences import HistoryEvent
from console.state.history.feature import LIVE_GROUP
from console.state.history.models import Change
from console.state.history.store import write_events


@pytest.fixture
def pushed(monkeypatch) -> list[str]:
    seen: list[str] = []
    monkeypatch.setattr(store, "push_partial", lambda group, template, context: seen.append(group))
    return seen


def sentences_of(**chosen) -> list[str]:
    return [change.sentence for change in Change.objects.filter(**chosen)]


def test_the_first_look_ever_is_no_change(cluster, collect):
    cluster.create_topic("orders", 2, 3)
    collect()
    assert sentences_of() == []


def test_a_broker_that_stops_leaves_its_trail(cluster, collect, pushed):
    cluster.create_topic("orders", 2, 3)
    collect()
    cluster.stop_broker(1)
    collect()

    assert sentences_of(kind="broker") == ["Broker 1 left the cluster"]
    assert sentences_of(kind="controller") == ["Broker 2 is the controller; was broker 1"]
    assert sentences_of(kind="leader") == ["orders-0 is led by broker 2, previously by broker 1"]
    assert len(sentences_of(kind="isr")) == 2
    assert {LIVE_GROUP, groups.topic("orders")} == set(pushed)

    cluster.start_broker(1)
    collect()
    assert "Broker 1 registered again at 127.0.0.1:9092" in sentences_of(kind="broker")


def test_a_change_while_no_collector_ran_is_told_by_the_next(cluster, collect, zookeeper, clock):
    from console.shell.collector.collector import Collector

    cluster.create_topic("orders", 1, 3)
    collect()
    cluster.stop_broker(1)
    later = Collector(cluster, lambda: list(zookeeper), clock.now_ms)
    later.collect_cluster()
    later.collect_topics()

    assert "Broker 1 left the cluster" in sentences_of(kind="broker")
    assert sentences_of(kind="leader") == ["orders-0 is led by broker 2, previously by broker 1"]


def test_topics_come_and_go(cluster, collect):
    collect()
    cluster.create_topic("orders", 2, 3)
    collect()
    cluster.delete_topic("orders")
    collect()
    assert sentences_of(kind="topic") == [
        "orders was deleted",
        "orders was created with 2 partitions, replication factor 3",
    ]


def test_the_table_is_bounded_and_the_oldest_go_first(db, monkeypatch):
    monkeypatch.setattr(store, "ROWS_MAX", 10)
    for number in range(30):
        write_events([HistoryEvent("broker", "broker-1", f"event {number}")], number)
    assert [change.sentence for change in Change.objects.all()] == [f"event {n}" for n in range(29, 19, -1)]


AT_0312 = int(datetime(2026, 11, 21, 3, 12, tzinfo=UTC).timestamp() * 1000)


@pytest.fixture
def night(db) -> None:
    write_events([HistoryEvent("broker", "broker-2", "Broker 2 left the cluster", "critical")], AT_0312 - 60_000)
    write_events(
        [HistoryEvent("leader", "orders", "orders-0 is led by broker 3, previously by broker 2", "plain", 0)], AT_0312
    )
    write_events([HistoryEvent("isr", "payments", "payments-0: 2 came in sync", "ok", 0)], AT_0312 + 3_600_000)


@pytest.mark.usefixtures("night")
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"around": "2026-11-21T03:12:00Z"}, ["orders", "broker-2"]),
        ({"since": "2026-11-21T03:11:30Z", "until": "2026-11-21T03:20:00+00:00"}, ["orders"]),
        ({"kind": "isr"}, ["payments"]),
        ({"search": "BROKER 2"}, ["orders", "broker-2"]),
        ({"kind": "nonsense", "around": "3 o'clock"}, ["payments", "orders", "broker-2"]),
    ],
)
def test_what_happened_is_found_by_time_kind_and_words(query, expected, viewer, client_of):
    page = client_of(viewer).get("/history/", query).context["page"]
    assert [item.object_name for item in page] == expected


@pytest.mark.usefixtures("night")
def test_a_topic_has_its_own_history(viewer, client_of, cluster, collect):
    cluster.create_topic("orders", 1, 1)
    collect()
    page = client_of(viewer).get("/topics/orders/+history/").context["page"]
    assert [item.sentence for item in page] == ["orders-0 is led by broker 3, previously by broker 2"]


@pytest.mark.usefixtures("night")
def test_history_is_a_file_with_the_filters_of_the_page(viewer, client_of):
    response = client_of(viewer).get("/history/?kind=leader&format=csv")
    _, *rows = csv.reader(io.StringIO(b"".join(response.streaming_content).decode()))
    assert rows == [
        [
            "2026-11-21T03:12:00+00:00",
            "leader",
            "orders",
            "0",
            "orders-0 is led by broker 3, previously by broker 2",
            "",
        ]
    ]


@pytest.mark.usefixtures("night")
def test_the_overview_shows_the_newest_changes(viewer, client_of):
    assert "payments-0: 2 came in sync" in client_of(viewer).get("/").content.decode()


def test_an_unclean_election_is_in_the_history_of_the_cluster_and_of_its_topic(cluster, collect, client_of, viewer):
    cluster.create_topic("orders", 1, 2)
    cluster.append("orders", 0, 100)
    collect()
    cluster.stop_broker(2)
    collect()
    cluster.stop_broker(1)
    collect()
    cluster.start_broker(2)
    cluster.give_up_records("orders", 0, 60)
    collect()
    (sentence,) = sentences_of(kind="unclean")
    assert "orders-0: unclean election: broker 2 leads, previously broker 1" in sentence
    assert "At least 40 acknowledged records are lost" in sentence
    for address in ("/history/?kind=unclean", "/topics/orders/+history/?kind=unclean"):
        assert "At least 40 acknowledged records are lost" in client_of(viewer).get(address).content.decode()

"""A transaction that does not end is a reason of health, soon where nothing will end it, and not before its time."""

import pytest

from console.cluster.producers.collect import TransactionCollector
from console.cluster.producers.stuck import LONG_MS, STUCK_MS, UNCLAIMED_MS, StableOffsets
from console.kit.gateway.producers.interface import ProducerView, TransactionView
from console.signals.overview.queries import overview_facts
from console.state.clusters.store import load_topics
from console.state.clusters.topic_rows import PartitionRow, TopicRow

HANGS_MS = 15 * 60_000


@pytest.fixture
def look(cluster, collect, clock, monkeypatch):
    """Seconds later, everything is read again."""
    cluster.create_topic("orders", 2, 1)
    cluster.append("orders", 1, 100)
    for module in ("console.signals.overview.facts", "console.cluster.producers.queries"):
        monkeypatch.setattr(f"{module}.now_ms", clock.now_ms)
    collector = TransactionCollector(cluster.producers, load_topics, clock.now_ms)

    def again(later_ms: int = 15_000) -> dict[str, str]:
        clock.advance(later_ms)
        collect()
        collector.look()
        return {
            reason.key: f"{reason.text} {reason.evidence}. {reason.action.text}"
            for reason in overview_facts()["health"].reasons
            if reason.key.startswith("transaction:")
        }

    again()
    return again


@pytest.fixture
def write(cluster, clock):
    """A producer writes in a transaction that begins at offset 40 of orders-1."""

    def written(timeout_ms: int | None = None, state: str = "Ongoing") -> None:
        cluster.producers.write("orders", ProducerView(1, 7, 0, 3, clock.now_ms(), -1, 40))
        if timeout_ms is not None:
            places = frozenset({("orders", 1)})
            known = TransactionView("pay", 2, 7, 0, state, timeout_ms, clock.now_ms(), places)
            cluster.producers.coordinate(known)

    return written


def test_one_that_nothing_will_end_is_named_within_a_minute_and_a_look(look, write, client_of, administrator):
    write()
    assert look(1_000) == {}
    assert look(STUCK_MS) == {}, "it may be ending"
    (sentence,) = look(UNCLAIMED_MS - STUCK_MS).values()
    assert sentence == (
        "A transaction in orders-1 does not end: no coordinator knows of it, and its producer is silent. "
        "read_committed consumers wait at offset 40, 60 records behind it · open for 1\u202fmin 1\u202fs · "
        "producer id 7. Abort it, if its producer is gone"
    )
    assert 'href="/topics/orders/+producers/"' in client_of(administrator).get("/").content.decode()
    (sentence,) = look(HANGS_MS).values()
    assert "no coordinator knows of it, so nothing will end it" in sentence


def test_one_that_ended_is_told_of_no_more(look, write, cluster, clock):
    write()
    look(1_000)
    assert look(UNCLAIMED_MS)
    cluster.producers.write("orders", ProducerView(1, 7, 0, 3, clock.now_ms(), 0, None))
    assert look() == {}


def test_one_that_its_coordinator_will_end_is_told_of_when_it_takes_long(look, write):
    write(timeout_ms=2 * LONG_MS)
    look(1_000)
    assert look(LONG_MS - 2_000) == {}
    (sentence,) = look(15_000).values()
    assert "its coordinator waits for its producer" in sentence
    assert sentence.endswith("See its producer, and when its coordinator ends it")


def test_one_whose_time_is_up_is_told_of_at_once(look, write):
    write(timeout_ms=60_000)
    look(1_000)
    assert look(60_000) == {}
    (sentence,) = look(61_000).values()
    assert "its time is up, and its coordinator has not aborted it" in sentence


def test_a_transaction_after_another_is_no_stand_still():
    stable = StableOffsets()
    for at_ms in range(0, 10 * STUCK_MS, STUCK_MS):
        assert stable.observe({("orders", 0): at_ms + 9}, {("orders", 0): at_ms}, at_ms) == []


def test_a_leader_that_does_not_answer_says_nothing_new():
    stable, place = StableOffsets(), ("orders", 0)
    stable.observe({place: 9}, {place: 5}, 0)
    assert stable.observe({place: 9}, {}, STUCK_MS) == [place]
    assert stable.observe({place: 9}, {place: 9}, STUCK_MS + 1) == []
    stable.observe({place: 19}, {place: 9}, STUCK_MS + 2)
    stable.keep([])
    assert stable.observe({}, {}, 9 * STUCK_MS) == []


def test_partitions_beyond_those_of_one_look_are_asked_for_in_turn(cluster, clock, monkeypatch, db):
    monkeypatch.setattr("console.cluster.producers.collect.PARTITIONS_PER_LOOK", 2)
    wanted: list[list[tuple[str, int]]] = []
    monkeypatch.setattr(cluster.producers, "stable_offsets", lambda places: wanted.append(list(places)) or {})
    cluster.create_topic("orders", 5, 1)
    for number in range(5):
        cluster.append("orders", number, 1)
    topics = {}
    collector = TransactionCollector(cluster.producers, lambda: topics, clock.now_ms)
    collector.look()
    topics |= _rows(cluster)
    for _ in range(4):
        collector.look()
    assert [[number for _, number in places] for places in wanted] == [[], [0, 1], [2, 3], [4], [0, 1]]


def _rows(cluster):
    (topic,) = cluster.describe_topics()
    partitions = [PartitionRow(item.partition, 1, 0, (1,), (1,), 0, 1, None) for item in topic.partitions]
    return {"orders": TopicRow("orders", topic.topic_id, False, tuple(partitions))}


def test_who_may_not_see_the_topic_reads_nothing_of_it(look, write, viewer, give_rule, client_of):
    write()
    look(1_000)
    assert look(UNCLAIMED_MS)
    give_rule(viewer, "nothing", "topic", "orders")
    assert "does not end" not in client_of(viewer).get("/").content.decode()

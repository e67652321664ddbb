"""What two looks at a cluster tell as events: the pure half of history."""

import pytest

from console.state.clusters.broker_rows import BrokerRow
from console.state.clusters.topic_rows import PartitionRow, TopicRow, compare
from console.state.history.differences import (
    EVENTS_PER_LOOK_MAX,
    PARTITIONS_TOLD_MAX,
    broker_events,
    controller_events,
    topic_events,
)


def partition(number: int, leader: int | None = 1, isr=(1, 2, 3), replicas=(1, 2, 3)) -> PartitionRow:
    return PartitionRow(number, leader, 0, tuple(replicas), tuple(isr), 0, 0, None)


def topic(*partitions: PartitionRow, name: str = "orders", topic_id: str = "a") -> TopicRow:
    return TopicRow(name, topic_id, False, tuple(partitions))


def events_of(before: list[TopicRow], after: list[TopicRow]):
    known, now = {item.name: item for item in before}, {item.name: item for item in after}
    return topic_events(known, compare(known, now))


def sentences(events) -> list[str]:
    return [event.sentence for event in events]


def test_nothing_that_moves_offsets_only_is_an_event():
    grown = PartitionRow(0, 1, 0, (1, 2, 3), (1, 2, 3), 0, 99, 5.0)
    assert events_of([topic(partition(0))], [topic(grown)]) == []


@pytest.mark.parametrize(
    ("before", "after", "sentence", "tone"),
    [
        (1, 2, "orders-0 is led by broker 2, previously by broker 1", "plain"),
        (1, None, "orders-0 has no leader; it was broker 1", "critical"),
        (None, 3, "orders-0 is led by broker 3 again", "ok"),
    ],
)
def test_a_leader_that_changed_is_told(before, after, sentence, tone):
    (event,) = events_of([topic(partition(0, before))], [topic(partition(0, after))])
    assert (event.kind, event.object_name, event.partition) == ("leader", "orders", 0)
    assert (event.sentence, event.tone) == (sentence, tone)


def test_replicas_that_fall_out_and_come_back_are_named():
    full, short = topic(partition(0)), topic(partition(0, isr=(1,)))
    (shrunk,) = events_of([full], [short])
    (grown,) = events_of([short], [full])
    assert (shrunk.kind, shrunk.tone, shrunk.sentence) == (
        "isr",
        "warning",
        "orders-0: 2, 3 fell out of sync; in sync: [1]",
    )
    assert (grown.tone, grown.sentence) == ("ok", "orders-0: 2, 3 came in sync; in sync: [1, 2, 3]")


def test_another_order_of_the_same_isr_is_no_event():
    assert events_of([topic(partition(0, isr=(1, 2, 3)))], [topic(partition(0, isr=(3, 1, 2)))]) == []


def test_moved_replicas_and_new_partitions_are_told():
    events = events_of([topic(partition(0))], [topic(partition(0, replicas=(1, 2, 4), isr=(1, 2, 3)), partition(1))])
    assert sentences(events) == [
        "orders has 1 partition more",
        "orders-0 has its replicas on 1, 2, 4, previously on 1, 2, 3",
    ]


def test_a_topic_deleted_and_created_again_under_its_name_is_both():
    events = events_of([topic(partition(0), topic_id="a")], [topic(partition(0), topic_id="b")])
    assert sentences(events) == ["orders was deleted", "orders was created with 1 partition, replication factor 3"]


def test_many_partitions_of_a_topic_are_one_event():
    count = PARTITIONS_TOLD_MAX + 1
    before = [topic(*(partition(n) for n in range(count)))]
    (event,) = events_of(before, [topic(*(partition(n, leader=None) for n in range(count)))])
    assert event.sentence.startswith("orders: 7 partitions changed leaders, such as 0 has no leader")
    assert (event.tone, event.partition) == ("critical", None)


def test_a_broker_that_takes_thousands_of_topics_along_writes_no_thousands_of_rows():
    names = [f"t{n:04}" for n in range(3 * EVENTS_PER_LOOK_MAX)]
    events = events_of(
        [topic(partition(0), name=name) for name in names],
        [topic(partition(0, leader=2, isr=(2, 3)), name=name) for name in names],
    )
    assert len(events) == EVENTS_PER_LOOK_MAX + 2
    assert {event.sentence for event in events[-2:]} == {"500 more changes of this kind at the same time"}
    assert {event.tone for event in events[-2:]} == {"plain", "warning"}


def test_brokers_come_go_and_move():
    here = BrokerRow(1, "a", 9092, "", True)
    gone = BrokerRow(1, "a", 9092, "", False)
    assert sentences(broker_events({}, {1: here})) == ["Broker 1 registered at a:9092"]
    assert sentences(broker_events({1: gone}, {1: here})) == ["Broker 1 registered again at a:9092"]
    assert sentences(broker_events({1: here}, {1: gone})) == ["Broker 1 left the cluster"]
    moved = BrokerRow(1, "b", 9093, "", True)
    assert sentences(broker_events({1: here}, {1: moved})) == ["Broker 1 moved from a:9092 to b:9093"]
    assert broker_events({1: here}, {1: here}) == []
    assert broker_events({}, {1: gone}) == []


def test_the_controller_changes_goes_and_comes():
    assert controller_events(1, 1) == []
    assert sentences(controller_events(1, 2)) == ["Broker 2 is the controller; was broker 1"]
    assert sentences(controller_events(None, 2)) == ["Broker 2 is the controller; there was none"]
    (event,) = controller_events(1, None)
    assert (event.tone, event.kind) == ("critical", "controller")

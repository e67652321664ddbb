import gc
from dataclasses import replace

from console.kit.gateway.interface import PartitionView, TopicView
from console.kit.gateway.topics.seen import SeenTopics

ORDERS = TopicView("orders", "id-1", False, (PartitionView(0, 1, (1, 2), (1, 2), 4, 0, 100),))


def test_a_topic_that_reads_as_before_is_the_same_object():
    seen = SeenTopics()
    first = seen.as_seen(replace(ORDERS))

    assert seen.as_seen(replace(ORDERS)) is first


def test_a_topic_that_reads_otherwise_is_what_was_found_and_is_known_from_then_on():
    seen = SeenTopics()
    seen.as_seen(ORDERS)
    anew = replace(ORDERS, topic_id="id-2")

    assert seen.as_seen(anew) is anew
    assert seen.as_seen(replace(anew)) is anew
    assert seen.as_seen(replace(ORDERS)).topic_id == "id-1"


def test_what_nobody_holds_is_not_kept():
    seen = SeenTopics()
    seen.as_seen(replace(ORDERS))
    gc.collect()
    anew = replace(ORDERS)

    assert seen.as_seen(anew) is anew

"""Whoever may write a connector's configuration hides no topic of other people by calling it a topic of offsets."""

from collections.abc import Callable
from functools import partial

import pytest

from console.cluster.protections.models import TopicProtection
from console.ecosystem.connectors.models import Connector
from console.ecosystem.connectors.topic_users import Keeping, keeping_of
from console.kit.access.internal_topics import forget, is_internal
from console.processes.models import ManagedProcess
from console.state.consumers.models import ConsumerGroup

NAMED = {"offsets.storage.topic": "orders"}


@pytest.mark.parametrize(
    ("topic", "cleanup_policy", "is_used", "keeping"),
    [
        ("orders", "delete", False, Keeping.NO),
        ("orders", "compact,delete", False, Keeping.NO),
        ("orders", "", False, Keeping.NO),
        ("orders", "compact", True, Keeping.NO),
        ("orders", "compact", False, Keeping.LIKELY),
        ("lines-Offsets", "delete", False, Keeping.NO),
        ("lines-Offsets", "", True, Keeping.SURE),
        ("lines-Offsets", "compact", True, Keeping.SURE),
    ],
)
def test_a_topic_of_offsets_is_compacted_and_called_so_or_used_by_nothing_else(topic, cleanup_policy, is_used, keeping):
    assert keeping_of(topic, cleanup_policy, is_used=is_used) is keeping


@pytest.fixture
def look(cluster, collect):
    """look(policy): a topic `orders` of that policy, which is used as `use` says, and a source that names it for its
    offsets."""

    def make(policy: str, kind: str = "source", use: Callable[[], None] = lambda: None) -> bool:
        cluster.create_topic("orders", 1, 1, {"cleanup.policy": policy})
        Connector.objects.create(name="mine", config=NAMED, kind=kind)
        collect()
        use()
        forget()
        return is_internal("orders")

    return make


def test_a_topic_that_is_deleted_by_age_stays_readable_and_nothing_is_remembered_of_it(look, reader, client_of):
    assert not look("delete")
    assert client_of(reader).get("/topics/orders/+records/").status_code == 200
    assert not TopicProtection.objects.filter(topic="orders").exists()


def test_the_name_of_a_topic_that_is_still_to_come_is_not_reserved(cluster, collect):
    Connector.objects.create(name="mine", kind="source", config=NAMED)
    collect()
    cluster.create_topic("orders", 1, 1)
    collect()
    forget()
    assert not is_internal("orders")
    assert not TopicProtection.objects.filter(topic="orders").exists()


def test_a_sink_keeps_no_offsets_in_a_topic_of_its_own(look):
    assert not look("compact", kind="sink")


def test_a_compacted_topic_that_nothing_else_uses_is_internal_as_long_as_it_is_named(look, reader, client_of):
    assert look("compact")
    assert client_of(reader).get("/topics/orders/+records/").status_code == 403
    Connector.objects.all().delete()
    forget()
    assert client_of(reader).get("/topics/orders/+records/").status_code == 200


def by_a_connector() -> None:
    Connector.objects.create(name="theirs", kind="sink", topics=["orders"])


def by_a_group() -> None:
    ConsumerGroup.objects.create(name="theirs", coordinator=1, topics=["orders"], member_count=1)


def by_a_stream_job() -> None:
    properties = {"job": "dedupe", "input.topic": "orders", "output.topic": "once"}
    ManagedProcess.objects.create(name="theirs", kind="stream", spec={"properties": properties, "directory": "/x"})


@pytest.mark.parametrize("use", [by_a_connector, by_a_group, by_a_stream_job])
def test_a_compacted_topic_that_others_use_is_theirs(use, look):
    assert not look("compact", use=use)


def test_offsets_that_a_group_has_left_do_not_make_it_readable(look):
    """An operator of the console gives a group offsets, and makes no member of one."""
    left = partial(ConsumerGroup.objects.create, name="theirs", coordinator=1, topics=["orders"], member_count=0)
    assert look("compact", use=left)

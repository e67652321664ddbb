"""Assignors that packages bring along: what they return is used as it is, or not at all."""

from importlib.metadata import EntryPoint, EntryPoints
from uuid import UUID

import pytest

from broker.common.errors import ErrorCode
from broker.config.groups import parse_assignors
from broker.coordinator.consumer_group import installed_assignors
from broker.coordinator.consumer_group.config import ConsumerGroupConfig
from tests.broker.coordinator.consumer_group.world import Consumer, ConsumerWorld

_HERE = "tests.broker.coordinator.consumer_group.test_installed_assignors"


def all_to_the_first(members, partition_counts):
    first = min(members, key=lambda member: member.member_id)
    return {first.member_id: {topic_id: range(partition_counts[topic_id]) for topic_id in first.topic_ids}}


def all_to_all(members, partition_counts):
    return {m.member_id: {topic_id: {0} for topic_id in m.topic_ids} for m in members}


def what_is_not(members, partition_counts):
    return {m.member_id: {topic_id: {99} for topic_id in m.topic_ids} for m in members}


def unknown_topic(members, partition_counts):
    return {m.member_id: {UUID(int=99): {0}} for m in members}


def failing(members, partition_counts):
    raise KeyError("x")


_ALL = (all_to_the_first, all_to_all, what_is_not, unknown_topic, failing)


@pytest.fixture(autouse=True)
def installed(monkeypatch):
    points = EntryPoints(
        EntryPoint(name=assignor.__name__, value=f"{_HERE}:{assignor.__name__}", group=installed_assignors.GROUP)
        for assignor in _ALL
    )
    for module in ("broker.coordinator.consumer_group.installed_assignors", "broker.config.groups"):
        monkeypatch.setattr(f"{module}.entry_points", lambda group: points.select(group=group))
    installed_assignors._load.cache_clear()


def _world(assignor) -> ConsumerWorld:
    config = ConsumerGroupConfig(
        group_consumer_assignment_interval_ms=0, group_consumer_assignors=("uniform", assignor.__name__)
    )
    world = ConsumerWorld(consumer_config=config)
    world.topics.put("t", 4)
    return world


def test_members_get_what_an_installed_assignor_gives_them():
    world = _world(all_to_the_first)
    a, b = (Consumer(world, name, "t", server_assignor="all_to_the_first") for name in "ab")
    for consumer in (a, b, a, b):
        assert consumer.beat() is ErrorCode.NONE
    assert (len(a.owned), b.owned) == (4, set())


@pytest.mark.parametrize(
    ("assignor", "reason"),
    [
        (all_to_all, "is given to two members"),
        (what_is_not, "has no partition 99"),
        (unknown_topic, "is not subscribed to topic"),
        (failing, "assignor failing: KeyError: 'x'"),
    ],
)
def test_what_is_no_assignment_refuses_the_member_and_changes_nothing(assignor, reason):
    world = _world(assignor)
    a = Consumer(world, "a", "t")
    a.beat()
    before = dict(world.group().members)
    sent = world.send(Consumer(world, "b", "t", server_assignor=assignor.__name__).request(), "b")
    assert sent.error is ErrorCode.UNKNOWN_SERVER_ERROR
    assert sent.response.error_message.startswith("Failed to compute a new target assignment for epoch 2: ")
    assert reason in sent.response.error_message
    assert world.group().members == before
    assert a.beat() is ErrorCode.NONE


def test_assignor_that_is_not_installed_is_none():
    assert parse_assignors("range,all_to_all") == ("range", "all_to_all")
    with pytest.raises(ValueError, match="nobody's"):
        parse_assignors("range,nobody's")

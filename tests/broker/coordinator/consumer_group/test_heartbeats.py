"""Members of consumer groups join, share partitions, leave, fall silent and come back."""

import pytest

from broker.common.errors import ErrorCode
from broker.coordinator.consumer_group.config import ConsumerGroupConfig
from broker.coordinator.consumer_group.member import MemberState
from tests.broker.coordinator.consumer_group.world import Consumer, ConsumerWorld


@pytest.fixture
def world():
    return ConsumerWorld()


def test_the_first_member_gets_everything_in_its_first_heartbeat(world):
    topic_id = world.topics.put("t", 3)
    consumer = Consumer(world, "a", "t")
    assert consumer.beat() is ErrorCode.NONE
    assert (consumer.epoch, consumer.partitions(topic_id)) == (1, [0, 1, 2])
    assert world.group().state.value == "Stable"


def test_member_that_joins_gets_what_the_other_gives_up_and_not_before(world):
    topic_id = world.topics.put("t", 4)
    a, b = Consumer(world, "a", "t"), Consumer(world, "b", "t")
    a.beat()
    b.beat()
    assert (b.epoch, b.owned) == (2, set())
    a.revokes = False
    a.beat()
    assert (a.epoch, world.group().members["a"].state) == (1, MemberState.UNREVOKED_PARTITIONS)
    b.beat()
    assert b.owned == set()
    a.owned = {(topic_id, 0), (topic_id, 1)}
    a.beat()
    assert a.epoch == 2
    b.beat()
    assert (a.partitions(topic_id), b.partitions(topic_id)) == ([0, 1], [2, 3])
    assert world.group().state.value == "Stable"


def test_what_a_member_leaves_the_others_get_with_their_next_heartbeat(world):
    topic_id = world.topics.put("t", 4)
    a, b = _two_members(world)
    assert b.leave() is ErrorCode.NONE
    a.beat()
    assert (a.epoch, a.partitions(topic_id)) == (3, [0, 1, 2, 3])
    assert list(world.group().members) == ["a"]


def test_silent_member_is_removed_after_a_session(world):
    topic_id = world.topics.put("t", 4)
    a, b = _two_members(world)
    for _ in range(9):
        world.advance(5_000)
        a.beat()
    assert a.partitions(topic_id) == [0, 1, 2, 3]
    assert b.beat() is ErrorCode.UNKNOWN_MEMBER_ID


def test_member_that_does_not_give_up_its_partitions_is_removed_after_its_rebalance_timeout(world):
    topic_id = world.topics.put("t", 4)
    a, b = Consumer(world, "a", "t"), Consumer(world, "b", "t")
    a.revokes = False
    for _ in range(13):
        a.beat()
        b.beat()
        world.advance(5_000)
    b.beat()
    assert b.partitions(topic_id) == [0, 1, 2, 3]
    assert a.beat() is ErrorCode.UNKNOWN_MEMBER_ID


def test_heartbeat_of_another_epoch_is_fenced(world):
    world.topics.put("t", 4)
    a, b = _two_members(world)
    assert a.beat(member_epoch=a.epoch + 1) is ErrorCode.FENCED_MEMBER_EPOCH
    assert (a.epoch, a.owned) == (0, set())
    assert b.beat(member_epoch=b.epoch - 1, topic_partitions=None) is ErrorCode.FENCED_MEMBER_EPOCH


def test_fenced_member_joins_again_with_its_id_and_keeps_its_partitions(world):
    topic_id = world.topics.put("t", 4)
    a, b = _two_members(world)
    a.beat(member_epoch=9)
    assert a.beat() is ErrorCode.NONE
    assert (a.epoch, a.partitions(topic_id)) == (2, [0, 1])
    assert b.beat() is ErrorCode.NONE


def test_previous_epoch_is_right_if_the_response_was_lost(world):
    topic_id = world.topics.put("t", 4)
    a, b = _two_members(world)
    b.leave()
    lost = a.request()
    world.send(lost, "a")
    assert world.send(lost, "a").error is ErrorCode.NONE
    stale = a.request(topic_partitions=None)
    assert world.send(stale, "a").error is ErrorCode.FENCED_MEMBER_EPOCH
    assert world.group().members["a"].epoch == 3
    assert a.partitions(topic_id) == [0, 1]


def test_a_heartbeat_that_changes_nothing_writes_nothing(world):
    world.topics.put("t", 4)
    a, _ = _two_members(world)
    written = len(world.log)
    assert a.beat() is ErrorCode.NONE
    assert a.beat(topic_partitions=None) is ErrorCode.NONE
    assert len(world.log) == written


class _LookedUpOnly(dict):
    """A dictionary that nobody may go through."""

    def _refuse(self, *_):
        raise AssertionError("all members were looked at")

    __iter__ = values = items = keys = _refuse


def test_a_heartbeat_that_changes_nothing_looks_at_no_other_member(world):
    world.topics.put("t", 4)
    a, _ = _two_members(world)
    group = world.group()
    group.members, group.targets = _LookedUpOnly(group.members), _LookedUpOnly(group.targets)
    assert a.beat() is ErrorCode.NONE


def test_response_names_the_partitions_only_when_they_change_or_everything_is_said(world):
    world.topics.put("t", 4)
    a, _ = _two_members(world)
    assert world.send(a.request(), "a").response.assignment is None
    full = a.request(subscribed_topic_names=["t"], rebalance_timeout_ms=60_000)
    assert world.send(full, "a").response.assignment is not None


# -- static members ----------------------------------------------------------------------------------------------------


def test_static_member_that_left_for_a_while_gets_its_partitions_back_under_a_new_id(world):
    topic_id = world.topics.put("t", 4)
    a, b = _two_members(world, instance_id="i")
    before = a.partitions(topic_id)
    assert a.leave(epoch=-2) is ErrorCode.NONE
    b.beat()
    assert len(b.partitions(topic_id)) == 2
    again = Consumer(world, "a2", "t", instance_id="i")
    assert again.beat() is ErrorCode.NONE
    assert (again.epoch, again.partitions(topic_id)) == (2, before)
    assert set(world.group().members) == {"a2", "b"}
    assert a.beat(member_epoch=2) is ErrorCode.FENCED_INSTANCE_ID


def test_static_member_that_does_not_come_back_within_a_session_is_removed(world):
    topic_id = world.topics.put("t", 4)
    a, b = _two_members(world, instance_id="i")
    a.leave(epoch=-2)
    for _ in range(10):
        world.advance(5_000)
        b.beat()
    assert b.partitions(topic_id) == [0, 1, 2, 3]


def test_instance_id_that_is_in_use_is_refused(world):
    world.topics.put("t", 4)
    _two_members(world, instance_id="i")
    assert Consumer(world, "other", "t", instance_id="i").beat() is ErrorCode.UNRELEASED_INSTANCE_ID


def test_unknown_instance_is_an_unknown_member(world):
    world.topics.put("t", 4)
    a, _ = _two_members(world)
    assert a.beat(instance_id="nobody") is ErrorCode.UNKNOWN_MEMBER_ID


# -- what the group is -------------------------------------------------------------------------------------------------


def test_new_partitions_are_assigned_with_the_next_heartbeats(world):
    topic_id = world.topics.put("t", 2)
    a, b = _two_members(world)
    world.topics.put("t", 4)
    for consumer in (a, b, a, b):
        consumer.beat()
    assert (len(a.partitions(topic_id)), len(b.partitions(topic_id))) == (2, 2)


def test_topics_that_nobody_reads_do_not_bother_the_group(world):
    world.topics.put("t", 2)
    a, _ = _two_members(world)
    world.topics.put("other", 4)
    epoch = world.group().epoch
    a.beat()
    assert world.group().epoch == epoch


def test_topic_that_is_deleted_is_given_up(world):
    world.topics.put("t", 2)
    other_id = world.topics.put("other", 2)
    a = Consumer(world, "a", "t", "other")
    a.beat()
    world.topics.delete("other")
    a.beat()
    a.beat()
    assert (a.partitions(other_id), world.group().state.value) == ([], "Stable")


def test_topic_that_comes_later_is_assigned(world):
    a = Consumer(world, "a", "t")
    a.beat()
    assert (a.epoch, a.owned) == (1, set())
    topic_id = world.topics.put("t", 2)
    a.beat()
    assert a.partitions(topic_id) == [0, 1]


def test_member_that_subscribes_to_another_topic_gives_the_first_up(world):
    topic_id, other_id = world.topics.put("t", 2), world.topics.put("other", 2)
    a = Consumer(world, "a", "t")
    a.beat()
    a.topics = ["other"]
    a.beat()
    assert (a.partitions(topic_id), a.partitions(other_id)) == ([], [])
    a.beat()
    assert (a.partitions(topic_id), a.partitions(other_id)) == ([], [0, 1])


def test_member_gets_the_topics_that_its_pattern_matches_and_those_that_come_later(world):
    eu, _ = world.topics.put("orders.eu", 2), world.topics.put("other", 2)
    a = Consumer(world, "a", subscribed_topic_names=None, subscribed_topic_regex="orders.*")
    a.beat()
    assert (a.partitions(eu), len(a.owned)) == ([0, 1], 2)
    us = world.topics.put("orders.us", 1)
    a.beat()
    assert (a.partitions(eu), a.partitions(us)) == ([0, 1], [0])
    assert world.group().is_subscribed("orders.us")
    world.restart()
    assert a.beat() is ErrorCode.NONE
    a.leave()
    assert world.group().patterns == {}


def test_pattern_is_matched_again_from_time_to_time_for_what_clients_may_see_by_then(world):
    orders = world.topics.put("orders", 1)
    world.hidden.add("orders")
    a = Consumer(world, "a", subscribed_topic_names=None, subscribed_topic_regex="orders.*")
    a.beat()
    a.beat()
    world.hidden.clear()
    interval_ms = ConsumerGroupConfig().group_consumer_regex_refresh_interval_ms
    for _ in range(interval_ms // 30_000 - 1):
        world.advance(30_000)
        a.beat()
    assert a.owned == set()
    world.advance(30_000)
    a.beat()
    a.beat()
    assert a.owned == {(orders, 0)}


def test_pattern_and_names_are_both_read(world):
    first, second = world.topics.put("orders", 1), world.topics.put("t", 1)
    a = Consumer(world, "a", "t", subscribed_topic_regex="o.*")
    b = Consumer(world, "b", subscribed_topic_names=None, subscribed_topic_regex="o.*")
    for consumer in (a, b, a, a, b):
        consumer.beat()
    assert (a.partitions(second), b.partitions(first)) == ([0], [0])
    a.fields["subscribed_topic_regex"] = ""
    a.beat()
    assert set(world.group().patterns) == {"o.*"}
    b.fields |= {"subscribed_topic_regex": "x.*"}
    b.beat()
    b.beat()
    assert (set(world.group().patterns), b.owned) == ({"x.*"}, set())


def test_pattern_that_is_none_is_refused_with_the_reason(world):
    a = Consumer(world, "a", subscribed_topic_names=None, subscribed_topic_regex="(a")
    response = world.send(a.request(), "a").response
    assert ErrorCode(response.error_code) is ErrorCode.INVALID_REGULAR_EXPRESSION
    assert response.error_message == "SubscribedTopicRegex `(a` is not a valid regular expression: missing ): (a."
    assert world.log == []


def test_most_members_choose_the_assignor(world):
    first, second = world.topics.put("t1", 3), world.topics.put("t2", 3)
    a = Consumer(world, "a", "t1", "t2", server_assignor="range")
    b = Consumer(world, "b", "t1", "t2", server_assignor="range")
    for consumer in (a, b, a, a):
        consumer.beat()
    assert (a.partitions(first), a.partitions(second)) == ([0, 1], [0, 1])
    assert world.describe_consumers().assignor_name == "range"


def test_members_that_come_within_the_interval_are_assigned_together():
    world = ConsumerWorld(consumer_config=ConsumerGroupConfig())
    topic_id = world.topics.put("t", 4)
    consumers = [Consumer(world, name, "t") for name in "abcd"]
    for consumer in consumers:
        consumer.beat()
    assert (world.group().epoch, world.group().assignment_epoch) == (4, 1)
    world.advance(1_000)
    assert world.group().assignment_epoch == 4
    for consumer in consumers * 3:
        consumer.beat()
    assert sorted(len(consumer.partitions(topic_id)) for consumer in consumers) == [1, 1, 1, 1]


# -- refusals ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"group_id": ""}, ErrorCode.INVALID_REQUEST),
        ({"member_id": ""}, ErrorCode.INVALID_REQUEST),
        ({"instance_id": ""}, ErrorCode.INVALID_REQUEST),
        ({"rack_id": ""}, ErrorCode.INVALID_REQUEST),
        ({"member_epoch": -3}, ErrorCode.INVALID_REQUEST),
        ({"member_epoch": -2}, ErrorCode.INVALID_REQUEST),
        ({"rebalance_timeout_ms": -1}, ErrorCode.INVALID_REQUEST),
        ({"topic_partitions": None}, ErrorCode.INVALID_REQUEST),
        ({"subscribed_topic_names": None}, ErrorCode.INVALID_REQUEST),
        ({"server_assignor": "mine"}, ErrorCode.UNSUPPORTED_ASSIGNOR),
        ({"member_epoch": 1}, ErrorCode.GROUP_ID_NOT_FOUND),
        ({"member_epoch": -1}, ErrorCode.GROUP_ID_NOT_FOUND),
        ({"member_id": "x" * 2_000}, ErrorCode.INVALID_REQUEST),
        ({"subscribed_topic_names": ["t" * 200 + str(n) for n in range(2_000)]}, ErrorCode.INVALID_REQUEST),
    ],
)
def test_heartbeats_that_say_too_little_or_too_much_are_refused(world, fields, error):
    assert Consumer(world, "a", "t").beat(**fields) is error
    assert world.log == []


def test_coordinator_makes_an_id_up_for_a_member_of_the_first_version(world):
    consumer = Consumer(world, "a", "t")
    assert consumer.beat(version=0, member_id="") is ErrorCode.NONE
    assert consumer.member_id in world.group().members


def test_full_group_takes_no_other_member():
    config = ConsumerGroupConfig(group_consumer_max_size=1, group_consumer_assignment_interval_ms=0)
    world = ConsumerWorld(consumer_config=config)
    a = Consumer(world, "a", "t")
    a.beat()
    assert Consumer(world, "b", "t").beat() is ErrorCode.GROUP_MAX_SIZE_REACHED
    assert a.beat() is ErrorCode.NONE


def test_failed_append_leaves_the_group_as_it_was(world):
    world.topics.put("t", 4)
    a, b = _two_members(world)
    state = _durable(world)
    world.append_error = ErrorCode.NOT_ENOUGH_REPLICAS
    assert Consumer(world, "c", "t").beat() is ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert _durable(world) == state
    world.topics.put("t", 8)
    world.append_error = ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert a.beat() is ErrorCode.NOT_COORDINATOR
    a.beat()
    b.beat()
    assert world.group().assignment_epoch == 3


def test_restart_by_replay_gives_the_same_group(world):
    world.topics.put("t", 4)
    a, b = _two_members(world, instance_id="i")
    Consumer(world, "c", "t").beat()
    state = _durable(world)
    world.restart()
    assert _durable(world) == state
    assert a.beat() is ErrorCode.NONE
    assert b.beat() is ErrorCode.NONE


def _two_members(world, **fields_of_first):
    a, b = Consumer(world, "a", "t", **fields_of_first), Consumer(world, "b", "t")
    for consumer in (a, b, a, a, b):  # a is told to give up, and says that it did
        assert consumer.beat() is ErrorCode.NONE
    assert len(a.owned) == len(b.owned) or not world.topics.named("t")
    return a, b


def _durable(world):
    group = world.group()
    return (group.epoch, group.metadata_hash, group.assignment_epoch, group.members, group.targets, group.patterns)

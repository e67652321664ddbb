"""One coordinator, two types of groups: a group id is of one of them, and its offsets are the same."""

import pytest

from broker.common.errors import ErrorCode
from broker.coordinator.group.config import GroupConfig
from broker.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from tests.broker.coordinator.consumer_group.world import Consumer, ConsumerWorld


@pytest.fixture
def world():
    world = ConsumerWorld()
    world.topics.put("t", 2)
    return world


def test_empty_classic_group_becomes_a_consumer_group_and_keeps_its_offsets(world):
    _run_classic(world)
    consumer = Consumer(world, "a", "t")
    assert consumer.beat() is ErrorCode.NONE
    assert _listed(world) == [("g", "consumer", "consumer", "Stable")]
    assert _fetched(world) == 7
    world.restart()
    assert _listed(world) == [("g", "consumer", "consumer", "Stable")]
    assert _fetched(world) == 7
    assert consumer.beat() is ErrorCode.NONE


def test_empty_consumer_group_becomes_a_classic_group_and_keeps_its_offsets(world):
    consumer = Consumer(world, "a", "t")
    consumer.beat()
    _commit(world, consumer, 5)
    consumer.leave()
    world.enter("g", "classic")
    assert [group[1:3] for group in _listed(world)] == [("consumer", "classic")]
    assert _fetched(world) == 5
    world.restart()
    assert world.group() is None


def test_tools_of_classic_groups_see_a_consumer_group_as_dead(world):
    Consumer(world, "a", "t").beat()
    assert world.describe("g").group_state == "Dead"
    described = world.describe_consumers()
    assert (described.group_state, described.group_epoch, described.assignment_epoch) == ("Stable", 1, 1)
    (member,) = described.members
    assert (member.member_id, member.client_id, member.client_host) == ("a", "a", "/127.0.0.1")
    assert (member.member_epoch, member.member_type, member.subscribed_topic_names) == (1, 1, ["t"])
    (topic,) = member.assignment.topic_partitions
    assert (topic.topic_name, topic.partitions) == ("t", [0, 1])
    assert member.target_assignment == member.assignment


def test_describing_a_group_that_is_none_says_so(world):
    world.enter("classic", "m")
    for group_id in ("classic", "nobody"):
        described = world.describe_consumers(group_id)
        assert ErrorCode(described.error_code) is ErrorCode.GROUP_ID_NOT_FOUND
        assert described.error_message == f"Group {group_id} not found."


def test_lists_are_of_the_types_and_states_asked_for(world):
    Consumer(world, "a", "t").beat()
    world.commit("simple", "-", {("t", 0): 1})
    assert _listed(world, types_filter=["Consumer"]) == [("g", "consumer", "consumer", "Stable")]
    assert _listed(world, types_filter=["classic"]) == [("simple", "", "classic", "Empty")]
    assert _listed(world, states_filter=["empty"]) == [("simple", "", "classic", "Empty")]


# -- offsets ----------------------------------------------------------------------------------------------------------


def test_members_commit_with_their_epoch(world):
    consumer = Consumer(world, "a", "t")
    consumer.beat()
    assert _commit(world, consumer, 5) is ErrorCode.NONE
    assert _commit(world, consumer, 6, generation_id_or_member_epoch=2) is ErrorCode.STALE_MEMBER_EPOCH
    assert _commit(world, consumer, 6, member_id="other") is ErrorCode.UNKNOWN_MEMBER_ID
    assert _commit(world, consumer, 6, generation_id_or_member_epoch=-1, member_id="") is ErrorCode.UNKNOWN_MEMBER_ID
    assert _commit(world, consumer, 6, version=8) is ErrorCode.UNSUPPORTED_VERSION
    assert _fetched(world) == 5


def test_commit_of_an_earlier_epoch_counts_for_partitions_that_the_member_has_had_since(world):
    a, b = Consumer(world, "a", "t"), Consumer(world, "b", "t")
    for consumer in (a, b, a, a, b):
        consumer.beat()
    (kept,) = {index for _, index in a.owned}
    assert a.epoch == 2
    fields = {"generation_id_or_member_epoch": 1}
    assert _commit(world, a, 6, partition=kept, **fields) is ErrorCode.NONE
    assert _commit(world, a, 6, partition=1 - kept, **fields) is ErrorCode.STALE_MEMBER_EPOCH
    assert _commit(world, b, 6, partition=1 - kept, **fields) is ErrorCode.STALE_MEMBER_EPOCH


def test_tools_commit_for_a_consumer_group_without_members(world):
    consumer = Consumer(world, "a", "t")
    consumer.beat()
    assert world.commit("g", "-", {("t", 0): 1}).errors == {("t", 0): ErrorCode.UNKNOWN_MEMBER_ID}
    consumer.leave()
    assert world.commit("g", "-", {("t", 0): 1}).errors == {("t", 0): ErrorCode.NONE}


def test_producers_that_name_no_member_commit_for_a_group_with_members(world):
    Consumer(world, "a", "t").beat()
    assert _txn_commit(world, -1, member_id="") is ErrorCode.NONE
    assert _txn_commit(world, -1) is ErrorCode.ILLEGAL_GENERATION


def test_producers_commit_for_members_with_their_epoch(world):
    consumer = Consumer(world, "a", "t")
    consumer.beat()
    assert _txn_commit(world, 1) is ErrorCode.NONE
    assert _txn_commit(world, 2) is ErrorCode.ILLEGAL_GENERATION
    assert _txn_commit(world, 1, member_id="other") is ErrorCode.UNKNOWN_MEMBER_ID


def test_offsets_are_fetched_with_the_member_s_epoch(world):
    consumer = Consumer(world, "a", "t")
    consumer.beat()
    _commit(world, consumer, 5)
    assert _fetch_error(world, "a", 1) is ErrorCode.NONE
    assert _fetch_error(world, "a", 0) is ErrorCode.STALE_MEMBER_EPOCH
    assert _fetch_error(world, "other", 1) is ErrorCode.UNKNOWN_MEMBER_ID
    assert _fetch_error(world, None, -1) is ErrorCode.NONE


# -- deletion ---------------------------------------------------------------------------------------------------------


def test_consumer_group_is_deleted_when_it_is_empty(world):
    consumer = Consumer(world, "a", "t")
    consumer.beat()
    _commit(world, consumer, 5)
    assert world.delete("g") is ErrorCode.NON_EMPTY_GROUP
    consumer.leave()
    assert world.delete("g") is ErrorCode.NONE
    assert _listed(world) == []
    world.restart()
    assert _listed(world) == []
    assert world.memory.bytes_held == 0


def test_offsets_of_subscribed_topics_are_not_deleted(world):
    consumer = Consumer(world, "a", "t")
    consumer.beat()
    _commit(world, consumer, 5)
    assert _delete_offsets(world) is ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
    consumer.topics = ["other"]
    consumer.beat()
    assert _delete_offsets(world) is ErrorCode.NONE


def test_empty_consumer_group_without_offsets_is_forgotten(world):
    consumer = Consumer(world, "a", "t")
    consumer.beat()
    consumer.leave()
    world.advance(GroupConfig().offsets_retention_check_interval_ms)
    assert _listed(world) == []
    assert world.memory.bytes_held == 0


def test_offsets_expire_when_no_member_is_subscribed(world):
    consumer = Consumer(world, "a", "t", group_id="g")
    consumer.beat()
    _commit(world, consumer, 5)
    consumer.leave()
    world.advance(GroupConfig().offsets_retention_minutes * 60_000 + 600_000)
    assert _listed(world) == []
    assert world.memory.bytes_held == 0


def _run_classic(world):
    world.stable_group("g", "classic")
    world.commit("g", "classic", {("t", 0): 7})
    world.leave("g", "classic")


def _listed(world, **filters):
    return [(g.group_id, g.protocol_type, g.group_type, g.group_state) for g in world.list_groups(**filters)]


def _commit(world, consumer, offset, partition=0, version=9, **fields):
    values = {"member_id": consumer.member_id, "generation_id_or_member_epoch": consumer.epoch} | fields
    sent = world.commit("g", consumer.name, {("t", partition): offset}, version, **values)
    return sent.errors["t", partition]


def _txn_commit(world, epoch, member_id="a"):
    sent = world.txn_commit("g", 1, {("t", 0): 5}, generation_id=epoch, member_id=member_id)
    return sent.errors["t", 0]


def _fetched(world):
    (group,) = world.fetch("g", {"t": [0]}).response.groups
    return group.topics[0].partitions[0].committed_offset


def _delete_offsets(world):
    response = world.delete_offsets("g", {"t": [0]}).response
    return ErrorCode(response.error_code or response.topics[0].partitions[0].error_code)


def _fetch_error(world, member_id, epoch):
    wanted = OffsetFetchRequestGroup(group_id="g", member_id=member_id, member_epoch=epoch, topics=None)
    (group,) = world.ask_for_offsets(OffsetFetchRequest(groups=[wanted])).response.groups
    assert bool(group.topics) == (group.error_code == 0)
    return ErrorCode(group.error_code)

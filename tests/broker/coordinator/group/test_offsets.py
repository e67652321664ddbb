import pytest

from broker.common.errors import ErrorCode
from broker.common.types import TopicPartition
from broker.coordinator.group.config import GroupConfig
from tests.broker.coordinator.group.world import WALL_AHEAD_MS, World

T0 = ("t", 0)


def offsets_of(world: World, group_id: str = "g", version: int = 9) -> dict:
    response = world.fetch(group_id, None, version).response
    topics = response.groups[0].topics if version >= 8 else response.topics
    return {
        (topic.name, partition.partition_index): partition.committed_offset
        for topic in topics
        for partition in topic.partitions
    }


@pytest.mark.parametrize("version", [1, 2, 5, 7, 8, 9])
def test_committed_offset_is_fetched_in_every_version(version: int):
    world = World()
    world.commit("g", "-", {T0: 42}, metadata="note")
    response = world.fetch("g", {"t": [0, 1]}, version).response
    (topic,) = response.groups[0].topics if version >= 8 else response.topics
    assert [(partition.committed_offset, partition.metadata) for partition in topic.partitions] == [
        (42, "note"),
        (-1, ""),
    ]


@pytest.mark.parametrize("version", [2, 7, 8, 9])
def test_null_topics_mean_every_partition_ever_committed(version: int):
    world = World()
    world.commit("g", "-", {T0: 1, ("t", 3): 2, ("u", 0): 3})
    assert offsets_of(world, version=version) == {T0: 1, ("t", 3): 2, ("u", 0): 3}
    assert offsets_of(world, "unheard-of", version) == {}


@pytest.mark.parametrize("version", range(2, 10))
def test_commit_of_every_version_is_answered_per_partition(version: int):
    assert World().commit("g", "-", {T0: 1}, version=version).errors == {T0: ErrorCode.NONE}


def test_null_metadata_is_kept_as_empty():
    world = World()
    world.commit("g", "-", {T0: 1}, metadata=None)
    assert world.fetch("g", {"t": [0]}).response.groups[0].topics[0].partitions[0].metadata == ""


def test_metadata_too_long_is_refused_for_its_partition_alone():
    world = World(GroupConfig(offset_metadata_max_bytes=4))
    assert world.commit("g", "-", {T0: 1}, metadata="12345").errors == {T0: ErrorCode.OFFSET_METADATA_TOO_LARGE}
    assert world.log == []
    assert world.commit("g", "-", {T0: 1}, metadata="1234").errors == {T0: ErrorCode.NONE}


def test_metadata_no_record_could_hold_is_refused_whatever_the_setting():
    world = World(GroupConfig(offset_metadata_max_bytes=2**31 - 1))
    errors = world.commit("g", "-", {T0: 1}, metadata="é" * 20_000).errors
    assert errors == {T0: ErrorCode.OFFSET_METADATA_TOO_LARGE}


def test_group_id_no_record_could_hold_is_refused():
    assert World().commit("g" * 40_000, "-", {T0: 1}).errors == {T0: ErrorCode.INVALID_GROUP_ID}


def test_topic_name_longer_than_any_topic_s_is_refused():
    assert World().commit("g", "-", {("t" * 250, 0): 1}).errors == {("t" * 250, 0): ErrorCode.INVALID_TOPIC_EXCEPTION}


@pytest.mark.parametrize(
    ("version", "expected"), [(8, ErrorCode.ILLEGAL_GENERATION), (9, ErrorCode.GROUP_ID_NOT_FOUND)]
)
def test_commit_with_a_generation_for_a_group_nobody_knows_is_refused(version, expected):
    sent = World().commit("g", "-", {T0: 1}, version=version, generation_id_or_member_epoch=1, member_id="m")
    assert sent.errors == {T0: expected}


def test_member_of_a_group_that_is_empty_now_is_unknown():
    world = World()
    world.stable_group("g", "a")
    world.leave("g", "a")
    assert world.commit("g", "a", {T0: 1}).errors == {T0: ErrorCode.UNKNOWN_MEMBER_ID}


def test_stranger_cannot_commit_over_the_heads_of_members():
    world = World()
    world.stable_group("g", "a")
    assert world.commit("g", "-", {T0: 1}).errors == {T0: ErrorCode.UNKNOWN_MEMBER_ID}
    assert world.commit("g", "-", {T0: 1}, member_id="x").errors == {T0: ErrorCode.UNKNOWN_MEMBER_ID}


@pytest.mark.parametrize("generation_id", [-1, 0, 2])
def test_member_of_another_generation_cannot_commit(generation_id: int):
    world = World()
    world.stable_group("g", "a")
    errors = world.commit("g", "a", {T0: 1}, generation_id_or_member_epoch=generation_id).errors
    assert errors == {T0: ErrorCode.ILLEGAL_GENERATION}


def test_commit_is_written_with_wall_time_and_counted_from_the_log():
    world = World()
    world.now_ms = 5_000
    world.commit("g", "-", {T0: 7})
    ((partition, committed),) = world.coordinator.offsets.of_group("g")
    assert partition == TopicPartition("t", 0)
    assert committed.commit_timestamp_ms == WALL_AHEAD_MS + 5_000


def test_retention_chosen_by_an_old_client_is_kept_with_its_offset():
    world = World()
    world.commit("g", "-", {T0: 7}, version=4, retention_time_ms=1_000)
    ((_, committed),) = world.coordinator.offsets.of_group("g")
    assert committed.expire_timestamp_ms == WALL_AHEAD_MS + 1_000


@pytest.mark.parametrize(("retention_ms", "expires_ms"), [(2**63 - 1, 2**63 - 1), (-(2**63), 0)])
def test_a_retention_that_leads_out_of_time_is_one_to_its_end(retention_ms, expires_ms):
    world = World()
    assert world.commit("g", "-", {T0: 7}, version=4, retention_time_ms=retention_ms).errors == {T0: ErrorCode.NONE}
    ((_, committed),) = world.coordinator.offsets.of_group("g")
    assert committed.expire_timestamp_ms == expires_ms


def test_commit_that_cannot_be_appended_changes_nothing():
    world = World()
    world.commit("g", "-", {T0: 1})
    for error, expected in {
        ErrorCode.NOT_ENOUGH_REPLICAS: ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_LEADER_OR_FOLLOWER: ErrorCode.NOT_COORDINATOR,
        ErrorCode.MESSAGE_TOO_LARGE: ErrorCode.INVALID_COMMIT_OFFSET_SIZE,
    }.items():
        world.append_error = error
        assert world.commit("g", "-", {T0: 2}).errors == {T0: expected}
    assert offsets_of(world) == {T0: 1}

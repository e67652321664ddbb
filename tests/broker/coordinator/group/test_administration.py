from broker.common.errors import ErrorCode
from tests.broker.coordinator.group.world import World


def test_unknown_group_is_described_as_dead():
    group = World().describe("g")
    assert (group.error_code, group.group_state, list(group.members)) == (ErrorCode.NONE, "Dead", [])


def test_stable_group_is_described_with_metadata_and_assignment():
    world = World()
    world.stable_group("g", "a", "b")
    group = world.describe("g")
    assert (group.group_state, group.protocol_type, group.protocol_data) == ("Stable", "consumer", "range")
    first = group.members[0]
    assert (first.member_id, first.client_id, first.client_host) == ("a-1", "a", "/127.0.0.1")
    assert (bytes(first.member_metadata), bytes(first.member_assignment)) == (b"a range", b"for a")


def test_group_in_a_rebalance_is_described_with_its_last_assignment_and_no_metadata():
    """As by Kafka: the tool shows during a rebalance who had what."""
    world = World()
    world.stable_group("g", "a", "b")
    world.join("g", "a")
    group = world.describe("g")
    assert (group.group_state, group.protocol_data) == ("PreparingRebalance", "")
    assert {bytes(member.member_assignment) for member in group.members} == {b"for a", b"for b"}
    assert {bytes(member.member_metadata) for member in group.members} == {b""}


def test_list_shows_only_the_states_and_types_asked_for():
    world = World()
    world.stable_group("busy", "a")
    world.commit("simple", "-", {("t", 0): 1})
    named = {group.group_id: (group.group_state, group.protocol_type) for group in world.list_groups()}
    assert named == {"busy": ("Stable", "consumer"), "simple": ("Empty", "")}
    assert [group.group_id for group in world.list_groups(states_filter=["stable"])] == ["busy"]
    assert [group.group_id for group in world.list_groups(types_filter=["Classic"])] == ["busy", "simple"]
    assert list(world.list_groups(types_filter=["consumer"])) == []


def test_group_with_members_cannot_be_deleted():
    world = World()
    world.stable_group("g", "a")
    assert world.delete("g") is ErrorCode.NON_EMPTY_GROUP
    assert world.delete("unheard-of") is ErrorCode.GROUP_ID_NOT_FOUND


def test_deleted_group_is_gone_after_a_restart_too():
    world = World()
    world.stable_group("g", "a")
    world.commit("g", "a", {("t", 0): 1, ("t", 1): 1})
    world.leave("g", "a")
    assert world.delete("g") is ErrorCode.NONE
    for _ in range(2):
        assert world.describe("g").group_state == "Dead"
        assert world.durable_state() == ({}, {})
        world.restart()


def test_delete_that_cannot_be_appended_deletes_nothing():
    world = World()
    world.commit("g", "-", {("t", 0): 1})
    world.append_error = ErrorCode.NOT_ENOUGH_REPLICAS
    assert world.delete("g") is ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert world.describe("g").group_state == "Empty"

import pytest

from broker.common.errors import ErrorCode
from broker.coordinator.group.config import NEW_MEMBER_JOIN_TIMEOUT_MS, PENDING_MEMBERS_MAX, GroupConfig
from tests.broker.coordinator.group.world import World


def test_join_with_an_empty_group_id_is_refused():
    assert World().join("", "a").error is ErrorCode.INVALID_GROUP_ID


@pytest.mark.parametrize("session_ms", [5_999, 1_800_001])
def test_session_timeout_outside_the_broker_s_range_is_refused(session_ms: int):
    world = World()
    assert world.join("g", "a", session_ms=session_ms).error is ErrorCode.INVALID_SESSION_TIMEOUT
    assert world.list_groups() == []


def test_names_that_no_record_could_hold_are_refused():
    world = World()
    too_long = "x" * 40_000
    assert world.join(too_long, "a").error is ErrorCode.INVALID_GROUP_ID
    assert world.join("g", "a", protocols=(too_long,)).error is ErrorCode.INVALID_REQUEST
    assert world.join("g", "a", instance_id=too_long).error is ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize("version", [4, 5, 9])
def test_new_dynamic_member_is_told_its_id_first(version: int):
    world = World()
    sent = world.join("g", "a", version=version)
    assert sent.error is ErrorCode.MEMBER_ID_REQUIRED
    assert sent.response.member_id == "a-1"
    assert world.join("g", "a", version=version).is_parked


@pytest.mark.parametrize("version", [0, 1, 2, 3])
def test_old_clients_become_members_with_their_first_join(version: int):
    assert World().join("g", "a", version=version).is_parked


@pytest.mark.parametrize("version", range(10))
def test_every_version_can_be_told_of_a_generation_and_of_an_error(version: int):
    world = World()
    sent = world.join("g", "a", version=version)
    sent = sent if sent.is_parked else world.join("g", "a", version=version)
    world.advance(3_000)
    assert sent.response.generation_id == 1
    assert world.join("g", "x", version=version, member_id="nobody").error is ErrorCode.UNKNOWN_MEMBER_ID


def test_unknown_member_id_in_an_unknown_group_creates_no_group():
    world = World()
    assert world.join("g", "a", member_id="nobody").error is ErrorCode.UNKNOWN_MEMBER_ID
    assert world.list_groups() == []


def test_client_with_a_very_long_name_gets_an_id_that_records_can_hold():
    world = World()
    world.seat("g", "n" * 32_000)
    assert len(world.join("g", "n" * 32_000).response.member_id) < 300


def test_ids_handed_out_are_limited():
    world = World()
    for _ in range(PENDING_MEMBERS_MAX):
        world.join("g", "a", member_id="")
    assert world.join("g", "a", member_id="").error is ErrorCode.GROUP_MAX_SIZE_REACHED


def test_group_of_nothing_but_an_expired_id_is_forgotten():
    world = World()
    world.join("g", "a")
    assert [group.group_id for group in world.list_groups()] == ["g"]
    world.advance(10_000)
    assert world.list_groups() == []
    assert world.coordinator._timers.next_deadline_ms() is None


def test_refused_join_leaves_no_group_behind():
    world = World()
    assert world.join("g", "a", protocols=()).error is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert world.join("g", "a", protocol_type="").error is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert world.list_groups() == []


def test_metadata_reaches_the_leader_byte_for_byte():
    world = World()
    blob = "\x00\x01\u00ff opaque"
    leader = world.enter("g", "a", metadata=blob, protocols=("x", "y"))
    world.enter("g", "b", metadata="other", protocols=("y", "x"))
    world.advance(6_000)
    metadata = {member.member_id: bytes(member.metadata).decode() for member in leader.response.members}
    assert metadata == {"a-1": blob, "b-1": "other"}


def test_initial_delay_is_extended_for_late_members_up_to_the_rebalance_timeout():
    world = World(GroupConfig(group_initial_rebalance_delay_ms=3_000))
    first = world.enter("g", "m0", rebalance_ms=8_000)
    for number in range(1, 4):
        world.advance(2_500)
        world.enter("g", f"m{number}", rebalance_ms=8_000)
        assert first.is_parked
    world.advance(499)
    assert first.is_parked
    world.advance(1)
    assert len(first.response.members) == 4


def test_without_initial_delay_the_first_generation_forms_at_once():
    world = World(GroupConfig(group_initial_rebalance_delay_ms=0))
    sent = world.enter("g", "a")
    world.advance(0)
    assert sent.response.generation_id == 1


def test_delay_is_for_empty_groups_only():
    world = World()
    world.stable_group("g", "a")
    world.enter("g", "b")
    assert world.join("g", "a").response.generation_id == 2


def test_new_member_that_never_hears_an_answer_is_dropped_after_five_minutes():
    world = World()
    world.stable_group("g", "a", session_ms=1_800_000, rebalance_ms=1_800_000)
    sent = world.enter("g", "b", rebalance_ms=1_800_000)
    world.advance(NEW_MEMBER_JOIN_TIMEOUT_MS)
    assert sent.error is ErrorCode.UNKNOWN_MEMBER_ID


def test_member_that_waits_to_join_does_not_lose_its_session():
    world = World()
    world.stable_group("g", "a", "b", session_ms=10_000, rebalance_ms=120_000)
    sent = world.join("g", "a", rebalance_ms=120_000)
    for _ in range(9):
        world.advance(9_000)
        assert world.heartbeat("g", "b").error is ErrorCode.REBALANCE_IN_PROGRESS
    assert sent.is_parked


def test_follower_with_nothing_new_is_told_the_generation_again():
    world = World()
    world.stable_group("g", "a", "b")
    sent = world.join("g", "b")
    assert (sent.response.generation_id, sent.response.members) == (1, [])
    assert world.describe("g").group_state == "Stable"


def test_follower_with_new_metadata_starts_a_rebalance():
    world = World()
    world.stable_group("g", "a", "b")
    assert world.join("g", "b", metadata="new topics").is_parked
    assert world.heartbeat("g", "a").error is ErrorCode.REBALANCE_IN_PROGRESS


def test_leader_that_joins_a_stable_group_starts_a_rebalance():
    world = World()
    world.stable_group("g", "a", "b")
    assert world.join("g", "a").is_parked


def test_lost_join_answer_is_repeated_to_leader_and_follower():
    world = World()
    world.enter("g", "a")
    world.enter("g", "b")
    world.advance(6_000)
    assert len(world.join("g", "a").response.members) == 2
    assert world.join("g", "b").response.members == []


def test_second_join_of_a_member_releases_its_first():
    world = World()
    first = world.enter("g", "a")
    second = world.join("g", "a")
    assert first.error is ErrorCode.REBALANCE_IN_PROGRESS
    world.advance(6_000)
    assert second.error is ErrorCode.NONE


def test_full_group_takes_no_new_member_but_keeps_its_own():
    world = World(GroupConfig(group_max_size=2))
    world.stable_group("g", "a", "b")
    assert world.join("g", "c").error is ErrorCode.GROUP_MAX_SIZE_REACHED
    assert world.join("g", "b").error is ErrorCode.NONE


def test_of_a_group_that_is_too_large_the_last_to_rejoin_goes():
    world = World()
    world.stable_group("g", "a", "b", "c")
    world.config = GroupConfig(group_max_size=2)
    world.restart()
    assert world.heartbeat("g", "a").error is ErrorCode.REBALANCE_IN_PROGRESS
    first = world.join("g", "c")
    world.join("g", "a")
    assert world.join("g", "b").error is ErrorCode.GROUP_MAX_SIZE_REACHED
    assert first.response.generation_id == 2


def test_full_group_lets_a_static_member_return():
    world = World(GroupConfig(group_max_size=1))
    world.stable_group("g", "a", instance_id="one")
    assert world.join("g", "a", member_id="").error is ErrorCode.NONE


@pytest.mark.parametrize(("version", "skips"), [(8, False), (9, True)])
def test_returning_static_leader_does_not_assign_again(version: int, skips: bool):
    world = World()
    world.stable_group("g", "a", instance_id="one")
    response = world.join("g", "a", member_id="", version=version).response
    assert response.skip_assignment is skips
    assert (response.leader == response.member_id) is skips
    assert bytes(world.sync("g", "a").response.assignment) == b"for a"


def test_static_member_that_returns_with_another_protocol_starts_a_rebalance():
    world = World()
    world.stable_group("g", "a", instance_id="one", protocols=("range", "sticky"))
    response = world.join("g", "a", member_id="", protocols=("sticky", "range")).response
    assert (response.generation_id, response.protocol_name, response.skip_assignment) == (2, "sticky", False)


def test_what_a_member_used_to_support_does_not_bind_it():
    world = World()
    world.stable_group("g", "a", protocols=("sticky",))
    assert world.join("g", "a", protocols=("range",)).response.protocol_name == "range"
    world.stable_group("h", "a", instance_id="one", protocols=("sticky",))
    assert world.join("h", "a", member_id="", protocols=("range",)).response.protocol_name == "range"


def test_member_must_still_share_a_protocol_with_the_others():
    world = World()
    world.stable_group("g", "a", "b", protocols=("sticky", "range"))
    assert world.join("g", "a", protocols=("cooperative",)).error is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert world.join("g", "a", protocols=()).error is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert world.describe("g").group_state == "Stable"


def test_former_self_of_a_static_member_is_fenced_everywhere():
    world = World()
    world.stable_group("g", "a", instance_id="one")
    world.join("g", "a", member_id="")
    former = {"member_id": "one-1"}
    assert world.heartbeat("g", "a", **former).error is ErrorCode.FENCED_INSTANCE_ID
    assert world.sync("g", "a", **former).error is ErrorCode.FENCED_INSTANCE_ID
    assert world.join("g", "a", **former).error is ErrorCode.FENCED_INSTANCE_ID
    assert world.commit("g", "a", {("t", 0): 1}, **former).errors == {("t", 0): ErrorCode.FENCED_INSTANCE_ID}


def test_static_member_s_old_place_stands_if_the_new_one_cannot_be_written():
    world = World()
    world.stable_group("g", "a", instance_id="one")
    before = world.durable_state()
    world.append_error = ErrorCode.NOT_ENOUGH_REPLICAS
    assert world.join("g", "a", member_id="").error is ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert world.durable_state() == before
    assert world.heartbeat("g", "a", member_id="one-1").error is ErrorCode.NONE

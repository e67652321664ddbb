import pytest

from broker.common.errors import ErrorCode
from broker.common.limits import THINGS_IN_A_TURN
from broker.protocol.messages.leave_group import MemberIdentity
from tests.broker.coordinator.group.world import World


@pytest.fixture
def world() -> World:
    """A stable group of three; a leads."""
    world = World()
    world.stable_group("g", "a", "b", "c")
    return world


def test_requests_for_a_group_nobody_knows_are_answered_unknown_member():
    world = World()
    assert world.heartbeat("g", "a").error is ErrorCode.UNKNOWN_MEMBER_ID
    assert world.sync("g", "a").error is ErrorCode.UNKNOWN_MEMBER_ID
    (result,) = world.leave("g", "a").response.members
    assert result.error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_requests_without_a_group_id_are_refused():
    world = World()
    assert world.heartbeat("", "a").error is ErrorCode.INVALID_GROUP_ID
    assert world.sync("", "a").error is ErrorCode.INVALID_GROUP_ID
    assert world.leave("", "a").error is ErrorCode.INVALID_GROUP_ID


@pytest.mark.parametrize("generation_id", [-1, 0, 2])
def test_generation_that_is_not_the_group_s_is_illegal(world: World, generation_id: int):
    assert world.heartbeat("g", "a", generation_id=generation_id).error is ErrorCode.ILLEGAL_GENERATION
    assert world.sync("g", "a", generation_id=generation_id).error is ErrorCode.ILLEGAL_GENERATION


def test_instance_id_nobody_holds_is_unknown(world: World):
    assert world.heartbeat("g", "a", group_instance_id="one").error is ErrorCode.UNKNOWN_MEMBER_ID


def test_sync_names_the_protocol_the_member_joined_with(world: World):
    assert world.sync("g", "b", protocol_name="sticky").error is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert world.sync("g", "b", protocol_type="connect").error is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    response = world.sync("g", "b", protocol_name="range", protocol_type="consumer").response
    assert (response.protocol_name, response.protocol_type) == ("range", "consumer")


def test_members_the_leader_forgets_get_an_empty_assignment():
    world = World()
    world.enter("g", "a")
    world.enter("g", "b")
    world.advance(6_000)
    world.sync("g", "a", {"a": "everything"})
    assert bytes(world.sync("g", "b").response.assignment) == b""


def test_only_the_leader_s_assignment_counts():
    world = World()
    world.enter("g", "a")
    world.enter("g", "b")
    world.advance(6_000)
    sent = world.sync("g", "b", {"a": "mine", "b": "mine"})
    assert sent.is_parked
    world.sync("g", "a", {"a": "1", "b": "2"})
    assert bytes(sent.response.assignment) == b"2"


def test_second_sync_of_a_member_releases_its_first():
    world = World()
    world.enter("g", "a")
    world.enter("g", "b")
    world.advance(6_000)
    first, second = world.sync("g", "b"), world.sync("g", "b")
    assert first.error is ErrorCode.REBALANCE_IN_PROGRESS
    assert second.is_parked


def test_heartbeat_keeps_the_session_alive(world: World):
    for _ in range(5):
        world.advance(9_999)
        assert world.heartbeat("g", "a").error in (ErrorCode.NONE, ErrorCode.REBALANCE_IN_PROGRESS)


def test_sync_to_a_settled_group_keeps_the_session_alive():
    """Who finds a new coordinator late has joined and synced, and nothing else, when its session would be over."""
    world = World()
    world.stable_group("g", "a", session_ms=10_000)
    for _ in range(5):
        world.advance(9_999)
        assert world.sync("g", "a").error is ErrorCode.NONE


def test_a_follower_that_joins_a_settled_group_again_keeps_its_session_alive():
    """It is answered as the member it is: who has just heard that must not be expelled in the same moment."""
    world = World()
    world.stable_group("g", "a", "b", session_ms=10_000)
    for _ in range(5):
        world.advance(5_000)
        world.heartbeat("g", "a")
        world.advance(4_999)
        world.heartbeat("g", "a")
        assert world.join("g", "b", session_ms=10_000).error is ErrorCode.NONE


def test_commit_keeps_the_session_alive(world: World):
    for _ in range(5):
        world.advance(9_999)
        world.commit("g", "a", {("t", 0): 1})
    assert world.heartbeat("g", "a").error is not ErrorCode.UNKNOWN_MEMBER_ID


def test_heartbeat_during_a_rebalance_asks_to_rejoin_and_keeps_the_session(world: World):
    world.join("g", "a")
    for _ in range(3):
        world.advance(9_000)
        assert world.heartbeat("g", "b").error is ErrorCode.REBALANCE_IN_PROGRESS


def test_sync_during_a_rebalance_is_told_to_join(world: World):
    world.join("g", "a")
    assert world.sync("g", "b").error is ErrorCode.REBALANCE_IN_PROGRESS


@pytest.mark.parametrize("version", [0, 2])
def test_old_leave_has_one_error_for_its_one_member(world: World, version: int):
    assert world.leave("g", "b", version=version).error is ErrorCode.NONE
    assert world.leave("g", "b", version=version).error is ErrorCode.UNKNOWN_MEMBER_ID


def test_many_leave_with_one_rebalance(world: World):
    response = world.leave("g", "b", "nobody", "c").response
    assert [member.error_code for member in response.members] == [0, ErrorCode.UNKNOWN_MEMBER_ID, 0]
    assert world.join("g", "a").response.generation_id == 2


def test_administrator_removes_a_static_member_by_its_instance_id_alone():
    world = World()
    world.stable_group("g", "a", instance_id="one")
    response = world.leave_as("g", [MemberIdentity(member_id="", group_instance_id="one")]).response
    assert response.members[0].error_code == ErrorCode.NONE
    assert world.describe("g").group_state == "Empty"


def test_leave_by_a_former_self_is_fenced():
    world = World()
    world.stable_group("g", "a", instance_id="one")
    response = world.leave_as("g", [MemberIdentity(member_id="x", group_instance_id="one")]).response
    assert response.members[0].error_code == ErrorCode.FENCED_INSTANCE_ID


def test_giving_back_an_id_not_used_yet_disturbs_nobody(world: World):
    world.join("g", "d")
    assert world.leave("g", "d").response.members[0].error_code == ErrorCode.NONE
    assert world.describe("g").group_state == "Stable"


def test_member_that_leaves_while_it_waits_is_answered(world: World):
    sent = world.join("g", "b", metadata="changed")
    world.leave("g", "b")
    assert sent.error is ErrorCode.UNKNOWN_MEMBER_ID


def test_rebalance_goes_on_when_the_last_missing_member_leaves(world: World):
    first, second = world.join("g", "a"), world.join("g", "b")
    assert first.is_parked
    world.leave("g", "c")
    assert (first.error, second.error) == (ErrorCode.NONE, ErrorCode.NONE)


def test_deadlines_of_the_same_moment_do_not_undo_each_other():
    """The rebalance timeout forms a generation in the moment in which the old session of its member would be over."""
    world = World()
    world.stable_group("g", "a", "b", session_ms=10_000, rebalance_ms=20_000)
    sent = world.join("g", "a", rebalance_ms=20_000)
    for _ in range(3):
        world.advance(5_000)
        world.heartbeat("g", "b")
    world.advance(5_000)
    assert sent.response.generation_id == 2
    assert world.heartbeat("g", "a").error is ErrorCode.NONE


def test_static_members_that_are_all_away_keep_their_places_until_their_sessions_end():
    world = World()
    timeouts = {"session_ms": 60_000, "rebalance_ms": 20_000}
    world.join("g", "a", instance_id="one", **timeouts)
    world.join("g", "b", instance_id="two", **timeouts)
    world.advance(6_000)
    world.sync("g", "a")
    world.sync("g", "b")
    world.hang_up(world.join("g", "a", **timeouts))
    world.advance(59_000)
    assert world.describe("g").group_state == "PreparingRebalance"
    world.advance(61_000)
    assert world.describe("g").group_state == "Empty"


def test_a_tick_deals_with_a_turn_s_worth_of_sessions_and_leaves_the_others_due():
    world = World()
    for number in range(2 * THINGS_IN_A_TURN):
        world.join(f"g-{number}", "a", session_ms=10_000)
    now_ms = world.now_ms + 60_000
    ticks = 0
    while (deadline_ms := world.coordinator.next_deadline_ms()) is not None and deadline_ms <= now_ms:
        before = len(world.coordinator.groups)
        world.coordinator.tick(now_ms)
        assert before - len(world.coordinator.groups) <= THINGS_IN_A_TURN
        ticks += 1
        assert ticks < 100
    assert ticks > 1


def test_of_many_members_that_did_not_rejoin_a_few_are_named():
    """A thousand lines of the log would keep the loop for as long as the rebalance."""
    world = World()
    timeouts = {"session_ms": 60_000, "rebalance_ms": 20_000}
    world.stable_group("g", *(f"m-{number}" for number in range(30)), **timeouts)
    world.enter("g", "late", **timeouts)
    world.advance(21_000)
    events = [note.event for outcome in world.outcomes for note in outcome.notes if "did not rejoin" in note.event]
    assert events == ["member did not rejoin"] * 5 + ["more did not rejoin"]

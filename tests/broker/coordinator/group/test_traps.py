"""The traps about groups (`correctness.md` 25 to 28), each told whole; 24, 29 and 30 have tests where their code is."""

import pytest

from broker.common.errors import ErrorCode
from broker.coordinator.group.states import GroupState
from tests.broker.coordinator.group.world import World

T0 = ("t", 0)


@pytest.fixture
def world() -> World:
    world = World()
    world.stable_group("g", "a", "b", session_ms=10_000, rebalance_ms=60_000)
    return world


def state_of(world: World) -> GroupState:
    return world.coordinator.groups["g"].state


def test_trap_25_client_that_loses_its_first_answer_leaves_no_second_self_behind():
    world = World()
    for _ in range(3):  # the id never arrives, and the client asks again
        sent = world.join("g", "a", member_id="")
        assert sent.error is ErrorCode.MEMBER_ID_REQUIRED
        assert sent.response.member_id
    assert world.coordinator.groups["g"].members == {}
    assert world.join("g", "a").is_parked
    world.advance(11_000)
    assert len(world.coordinator.groups["g"].members) == 1
    assert not world.coordinator.groups["g"].pending_joins


def test_trap_25_member_is_waited_for_longer_than_it_may_be_silent(world: World):
    joined = world.enter("g", "c", rebalance_ms=60_000)
    for _ in range(5):
        world.advance(8_000)
        assert world.heartbeat("g", "a").error is ErrorCode.REBALANCE_IN_PROGRESS
        world.heartbeat("g", "b")
    assert joined.is_parked
    assert set(world.coordinator.groups["g"].members) == {"a-1", "b-1", "c-1"}
    world.advance(20_000)
    assert joined.error is ErrorCode.NONE


def test_trap_25_only_an_empty_group_waits_for_more_members(world: World):
    delayed = World()
    first = delayed.enter("g", "a")
    delayed.advance(2_999)
    assert first.is_parked
    delayed.advance(1)
    assert first.error is ErrorCode.NONE
    newcomer = world.enter("g", "c")
    world.join("g", "a")
    world.join("g", "b")
    assert newcomer.error is ErrorCode.NONE


@pytest.mark.parametrize("ask", [World.heartbeat, World.sync])
def test_trap_26_member_id_counts_before_generation(world: World, ask):
    assert ask(world, "g", "a", member_id="x", generation_id=99).error is ErrorCode.UNKNOWN_MEMBER_ID
    assert ask(world, "g", "a", generation_id=99).error is ErrorCode.ILLEGAL_GENERATION
    assert ask(world, "g", "a").error is ErrorCode.NONE


def test_trap_26_commit_names_member_and_generation(world: World):
    def commit(**fields) -> ErrorCode:
        return world.commit("g", "a", {T0: 1}, **fields).errors[T0]

    assert commit(member_id="x") is ErrorCode.UNKNOWN_MEMBER_ID
    assert commit(generation_id_or_member_epoch=0) is ErrorCode.ILLEGAL_GENERATION
    assert commit(generation_id_or_member_epoch=-1, member_id="") is ErrorCode.UNKNOWN_MEMBER_ID
    assert commit() is ErrorCode.NONE


def test_trap_26_what_was_read_before_a_rebalance_is_committed_while_it_prepares_and_not_later(world: World):
    world.enter("g", "c")
    assert state_of(world) is GroupState.PREPARING_REBALANCE
    assert world.commit("g", "a", {T0: 1}).errors == {T0: ErrorCode.NONE}
    stale_id, stale_generation = world.seat("g", "b").member_id, world.seat("g", "b").generation_id
    world.join("g", "a")
    world.join("g", "b")
    assert state_of(world) is GroupState.COMPLETING_REBALANCE
    assert world.commit("g", "a", {T0: 2}).errors == {T0: ErrorCode.REBALANCE_IN_PROGRESS}
    late = world.commit("g", "b", {T0: 2}, member_id=stale_id, generation_id_or_member_epoch=stale_generation)
    assert late.errors == {T0: ErrorCode.ILLEGAL_GENERATION}


def test_trap_26_simple_consumer_commits_only_while_nobody_is_in_the_group(world: World):
    assert world.commit("h", "-", {T0: 1}).errors == {T0: ErrorCode.NONE}
    assert world.commit("g", "-", {T0: 1}).errors == {T0: ErrorCode.UNKNOWN_MEMBER_ID}
    world.leave("g", "a", "b")
    assert world.commit("g", "-", {T0: 1}).errors == {T0: ErrorCode.NONE}


def static_group() -> World:
    world = World()
    for name in ("a", "b"):
        world.join("g", name, instance_id=f"instance-{name}", session_ms=30_000)
    world.advance(6_000)
    world.sync("g", "a", {"a": "for a", "b": "for b"})
    world.sync("g", "b")
    return world


def test_trap_27_static_member_returns_under_a_new_id_without_a_rebalance():
    world = static_group()
    generation_id, former = world.seat("g", "b").generation_id, world.seat("g", "b").member_id
    returned = world.join("g", "b", member_id="", session_ms=30_000)
    assert returned.error is ErrorCode.NONE
    assert returned.response.generation_id == generation_id
    assert returned.response.member_id != former
    assert state_of(world) is GroupState.STABLE
    assert bytes(world.sync("g", "b").response.assignment) == b"for b"
    for ask in (world.heartbeat, world.sync):
        assert ask("g", "b", member_id=former).error is ErrorCode.FENCED_INSTANCE_ID
    assert world.commit("g", "b", {T0: 1}, member_id=former).errors == {T0: ErrorCode.FENCED_INSTANCE_ID}


@pytest.mark.parametrize(("version", "skips"), [(8, False), (9, True)])
def test_trap_27_returning_leader_is_told_not_to_assign_again(version: int, skips: bool):
    world = static_group()
    former = world.seat("g", "a").member_id
    response = world.join("g", "a", member_id="", session_ms=30_000, version=version).response
    assert response.skip_assignment is skips
    assert response.leader == (response.member_id if skips else former)
    assert len(response.members) == (2 if skips else 0)


def test_trap_27_static_member_stays_through_silence_shorter_than_its_session_and_no_longer():
    world = static_group()
    for _ in range(3):
        world.advance(9_000)
        world.heartbeat("g", "a")
    assert len(world.coordinator.groups["g"].members) == 2
    world.advance(4_000)
    assert len(world.coordinator.groups["g"].members) == 1


def test_trap_28_protocols_are_intersected_and_metadata_reaches_the_leader_byte_for_byte():
    world = World()
    bytes_of_a, bytes_of_b = bytes(range(256)), b"\xff\x00\x01not a subscription"
    world.enter("g", "a", protocols=("cooperative-sticky", "range"), metadata=bytes_of_a)
    leader = world.coordinator.groups["g"].awaiting_join["a-1"].token
    world.enter("g", "b", protocols=("range", "cooperative-sticky"), metadata=bytes_of_b)
    world.advance(6_000)
    response = world.sent[leader].response
    assert response.protocol_name in {"cooperative-sticky", "range"}
    assert {member.member_id: bytes(member.metadata) for member in response.members} == {
        "a-1": bytes_of_a,
        "b-1": bytes_of_b,
    }
    assert world.enter_refused("g", "c", protocols=("roundrobin",)) is ErrorCode.INCONSISTENT_GROUP_PROTOCOL


def test_trap_28_other_protocol_types_are_carried_not_read():
    world = World()
    world.stable_group("g", "w1", "w2", protocol_type="connect", protocols=("sessioned",), metadata=b"\x00\x02url")
    described = world.describe("g")
    assert (described.group_state, described.protocol_type, described.protocol_data) == (
        "Stable",
        "connect",
        "sessioned",
    )
    assert [bytes(member.member_metadata) for member in described.members] == [b"\x00\x02url"] * 2
    assert world.enter_refused("g", "c", protocols=("sessioned",)) is ErrorCode.INCONSISTENT_GROUP_PROTOCOL

"""One client that makes a broker's groups hold all they may takes nothing from the others (finding H4)."""

import pytest

from broker.common.errors import ErrorCode
from broker.common.limits import REFUSALS_LOGGED_EVERY_S
from broker.common.shared_budget import ANONYMOUS, REFUSED, Owner
from broker.coordinator.group.memory import GroupMemory
from tests.broker.coordinator.group.test_memory import held_by
from tests.broker.coordinator.group.world import WALL_AHEAD_MS, World

T0, U0 = ("t", 0), ("u", 0)
GREEDY = Owner(ANONYMOUS, "/10.0.0.66")
OTHER = Owner(ANONYMOUS, "/10.0.0.7")


def new_world() -> World:
    return World(memory=GroupMemory(1_000_000, 1_000_000, 1_000_000))


def flood(world: World, owner: Owner = GREEDY, prefix: str = "made-up") -> int:
    """How many groups the client made up until a commit was refused."""
    before, world.speaker = world.speaker, owner
    for number in range(1_000):
        answer = world.commit(f"{prefix}-{number}", "-", {T0: number}, metadata="x" * 4_000)
        if answer.errors == {T0: ErrorCode.POLICY_VIOLATION}:
            world.speaker = before
            return number
        assert answer.errors == {T0: ErrorCode.NONE}
    raise AssertionError("nothing bounds the flood")


def all_is_well_with(world: World, group: str, first: str, second: str) -> None:
    """The group of two rebalances when a third member comes, and commits for a partition that is new."""
    world.enter(group, "third")
    for name in (first, second):
        world.join(group, name)
    answer = world.sync(group, first, {first: "much more than before", second: "more", "third": "something"})
    assert answer.error is ErrorCode.NONE
    assert world.sync(group, second).error is ErrorCode.NONE
    assert world.commit(group, first, {T0: 5, U0: 7}, metadata="as usual").errors == {
        T0: ErrorCode.NONE, U0: ErrorCode.NONE,
    }  # fmt: skip


@pytest.mark.parametrize("restarts", [False, True])
@pytest.mark.parametrize("owner", [OTHER, GREEDY], ids=["another address", "the same address"])
def test_groups_with_members_come_and_go_on_whatever_offsets_a_client_has_stored(owner, restarts):
    world = new_world()
    world.speaker = owner
    world.stable_group("there", "a", "b")
    flood(world)
    if restarts:
        world.restart()
        flood(world, prefix="made up again")
    all_is_well_with(world, "there", "a", "b")
    world.stable_group("new", "c", "d")
    all_is_well_with(world, "new", "c", "d")


def test_simple_consumers_of_other_clients_commit_on():
    world = new_world()
    flood(world)
    world.speaker = OTHER
    assert world.commit("mine", "-", {T0: 1, U0: 1}, metadata="x" * 4_000).errors == {
        T0: ErrorCode.NONE, U0: ErrorCode.NONE,
    }  # fmt: skip


def test_another_principal_at_the_same_address_is_another_client():
    world = new_world()
    flood(world, Owner("User:greedy", "/10.0.0.66"))
    world.speaker = Owner("User:calm", "/10.0.0.66")
    assert world.commit("mine", "-", {T0: 1}).errors == {T0: ErrorCode.NONE}


def test_one_principal_has_a_share_from_all_its_addresses_together():
    world = new_world()
    for host in range(40):
        flood(world, Owner("User:greedy", f"/10.0.1.{host}"), prefix=f"from-{host}")
    world.speaker = Owner("User:calm", "/10.0.1.1")
    assert flood(world, world.speaker, prefix="calm") > 2


def test_no_acknowledged_offset_goes_and_what_a_greedy_client_has_goes_on():
    world = new_world()
    count = flood(world)
    world.speaker = GREEDY
    assert world.commit("made-up-0", "-", {T0: 77}, metadata="x" * 4_000).errors == {T0: ErrorCode.NONE}
    for number in range(1, count):
        ((partition, committed),) = world.coordinator.offsets.of_group(f"made-up-{number}")
        assert (tuple(partition), committed.offset) == (T0, number)


def test_deleting_groups_makes_room_at_once():
    world = new_world()
    count = flood(world)
    for number in range(count):
        assert world.delete(f"made-up-{number}") is ErrorCode.NONE
    assert world.memory.bytes_held == 0
    assert flood(world) == count


def test_a_client_that_floods_joins_leaves_room_for_others_and_for_rebalances_there_are():
    world = new_world()
    world.speaker = GREEDY
    world.stable_group("there", "a", "b")
    number = 0
    while world.join(f"made-up-{number}", "x", version=3, metadata=b"m" * 4_000).is_parked:
        number += 1
        assert number < 1_000
    world.join("there", "a")
    world.join("there", "b")
    assert world.sync("there", "a", {"a": "much more than before", "b": "more"}).error is ErrorCode.NONE
    world.speaker = OTHER
    world.stable_group("new", "c", "d")


def test_offsets_that_members_leave_behind_do_not_refuse_joins():
    """Members join, commit and leave: what stays is stored offsets."""
    world = World(memory=GroupMemory(200_000, 60_000, 60_000))
    world.speaker = GREEDY
    number = 0
    while True:
        world.stable_group(f"made-up-{number}", "x")
        answer = world.commit(f"made-up-{number}", "x", {T0: 1}, metadata="x" * 4_000)
        world.leave(f"made-up-{number}", "x")
        if answer.errors != {T0: ErrorCode.NONE}:
            break
        number += 1
    world.stable_group("last", "y")
    assert world.memory.members.held == held_by_members(world)


@pytest.mark.parametrize("restarts", [False, True])
def test_a_group_that_its_members_have_left_is_still_theirs(restarts):
    """Or a client that joins and leaves would fill what others need, as no client's."""
    world = new_world()
    world.speaker = GREEDY
    world.stable_group("g", "x")
    world.leave("g", "x")
    if restarts:
        world.restart()
    assert world.memory.members.held_by(GREEDY) == world.memory.bytes_held == held_by(world) > 0
    world.commit("g", "-", {T0: 1})
    assert world.memory.members.held == 0
    assert world.memory.group_offsets.held_by(GREEDY) == world.memory.bytes_held == held_by(world) > 0


def held_by_members(world: World) -> int:
    return held_by(world) - world.memory.group_offsets.held - world.memory.simple_offsets.held


def test_offsets_of_a_simple_group_that_gets_members_are_counted_as_theirs():
    world = new_world()
    world.commit("g", "-", {T0: 1}, metadata="x" * 1_000)
    assert world.memory.simple_offsets.held > 1_000
    world.stable_group("g", "a")
    world.commit("g", "a", {T0: 2}, metadata="")
    assert (world.memory.simple_offsets.held, world.memory.group_offsets.held > 0) == (0, True)
    world.restart()
    assert (world.memory.simple_offsets.held, world.memory.group_offsets.held > 0) == (0, True)


def test_a_commit_that_could_not_be_appended_is_counted_for_no_client():
    world = new_world()
    world.speaker, world.append_error = GREEDY, ErrorCode.NOT_ENOUGH_REPLICAS
    world.commit("g", "-", {T0: 1})
    assert (world.memory.bytes_held, world.memory.simple_offsets.held_by(GREEDY)) == (0, 0)


def test_the_log_warns_who_holds_how_much_but_not_of_each_refusal():
    world = new_world()
    flood(world)
    world.outcomes.clear()
    world.now_ms += int(REFUSALS_LOGGED_EVERY_S * 1_000)
    for _ in range(50):
        flood(world)
    notes = [note for outcome in world.outcomes for note in outcome.notes if note.event == REFUSED]
    assert len(notes) == 1
    assert notes[0].is_warning
    facts = notes[0].facts
    assert (facts["principal"], facts["address"]) == GREEDY
    assert (facts["of"], facts["held"]) == ("simple offsets", world.memory.simple_offsets.held_by(GREEDY))
    assert "delete groups" in facts["hint"]


def test_refusals_are_counted():
    world = new_world()
    flood(world)
    flood(world)
    assert world.memory.simple_offsets.refused == 2
    assert world.memory.simple_offsets.refused_at_ms == WALL_AHEAD_MS + world.now_ms

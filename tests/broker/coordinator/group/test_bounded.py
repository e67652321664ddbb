"""Whatever clients send, the groups of a broker hold no more than their budgets, and a newcomer is served."""

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker.common.errors import ErrorCode
from broker.common.shared_budget import ANONYMOUS, Owner
from broker.coordinator.group.memory import GroupMemory
from tests.broker.coordinator.group.test_memory import held_by
from tests.broker.coordinator.group.world import World
from tests.examples import examples

SIZE = 1_200_000  # the reserve is enough for the floors of 18 clients
T0 = ("t", 0)
GREEDY = Owner(ANONYMOUS, "/10.0.0.66")
LONG = "x" * 4_000


def new_world(owner: Owner = GREEDY) -> World:
    world = World(memory=GroupMemory(SIZE, SIZE, SIZE))
    world.speaker = owner
    return world


def until_refused(attempt) -> Iterator[int]:
    """The numbers of the attempts that were admitted."""
    for number in range(2_000):
        if not attempt(number):
            return
        yield number
    raise AssertionError("nothing bounds the client")


def commits(world: World, group: str, metadata: str = LONG) -> bool:
    return world.commit(group, "-", {T0: 1}, metadata=metadata).errors == {T0: ErrorCode.NONE}


def test_joins_to_groups_without_members_do_not_move_their_offsets_where_there_is_no_room():
    world = new_world()
    for flood in range(6):
        groups = [f"{flood}-{number}" for number in until_refused(lambda n, f=flood: commits(world, f"{f}-{n}"))]
        for group in groups:
            world.join(group, "x", version=3)
            world.advance(3_000)
            world.sync(group, "x", {"x": "all"})
            world.leave(group, "x")
    for name, budget in world.memory.budgets():
        assert budget.held <= budget.size, name
    world.speaker = Owner(ANONYMOUS, "/10.0.0.7")
    world.stable_group("calm", "a", "b")
    assert world.commit("calm", "a", {T0: 1}).errors == {T0: ErrorCode.NONE}


def test_clients_that_join_and_leave_again_do_not_fill_what_stored_offsets_need():
    world = new_world()

    def comes_and_goes(number: int) -> bool:
        if world.join(f"g-{number}", "x", version=3).error is not None:
            return False
        world.advance(3_000)
        world.sync(f"g-{number}", "x", {"x": "all"})
        world.leave(f"g-{number}", "x")
        return True

    world.coordinator._expiry.stop()
    list(until_refused(comes_and_goes))
    for name, budget in world.memory.budgets():
        assert budget.held <= budget.size, name


def test_one_commit_after_another_takes_over_no_more_than_the_client_has_room_for():
    """Two clients of one principal pass what they hold on to each other: no share would be left."""
    world = new_world()
    greedy = [Owner(ANONYMOUS, "/10.0.0.66"), Owner(ANONYMOUS, "/10.0.0.67")]
    for flood in range(8):
        world.speaker = greedy[0]
        count = sum(1 for _ in until_refused(lambda n, f=flood: commits(world, f"{f}-{n}")))
        world.speaker = greedy[1]
        for number in range(count):
            world.commit(f"{flood}-{number}", "-", {("u", 0): 1})
    assert world.memory.simple_offsets.held <= SIZE
    world.speaker = Owner(ANONYMOUS, "/10.0.0.7")
    assert commits(world, "calm")


@pytest.mark.parametrize("count", [1, 10, 16])
def test_many_addresses_leave_room_for_a_newcomer_also_after_restarts(count):
    world = new_world()
    for round_ in range(3):
        for host in range(count):
            world.speaker = Owner(ANONYMOUS, f"/10.0.1.{host}")
            list(until_refused(lambda n, h=host, r=round_: commits(world, f"{r}-{h}-{n}")))
            list(until_refused(lambda n, h=host, r=round_: commits(world, f"small-{r}-{h}-{n}", "")))
        world.restart()
    assert world.memory.simple_offsets.held <= SIZE
    world.speaker = Owner(ANONYMOUS, "/10.0.0.7")
    assert commits(world, "calm")


class Attack:
    """A few addresses that send what they like, to a broker whose reserve is enough for their floors."""

    def __init__(self, is_logged_in: bool) -> None:
        self.world = World(memory=GroupMemory(SIZE, SIZE, SIZE))
        self.owners = [Owner("User:a" if is_logged_in else ANONYMOUS, f"/10.0.1.{host}") for host in range(4)]
        self.number = 0

    def run(self, steps: list[tuple[str, int, int]]) -> None:
        for kind, owner, size in steps:
            self.world.speaker = self.owners[owner]
            getattr(self, kind)(size)

    def _groups(self) -> list[str]:
        return list(self.world.coordinator.groups)

    def _some_group(self, size: int) -> str:
        groups = self._groups()
        return groups[size % len(groups)] if groups else "g"

    def flood_commits(self, size: int) -> None:
        for _ in range(300):
            self.number += 1
            if not commits(self.world, f"simple-{self.number}", "x" * (size % 4_000)):
                return

    def commit_many_partitions(self, size: int) -> None:
        partitions = {("t", index): 1 for index in range(size % 300)}
        self.world.commit(self._some_group(size), "x", partitions, metadata="x" * (size % 4_000))

    def commit_for_another(self, size: int) -> None:
        for group in self._groups()[:50]:
            self.world.commit(group, "-", {("t", size % 3): 1}, metadata="x" * (size % 100))

    def flood_joins(self, size: int) -> None:
        for _ in range(100):
            self.number += 1
            if self.world.join(f"joined-{self.number}", "x", version=3, metadata=b"x" * size).error is not None:
                break
        self.world.advance(6_000)
        self.assign(size)

    def join_again(self, size: int) -> None:
        group = self._some_group(size)
        for name in ("x", f"y-{size % 3}"):
            self.world.join(group, name, version=3, metadata=b"x" * (2 * size), session_ms=1_800_000)
        self.world.advance(size % 3_000)

    def assign(self, size: int) -> None:
        for group in self._groups():
            if self.world.seat(group, "x").generation_id > 0:
                self.world.sync(group, "x", {"x": "a" * (size % 20_000)})

    def leave(self, size: int) -> None:
        for group in self._groups()[size % 7 :: 2]:
            self.world.leave(group, "x")
            self.world.seats.pop((group, "x"), None)

    def transact(self, size: int) -> None:
        for group in self._groups()[:100]:
            self.world.txn_commit(group, size % 5, {("t", 0): 1, ("t", size % 9): 1})

    def end_transaction(self, size: int) -> None:
        self.world.end_transaction(size % 5, is_commit=bool(size % 2))

    def delete(self, size: int) -> None:
        for group in self._groups()[size % 5 :: 2]:
            self.world.delete_offsets(group, {"t": list(range(5))})
            self.world.delete(group)

    def restart(self, size: int) -> None:
        self.world.restart()

    def wait(self, size: int) -> None:
        self.world.advance(size * 10)


KINDS = [name for name, member in vars(Attack).items() if callable(member) and name[0] != "_" and name != "run"]


@given(
    st.booleans(),
    st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 3), st.integers(1, 60_000)), min_size=4, max_size=25),
)
@settings(max_examples=examples(80), deadline=None)
def test_whatever_clients_send_a_newcomer_is_served_and_memory_stays_under_the_bound(is_logged_in, steps):
    attack = Attack(is_logged_in)
    world = attack.world
    attack.run(steps)
    for name, budget in world.memory.budgets():
        assert budget.held <= 2 * budget.size, name
        assert budget.held - budget._doubled_by_all <= budget.size, name
    assert world.memory.bytes_held == held_by(world)
    world.speaker = Owner(ANONYMOUS, "/10.0.0.7")
    world.stable_group("calm", "a", "b")
    for group, member in (("calm", "a"), ("calm simple", "-")):
        assert set(world.commit(group, member, {("t", 0): 1, ("t", 1): 1}).errors.values()) == {ErrorCode.NONE}

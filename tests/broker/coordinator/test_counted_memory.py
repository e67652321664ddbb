"""What is counted for clients is what Python takes for it, whatever the clients choose: bounds are in these figures."""

import gc
import tracemalloc
from collections.abc import Callable

import pytest

from broker.common.errors import ErrorCode
from broker.common.limits import TRANSACTIONAL_IDS_MAX
from broker.coordinator.fields import STRING_BYTES_MAX
from tests.broker.coordinator.group.world import World
from tests.broker.coordinator.transaction.world import World as TransactionWorld

#: Bytes of a transactional id by which TRANSACTIONAL_IDS_MAX is meant, and how much one may be mistaken.
ID_BYTES = 1_024
MISTAKEN_BY = 1.15


def taken(act: Callable[[], None]) -> int:
    gc.collect()
    tracemalloc.start()
    act()
    gc.collect()
    byte_count, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return byte_count


def forget_requests(world: World) -> None:
    world.sent.clear()
    world.outcomes.clear()
    world.log.clear()
    world.seats.clear()


def many_protocols(world: World) -> None:
    names = tuple(f"{number:x}" for number in range(1_000))
    for number in range(5):
        world.join(f"g{number}", "a", version=3, protocols=names, metadata=b"m")


def many_groups(world: World) -> None:
    for number in range(500):
        world.commit(f"group-{number}", "-", {("t", 0): 1})


def many_partitions(world: World) -> None:
    world.commit("g", "-", {("t", number): 1 for number in range(1_000)})


def letters_of_four_bytes(world: World) -> None:
    for number in range(200):
        world.commit(f"group-{number}", "-", {("t", 0): 1}, metadata="\U0001f600" * 4_000)


def names_of_four_bytes(world: World) -> None:
    for number in range(100):
        world.join(f"{number}" + "\U0001f600" * 1_000, "\U0001f600" * 255, version=3)


def members(world: World) -> None:
    for number in range(100):
        world.join(f"g{number}", f"a{number}", version=3, metadata=b"m" * 500)
    world.advance(6_000)
    for number in range(100):
        world.sync(f"g{number}", f"a{number}", {f"a{number}": "a" * 500})


def pending_offsets(world: World) -> None:
    for number in range(20):
        world.txn_commit("g", number, {("t", index): 1 for index in range(40)})


@pytest.mark.parametrize(
    "act",
    [
        many_protocols,
        many_groups,
        many_partitions,
        letters_of_four_bytes,
        names_of_four_bytes,
        members,
        pending_offsets,
    ],
)
def test_groups_take_no_more_than_is_counted(act):
    act(World())  # caches are filled
    world = World()

    def act_and_forget() -> None:
        act(world)
        forget_requests(world)

    byte_count = taken(act_and_forget)
    assert world.memory.bytes_held * MISTAKEN_BY >= byte_count


@pytest.mark.parametrize("length", [10, 255, 4_000, STRING_BYTES_MAX])
def test_transactional_ids_take_no_more_than_is_counted(length):
    world = TransactionWorld()

    def initialise() -> None:
        for number in range(200):
            assert world.init(f"{number}".ljust(length, "x")).error_code == ErrorCode.NONE
        world.log.clear()

    byte_count = taken(initialise)
    assert world.memory.ids.held * ID_BYTES * MISTAKEN_BY >= byte_count
    assert TRANSACTIONAL_IDS_MAX * ID_BYTES <= 320_000_000

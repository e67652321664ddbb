"""Offsets a producer commits in its transaction: pending until the marker, and decided by the order of the log."""

import pytest

from broker.common.errors import ErrorCode
from tests.broker.coordinator.group.world import World

T0, T1 = ("t", 0), ("t", 1)


def fetched(world: World, *, require_stable: bool = False, version: int = 9) -> list[tuple[int, ErrorCode]]:
    """What OffsetFetch says of t-0 and t-1."""
    response = world.fetch("g", {"t": [0, 1]}, version, require_stable).response
    (topic,) = response.groups[0].topics if version >= 8 else response.topics
    return [(partition.committed_offset, ErrorCode(partition.error_code)) for partition in topic.partitions]


NOTHING = (-1, ErrorCode.NONE)
UNSTABLE = (-1, ErrorCode.UNSTABLE_OFFSET_COMMIT)


def at(offset: int) -> tuple[int, ErrorCode]:
    return offset, ErrorCode.NONE


@pytest.mark.parametrize("version", range(5))
def test_trap_30_offset_of_a_transaction_is_pending_until_the_commit_marker(version: int):
    world = World()
    assert world.txn_commit("g", 7, {T0: 5}, version).errors == {T0: ErrorCode.NONE}
    assert fetched(world) == [NOTHING, NOTHING]
    world.end_transaction(7, is_commit=True)
    assert fetched(world) == [at(5), NOTHING]


@pytest.mark.parametrize("version", [7, 8, 9])
def test_trap_30_who_requires_stable_offsets_is_told_of_pending_ones(version: int):
    world = World()
    world.commit("g", "-", {T0: 1, T1: 1})
    world.txn_commit("g", 7, {T0: 5})
    assert fetched(world, require_stable=True, version=version) == [UNSTABLE, at(1)]
    assert fetched(world, version=version) == [at(1), at(1)]
    world.end_transaction(7, is_commit=False)
    assert fetched(world, require_stable=True, version=version) == [at(1), at(1)]


def test_all_offsets_of_a_group_are_told_stable_or_not():
    world = World()
    world.commit("g", "-", {T0: 1, T1: 2})
    world.txn_commit("g", 7, {T1: 5})
    (topic,) = world.fetch("g", None, require_stable=True).response.groups[0].topics
    assert [partition.error_code for partition in topic.partitions] == [
        ErrorCode.NONE,
        ErrorCode.UNSTABLE_OFFSET_COMMIT,
    ]


def test_aborted_offsets_are_gone_and_so_is_a_group_that_had_no_others():
    world = World()
    world.txn_commit("g", 7, {T0: 5})
    assert world.describe("g").group_state == "Empty"
    world.end_transaction(7, is_commit=False)
    assert fetched(world) == [NOTHING, NOTHING]
    assert world.describe("g").group_state == "Dead"


def test_later_commit_of_the_same_transaction_takes_the_place_of_the_earlier():
    world = World()
    world.txn_commit("g", 7, {T0: 5})
    world.txn_commit("g", 7, {T0: 6})
    world.end_transaction(7, is_commit=True)
    assert fetched(world)[0] == at(6)


def test_plain_commit_after_a_pending_one_stands_whatever_the_marker_says():
    world = World()
    world.txn_commit("g", 7, {T0: 5})
    world.commit("g", "-", {T0: 9})
    assert fetched(world, require_stable=True)[0] == UNSTABLE
    world.end_transaction(7, is_commit=True)
    assert fetched(world, require_stable=True)[0] == at(9)


def test_plain_commit_before_a_pending_one_gives_way():
    world = World()
    world.commit("g", "-", {T0: 9})
    world.txn_commit("g", 7, {T0: 5})
    world.end_transaction(7, is_commit=True)
    assert fetched(world)[0] == at(5)


def test_of_two_transactions_the_offset_written_last_counts_in_whatever_order_they_commit():
    for first, second in ((7, 8), (8, 7)):
        world = World()
        world.txn_commit("g", 7, {T0: 5})
        world.txn_commit("g", 8, {T0: 6})
        world.end_transaction(first, is_commit=True)
        world.end_transaction(second, is_commit=True)
        assert fetched(world)[0] == at(6)


def test_offset_superseded_by_an_aborted_transaction_still_counts():
    world = World()
    world.txn_commit("g", 7, {T0: 5})
    world.txn_commit("g", 8, {T0: 6})
    world.end_transaction(8, is_commit=False)
    world.end_transaction(7, is_commit=True)
    assert fetched(world)[0] == at(5)


def test_transaction_may_commit_for_many_groups():
    world = World()
    world.txn_commit("g", 7, {T0: 5})
    world.txn_commit("h", 7, {T0: 6})
    world.end_transaction(7, is_commit=True)
    assert fetched(world)[0] == at(5)
    assert world.fetch("h", {"t": [0]}).response.groups[0].topics[0].partitions[0].committed_offset == 6


def test_marker_that_comes_twice_or_for_a_stranger_changes_nothing():
    world = World()
    world.txn_commit("g", 7, {T0: 5})
    world.end_transaction(7, is_commit=True)
    world.commit("g", "-", {T0: 9})
    world.end_transaction(7, is_commit=True)
    world.end_transaction(1234, is_commit=True)
    assert fetched(world)[0] == at(9)


@pytest.mark.parametrize("is_commit", [True, False])
def test_another_coordinator_finds_pending_offsets_and_their_ends_in_the_log(is_commit: bool):
    world = World()
    world.commit("g", "-", {T0: 1})
    world.txn_commit("g", 7, {T0: 5})
    world.restart()
    assert fetched(world, require_stable=True)[0] == UNSTABLE
    world.end_transaction(7, is_commit)
    world.restart()
    assert fetched(world, require_stable=True)[0] == at(5 if is_commit else 1)


def test_group_whose_offsets_a_transaction_commits_is_not_deleted():
    world = World()
    world.commit("g", "-", {T0: 1})
    world.txn_commit("g", 7, {T1: 5})
    assert world.delete("g") is ErrorCode.NON_EMPTY_GROUP
    world.end_transaction(7, is_commit=True)
    assert world.delete("g") is ErrorCode.NONE
    assert fetched(world) == [NOTHING, NOTHING]


def test_commit_that_cannot_be_appended_leaves_nothing_pending():
    world = World()
    world.append_error = ErrorCode.INVALID_PRODUCER_EPOCH
    assert world.txn_commit("g", 7, {T0: 5}).errors == {T0: ErrorCode.INVALID_PRODUCER_EPOCH}
    world.end_transaction(7, is_commit=True)
    assert fetched(world, require_stable=True)[0] == NOTHING


# -- who may commit ---------------------------------------------------------------------------------------------------


def test_trap_30_member_commits_and_another_generation_is_fenced():
    world = World()
    world.stable_group("g", "a")
    assert world.txn_commit("g", 7, {T0: 5}, name="a").errors == {T0: ErrorCode.NONE}
    zombie = world.txn_commit("g", 7, {T0: 5}, name="a", generation_id=0)
    assert zombie.errors == {T0: ErrorCode.ILLEGAL_GENERATION}


def test_trap_30_member_nobody_knows_is_fenced():
    world = World()
    world.stable_group("g", "a")
    assert world.txn_commit("g", 7, {T0: 5}, generation_id=1, member_id="b").errors == {T0: ErrorCode.UNKNOWN_MEMBER_ID}
    stranger = world.txn_commit("unheard-of", 7, {T0: 5}, generation_id=1, member_id="b")
    assert stranger.errors == {T0: ErrorCode.ILLEGAL_GENERATION}


def test_trap_30_former_self_of_a_static_member_is_fenced():
    world = World()
    world.stable_group("g", "a", instance_id="one")
    former = world.seat("g", "a").member_id
    world.join("g", "a", member_id="")
    assert world.txn_commit("g", 7, {T0: 5}, name="a").errors == {T0: ErrorCode.NONE}
    assert world.txn_commit("g", 7, {T0: 5}, name="a", member_id=former).errors == {T0: ErrorCode.FENCED_INSTANCE_ID}


def test_producer_that_tells_nothing_of_its_consumer_may_commit_whoever_is_in_the_group():
    world = World()
    world.stable_group("g", "a")
    for version in range(5):
        assert world.txn_commit("g", 7, {T0: 5}, version, name="nobody").errors == {T0: ErrorCode.NONE}


def test_member_commits_while_the_group_rebalances():
    world = World()
    world.stable_group("g", "a")
    world.enter("g", "b")
    assert world.txn_commit("g", 7, {T0: 5}, name="a").errors == {T0: ErrorCode.NONE}


def test_group_without_an_id_has_no_transactional_offsets():
    assert World().txn_commit("", 7, {T0: 5}).errors == {T0: ErrorCode.INVALID_GROUP_ID}

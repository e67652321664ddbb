"""What groups hold is counted as it is, whatever becomes of them, and is bounded for a whole broker."""

import pytest

from broker.common.errors import ErrorCode
from broker.common.limits import (
    CLIENT_ID_LENGTH_MAX,
    GROUP_NAME_LENGTH_MAX,
    MEMBER_METADATA_BYTES_MAX,
    REBALANCE_TIMEOUT_MS_MAX,
)
from broker.common.shared_budget import ANONYMOUS, Owner
from broker.coordinator.group.memory import GROUP_BYTES, OFFSET_BYTES, PENDING_ID_BYTES, PROTOCOL_BYTES, GroupMemory
from broker.coordinator.group.pending_offsets import size_of
from broker.coordinator.group.records import OffsetKey
from tests.broker.coordinator.group.world import World

WEEK_MS = 7 * 86_400_000
T0, U0 = ("t", 0), ("u", 0)
PRODUCER = 7


def held_by(world: World) -> int:
    """Counted anew."""
    groups = 0
    for group in world.coordinator.groups.values():
        has_or_had_members = group.members or group.pending_joins or group.metadata
        has_had_offsets = world.coordinator._account.has_stored(group.group_id)  # though it may have none any more
        times = (2 if group.members or group.pending_joins else 1) if has_or_had_members and has_had_offsets else 1
        groups += times * (GROUP_BYTES + len(group.group_id))
        recorded = {member.member_id: member for member in group.metadata.members} if group.metadata else {}
        groups += sum(member.size_bytes + len(member.assignment) for member in recorded.values())
        for member in group.members.values():
            of_record = recorded[member.member_id].size_bytes if member.member_id in recorded else 0
            groups += member.size_bytes + max(0, member.record_bytes - of_record)
        groups += sum(PENDING_ID_BYTES + len(member_id) for member_id in group.pending_joins)
    offsets = world.coordinator.offsets
    committed = sum(
        size_of(OffsetKey(group_id, partition), item)
        for group_id in offsets._offsets
        for partition, item in offsets.of_group(group_id)
    )
    pending = sum(
        size_of(key, producer)
        for keys in offsets._pending._of_group.values()
        for key, producers in keys.items()
        for producer in producers.values()
    )
    return groups + committed + pending


def test_what_is_held_is_counted_through_the_life_of_a_group():
    world = World()
    seen = [world.memory.bytes_held]

    def looked() -> int:
        assert world.memory.bytes_held == held_by(world)
        seen.append(world.memory.bytes_held)
        return seen[-1]

    world.join("g", "a", metadata=b"m" * 100_000)
    assert looked() < 4_096, "an id handed out"
    world.join("g", "a", metadata=b"m" * 100_000)
    assert looked() > 100_000
    world.join("g", "b", version=3, metadata=b"m" * 50_000)
    assert looked() > 150_000
    world.advance(6_000)
    world.sync("g", "a", {"a": "p" * 1_000, "b": "q"})
    assert looked() > 300_000, "the record has it too"
    world.join("g", "b", metadata=b"m")
    looked()
    world.commit("g", "-", {T0: 1}, metadata="x" * 4_000)
    world.commit("other", "-", {T0: 1, U0: 2}, metadata="x" * 4_000)
    assert looked() > 8_000
    world.commit("other", "-", {T0: 3}, metadata="")
    assert looked() < seen[-2]
    world.restart()
    looked()
    world.leave("g", "a", "b")
    world.advance(600_000)
    looked()
    world.advance(2 * WEEK_MS)
    assert looked() == 0
    assert world.coordinator.groups == {}


def test_offsets_of_open_transactions_are_counted():
    world = World()
    for number in range(3):
        world.txn_commit("g", PRODUCER + number, {T0: number, U0: number})
        assert world.memory.bytes_held == held_by(world) > 2 * OFFSET_BYTES * (number + 1)
    world.commit("g", "-", {T0: 9})
    assert world.memory.bytes_held == held_by(world)
    for number, is_commit in enumerate((True, False, True)):
        world.end_transaction(PRODUCER + number, is_commit)
        assert world.memory.bytes_held == held_by(world)


def test_the_place_of_an_offset_that_was_superseded_is_counted_as_long_as_its_transaction_is_open():
    """Or a few open transactions would fill a broker, with offsets that plain commits supersede again and again."""
    world = World()
    for number in range(20):
        world.txn_commit("g", PRODUCER + number, {T0: number, U0: number})
    world.commit("g", "-", {T0: 9, U0: 9})
    assert world.memory.bytes_held == held_by(world) > 2 * 20 * OFFSET_BYTES
    for number in range(20):
        world.end_transaction(PRODUCER + number, is_commit=True)
    assert world.memory.bytes_held == held_by(world) < 2 * 20 * OFFSET_BYTES


def test_a_coordinator_that_is_given_up_holds_nothing_whether_it_was_loaded_or_not():
    world = World()
    world.stable_group("g", "a", "b")
    world.commit("h", "-", {T0: 1})
    held = world.memory.bytes_held
    world.restart()
    assert world.memory.bytes_held == held_by(world) <= held
    world.coordinator.unload()
    assert world.memory.bytes_held == 0
    world.restart()
    del world.coordinator
    assert world.memory.bytes_held == 0


@pytest.fixture
def full():
    """A broker whose groups hold all they may, of each budget."""
    world = World()
    world.stable_group("g", "a", "b")
    world.stable_group("quiet", "c")
    world.commit("quiet", "c", {T0: 1}, metadata="four")
    world.commit("simple", "-", {T0: 1}, metadata="four")
    for _, budget in world.memory.budgets():
        assert budget.held > 0
        budget.size = budget.held
    world.outcomes.clear()
    return world


def test_new_members_and_offsets_are_refused_when_the_broker_is_full(full):
    groups = set(full.coordinator.groups)
    assert full.join("new", "x").error is ErrorCode.COORDINATOR_NOT_AVAILABLE
    full.speaker = Owner(ANONYMOUS, "/10.0.0.7")
    assert full.join("g", "x").error is ErrorCode.COORDINATOR_NOT_AVAILABLE
    refused = ErrorCode.POLICY_VIOLATION
    assert full.commit("other", "-", {T0: 1}).errors == {T0: refused}
    assert full.commit("simple", "-", {U0: 1}).errors == {U0: refused}
    assert full.commit("simple", "-", {T0: 1}, metadata="longer").errors == {T0: refused}
    assert full.commit("quiet", "c", {U0: 1}).errors == {U0: refused}
    assert set(full.coordinator.groups) == groups


def test_those_there_are_go_on_when_the_broker_is_full(full):
    assert full.heartbeat("g", "a").error is ErrorCode.NONE
    assert full.commit("simple", "-", {T0: 2}, metadata="four").errors == {T0: ErrorCode.NONE}
    assert full.commit("quiet", "c", {T0: 2}, metadata="four").errors == {T0: ErrorCode.NONE}
    assert full.join("g", "a").is_parked
    assert full.join("g", "b").error is ErrorCode.NONE
    assert full.sync("g", "a", {"a": "for a", "b": "for b"}).error is ErrorCode.NONE


def test_a_group_there_is_takes_twice_of_what_its_clients_hold_and_no_more_when_the_broker_is_full(full):
    """Members that are started again join before their former selves are forgotten."""
    assert full.enter("g", "a again").is_parked
    assert full.join("g", "a").is_parked
    assert full.join("g", "b").is_parked is False
    held, budget = full.memory.members.held, full.memory.members
    twice = full.sync("g", "a", {"a": "for a", "b": "for b, and more"})
    assert twice.error is ErrorCode.NONE
    assert budget.held > held > budget.size
    assert full.join("g", "a", metadata="x" * 2 * budget.size).error is ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert full.join("g", "a").is_parked
    full.join("g", "b")
    full.join("g", "a again")
    refused = full.sync("g", "a", {"b": "x" * 2 * budget.size})
    assert refused.error is ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert full.sync("g", "a", {"a": "for a", "b": "for b"}).error is ErrorCode.NONE
    full.leave("g", "a again")
    full.leave("quiet", "c")
    assert budget.held <= budget.size


def test_transactions_go_on_when_the_broker_is_full_but_no_offset_is_pending_for_many_at_once(full):
    assert full.txn_commit("simple", PRODUCER, {T0: 2}).errors == {T0: ErrorCode.NONE}
    assert full.txn_commit("simple", PRODUCER, {T0: 3}).errors == {T0: ErrorCode.NONE}
    refused = {T0: ErrorCode.COORDINATOR_NOT_AVAILABLE}
    assert full.txn_commit("simple", PRODUCER + 1, {T0: 4}).errors == refused
    full.commit("simple", "-", {T0: 5})
    assert full.txn_commit("simple", PRODUCER + 1, {T0: 4}).errors == refused, "its place is there still"
    full.end_transaction(PRODUCER, is_commit=True)
    assert full.txn_commit("simple", PRODUCER + 1, {T0: 6}).errors == {T0: ErrorCode.NONE}


def test_two_coordinators_share_what_a_broker_may_hold():
    memory = GroupMemory(members_bytes_max=20_000)
    first, second = World(memory=memory), World(memory=memory)
    assert first.join("g", "a", version=3, metadata=b"m" * 3_000).is_parked
    second.speaker = Owner(ANONYMOUS, "/10.0.0.7")
    assert second.join("h", "b", version=3, metadata=b"m" * 6_000).error is ErrorCode.COORDINATOR_NOT_AVAILABLE
    del first.coordinator
    assert second.join("h", "b", version=3, metadata=b"m" * 3_000).is_parked


def test_one_member_may_not_bring_more_metadata_than_a_record_could_hold():
    world = World()
    assert world.join("g", "a", metadata=b"m" * MEMBER_METADATA_BYTES_MAX).error is ErrorCode.MEMBER_ID_REQUIRED
    half = b"m" * (MEMBER_METADATA_BYTES_MAX // 2 + 1)
    assert world.join("g", "b", protocols=("one", "two"), metadata=half).error is ErrorCode.INVALID_REQUEST


def test_names_of_protocols_that_nobody_supports_any_more_are_not_remembered():
    world = World()
    world.enter("g", "a")
    world.enter("g", "b")
    for number in range(50):
        world.join("g", "a", protocols=("range", f"made up {number}"))
        world.enter("g", "c", protocols=("range", f"as well {number}"))
        world.leave("g", "c")
    assert set(world.coordinator.groups["g"]._support) == {"range", "made up 49"}


def test_names_longer_than_anybody_s_are_refused():
    world, long = World(), "x" * (GROUP_NAME_LENGTH_MAX + 1)
    assert world.join(long, "a").error is ErrorCode.INVALID_GROUP_ID
    assert world.join("g", "a", instance_id=long).error is ErrorCode.INVALID_REQUEST
    assert world.join("g", "a", protocols=(long,)).error is ErrorCode.INVALID_REQUEST
    assert world.commit(long, "-", {T0: 1}).errors == {T0: ErrorCode.INVALID_GROUP_ID}
    assert world.join(long[1:], "a").error is ErrorCode.MEMBER_ID_REQUIRED


def test_a_member_brings_no_more_protocols_than_metadata():
    world = World()
    names = tuple(str(number) for number in range(MEMBER_METADATA_BYTES_MAX // PROTOCOL_BYTES + 1))
    assert world.join("g", "a", protocols=names).error is ErrorCode.INVALID_REQUEST
    assert world.join("g", "a", protocols=names[1:]).error is ErrorCode.MEMBER_ID_REQUIRED


def test_of_a_client_id_the_beginning_is_kept():
    world = World()
    world.join("g", "c" * 5_000, version=3)
    (member,) = world.coordinator.groups["g"].members.values()
    assert member.client_id == "c" * CLIENT_ID_LENGTH_MAX


def test_no_rebalance_waits_for_weeks():
    world = World()
    world.join("g", "a", version=3, rebalance_ms=2**31 - 1)
    assert world.coordinator.groups["g"].rebalance_timeout_ms == REBALANCE_TIMEOUT_MS_MAX

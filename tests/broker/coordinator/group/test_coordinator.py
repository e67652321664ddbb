import pytest

from broker.common.errors import ErrorCode, InvariantViolation
from broker.coordinator.group.config import GroupConfig
from broker.coordinator.group.coordinator import GroupCoordinator
from broker.protocol.messages.heartbeat import HeartbeatRequest
from broker.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from broker.protocol.messages.sync_group import SyncGroupRequest
from tests.broker.coordinator.group.world import World, durable_state, read, record_bytes


def replayed(world: World) -> GroupCoordinator:
    fresh = GroupCoordinator(world.config, str)
    read(world.log, fresh)
    return fresh


def test_replaying_the_log_gives_equal_state():
    world = World()
    world.stable_group("g", "a", "b")
    world.stable_group("h", "x", instance_id="one")
    world.commit("g", "a", {("t", 0): 1, ("t", 1): 2})
    world.join("h", "x", member_id="")
    world.leave("g", "b")
    assert durable_state(replayed(world)) == world.durable_state()


def test_nothing_durable_changes_before_replay():
    world = World()
    world.enter("g", "a")
    world.advance(3_000)
    request = SyncGroupRequest(group_id="g", generation_id=1, member_id="a-1")
    outcome = world.coordinator.sync_group(request, 99, world.now_ms)
    assert world.durable_state() == ({}, {})
    for record in outcome.records:
        world.coordinator.replay(*record)
    assert world.durable_state()[0]["g"].generation_id == 1


def test_runtime_that_forgets_to_replay_is_told_so():
    world = World()
    world.enter("g", "a")
    world.advance(3_000)
    request = SyncGroupRequest(group_id="g", generation_id=1, member_id="a-1")
    world.coordinator.sync_group(request, 99, world.now_ms)
    heartbeat = HeartbeatRequest(group_id="g", generation_id=1, member_id="a-1")
    with pytest.raises(InvariantViolation):
        world.coordinator.heartbeat(heartbeat, 100, world.now_ms)


def test_tick_leaves_a_group_with_a_record_on_its_way_for_the_next():
    world = World()
    world.enter("g", "a")
    world.join("g", "late", session_ms=10_000)
    world.advance(3_000)
    world.advance(6_999)
    world.now_ms = 30_000  # everything is overdue: the empty generation is proposed, the rest must wait for its replay
    outcome = world.coordinator.tick(world.now_ms)
    assert len(outcome.records) <= 1
    world.carry_out(outcome)
    world.advance(0)
    assert world.describe("g").group_state == "Empty"
    assert world.coordinator._timers.next_deadline_ms() is None


def test_groups_whose_members_all_die_at_once_become_empty_in_batches_that_any_topic_takes():
    world = World(GroupConfig(group_initial_rebalance_delay_ms=0))
    names = [f"{number:03}" + "😀" * 1_000 for number in range(150)]
    for name in names:
        world.stable_group(name, "a", session_ms=500_000)
    world.restart()
    world.outcomes.clear()
    world.advance(500_000)
    assert {group.state.value for group in world.coordinator.groups.values()} == {"Empty"}
    assert len(world.coordinator.groups) == 150
    assert sum(map(record_bytes, world.outcomes)) > 512 * 1024
    assert max(record_bytes(outcome) for outcome in world.outcomes) < 512 * 1024


def test_unload_answers_everybody_who_waits():
    world = World()
    world.stable_group("g", "a", "b")
    parked_join = world.join("g", "a")
    world.enter("h", "x")
    world.enter("h", "y")
    world.advance(6_000)
    parked_sync = world.sync("h", "y")
    world.carry_out(world.coordinator.unload())
    assert parked_join.error is ErrorCode.NOT_COORDINATOR
    assert parked_sync.error is ErrorCode.NOT_COORDINATOR
    assert world.coordinator._timers.next_deadline_ms() is None
    assert world.durable_state() == ({}, {})


def test_a_coordinator_that_is_unloaded_leaves_what_it_held_to_be_freed_later():
    world = World()
    for number in range(20):
        world.commit(f"g{number}", "-", {("t", 0): number})
    groups = world.coordinator.groups
    remains = world.coordinator.unload().remains
    assert len(groups) == 20
    assert any(remain is groups for remain in remains)
    assert world.durable_state() == ({}, {})


def test_members_found_in_the_log_have_a_session_from_then_on():
    world = World()
    world.stable_group("g", "a", "b")
    world.restart()
    world.advance(9_999)
    world.heartbeat("g", "a")
    world.advance(1)
    assert world.heartbeat("g", "b").error is ErrorCode.UNKNOWN_MEMBER_ID
    assert world.heartbeat("g", "a").error is ErrorCode.REBALANCE_IN_PROGRESS


def test_of_several_generations_in_the_log_only_the_last_counts():
    world = World()
    world.stable_group("g", "a", protocols=("sticky",), session_ms=10_000)
    world.join("g", "a", protocols=("range",), session_ms=20_000)
    world.sync("g", "a", {"a": "x"})
    world.restart()
    member = world.coordinator.groups["g"].members["a-1"]
    assert (list(member.protocols), member.session_timeout_ms) == (["range"], 20_000)


def test_nobody_is_expired_while_the_partition_is_replayed():
    world = World()
    world.stable_group("g", "a")
    assert replayed(world).next_deadline_ms() is None


def test_records_of_other_kinds_are_passed_over():
    coordinator = GroupCoordinator(GroupConfig(), str)
    coordinator.replay(b"\x00\x0b\x00\x01g", b"\x00\x00whatever")
    assert durable_state(coordinator) == ({}, {})


def test_tombstone_of_something_never_heard_of_is_nothing():
    world = World()
    world.commit("g", "-", {("t", 0): 1})
    world.delete("g")
    coordinator = GroupCoordinator(GroupConfig(), str)
    for key, value, *_ in world.log:
        if value is None:
            coordinator.replay(key, value)
    assert coordinator.groups == {}


def test_cancelled_request_is_never_answered():
    world = World()
    sent = world.enter("g", "a")
    world.hang_up(sent)
    world.hang_up(sent)
    world.advance(60_000)
    assert sent.is_parked
    assert world.describe("g").group_state == "Empty"


def test_token_that_was_answered_is_not_cancelled():
    world = World()
    world.stable_group("g", "a")
    sent = world.join("g", "a")
    world.advance(3_000)
    assert not sent.is_parked
    world.hang_up(sent)
    world.sync("g", "a")
    assert world.describe("g").group_state == "Stable"


def test_time_that_goes_back_is_taken_for_the_last_time_told():
    world = World()
    world.stable_group("g", "a")
    heartbeat = HeartbeatRequest(group_id="g", generation_id=1, member_id="a-1")
    world.coordinator.heartbeat(heartbeat, 1_000, 50_000)
    world.coordinator.heartbeat(heartbeat, 1_001, 0)
    assert world.coordinator.next_deadline_ms() == 60_000


def test_offsets_of_many_groups_come_in_one_answer():
    world = World()
    world.commit("g", "-", {("t", 0): 1})
    world.commit("h", "-", {("t", 0): 2})
    request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=group_id, topics=None) for group_id in "gh"])
    (answer,) = world.coordinator.offset_fetch(request, 8, 1_000, world.now_ms).responses
    assert [group.topics[0].partitions[0].committed_offset for group in answer.response.groups] == [1, 2]


def test_without_a_wall_clock_the_time_told_is_written():
    coordinator = GroupCoordinator(GroupConfig(), lambda prefix: f"{prefix}-1")
    world = World()
    world.coordinator = coordinator
    world.now_ms = 1_234
    world.commit("g", "-", {("t", 0): 1})
    ((_, committed),) = coordinator.offsets.of_group("g")
    assert committed.commit_timestamp_ms == 1_234

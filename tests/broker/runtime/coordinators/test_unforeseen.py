"""What nobody foresaw is raised somewhere: it costs one request, and the group goes on."""

import asyncio
from collections.abc import Callable

import pytest

from broker.common.errors import ErrorCode
from broker.coordinator.group.coordinator import GroupCoordinator
from broker.coordinator.group.membership import GroupMembership
from broker.coordinator.group.rebalance import Rebalance
from broker.coordinator.group.states import GroupState
from broker.records.control import MarkerType
from tests.broker.runtime.coordinators.world import World
from tests.manual_clock import ManualClock


class Broken(Exception):
    """Raised by what a test breaks."""


@pytest.fixture
async def world(tmp_path):
    world = World(tmp_path / "logs", clock=ManualClock())
    world.lead()
    yield world
    world.coordinators.stop()
    world.logs.shutdown()


async def member(world: World) -> str:
    join = world.send_join()
    world.advance(3_000)
    return (await join).member_id


def break_once(monkeypatch, owner: object, name: str) -> list:
    """The next call of that method raises; what it was called with."""
    works, calls = getattr(owner, name), []

    def raise_once(*arguments, **named):
        calls.append(arguments)
        if len(calls) == 1:
            raise Broken(name)
        return works(*arguments, **named)

    monkeypatch.setattr(owner, name, raise_once)
    return calls


def assert_no_proposal_stays(world: World) -> None:
    assert all(group.proposal is None for group in world.coordinators.shard(0).coordinator.groups.values())


async def test_an_assignment_that_cannot_be_written_costs_its_requests_and_the_group_goes_on(world, monkeypatch):
    member_id = await member(world)
    break_once(monkeypatch, world.replicas, "append_checked")
    assert world.send_sync(member_id).error_code == ErrorCode.UNKNOWN_SERVER_ERROR
    assert_no_proposal_stays(world)
    assert world.send_heartbeat(member_id).error_code == ErrorCode.REBALANCE_IN_PROGRESS
    joined = world.send_join(member_id)
    assert world.send_sync(member_id, joined.generation_id).assignment == b"all"
    assert world.coordinators.failures == 1


async def test_an_assignment_that_cannot_be_replayed_costs_its_requests_and_the_group_goes_on(world, monkeypatch):
    member_id = await member(world)
    break_once(monkeypatch, GroupCoordinator, "replay")
    assert world.send_sync(member_id).error_code == ErrorCode.UNKNOWN_SERVER_ERROR
    assert_no_proposal_stays(world)
    joined = world.send_join(member_id)
    assert world.send_sync(member_id, joined.generation_id).assignment == b"all"


async def test_a_request_that_raises_after_it_proposed_leaves_nothing_behind(world, monkeypatch):
    """The answers it had given to others are sent: they will not be given again."""
    member_id = await member(world)
    break_once(monkeypatch, Rebalance, "restart_session")
    with pytest.raises(Broken):
        world.send_sync(member_id)
    assert_no_proposal_stays(world)
    joined = world.send_join(member_id)
    assert world.send_sync(member_id, joined.generation_id).assignment == b"all"


async def test_a_timer_that_raises_is_looked_at_again_and_does_not_keep_the_loop_busy(world, monkeypatch):
    member_id = await member(world)
    assert world.send_sync(member_id).assignment == b"all"
    calls = break_once(monkeypatch, GroupMembership, "session_is_over")
    armed: list[int] = []
    monkeypatch.setattr(world.coordinators, "_arm_at", armed.append)
    world.advance(6_000)
    group = world.coordinators.shard(0).coordinator.groups["g"]
    assert len(calls) == 1
    assert member_id in group.members
    assert min(armed) > world.clock.monotonic_ms()
    world.advance(1_000)
    assert len(calls) == 2
    assert group.state is GroupState.EMPTY


async def test_timers_of_a_group_whose_record_is_on_its_way_wait_for_more_than_no_time(world):
    """The runtime's part of the contract is broken here; not even that may make the loop spin."""
    member_id = await member(world)
    coordinator = world.coordinators.shard(0).coordinator
    coordinator.groups["g"].proposal = object()
    world.advance(60_000)
    assert world.coordinators.shard(0).next_deadline_ms() > world.clock.monotonic_ms()
    coordinator.groups["g"].proposal = None
    assert member_id


async def test_a_marker_that_cannot_be_replayed_does_not_fail_its_append(world, monkeypatch):
    world.commit_in_transaction(5)
    break_once(monkeypatch, GroupCoordinator, "complete_transaction")
    world.end_transaction(MarkerType.COMMIT)
    await world.reload()
    assert world.committed() == 5


async def story(world: World) -> None:
    """A group is born, commits, and sees the ISR change; whatever is refused is asked for again."""
    world.lead(followers=(2,))
    world.replicate(2)
    member_id = await member(world)
    sync = world.send_sync(member_id)
    world.replicate(2)
    await sync
    commit = world.send_commit(5, "other")
    world.replicate(2)
    await commit
    world.change_isr(1)
    world.need_in_sync(1)
    world.send_commit_in_transaction(6)
    world.end_transaction(MarkerType.COMMIT)


async def test_whichever_call_of_a_listener_raises_neither_the_others_nor_the_caller_notice(tmp_path):
    """Each call of each listener of the replica manager in turn."""
    calls = await _listener_calls(tmp_path / "all", raise_at=0)
    assert calls > 10
    for nth in range(1, calls + 1):
        assert await _listener_calls(tmp_path / str(nth), raise_at=nth) == calls


async def _listener_calls(directory, raise_at: int) -> int:
    """Listeners beside the coordinators', before and after them: how many calls they had."""
    calls = 0

    def listen(*arguments) -> None:
        nonlocal calls
        calls += 1
        if calls == raise_at:
            raise Broken("a listener")

    world = World(directory, clock=ManualClock())
    try:
        for listeners in _listeners(world):
            listeners.insert(0, listen)
            listeners.append(listen)
        await story(world)
        assert world.committed() == 6
        assert_no_proposal_stays(world)
        assert len(world.coordinators.shard(0).uncommitted) == 0
    finally:
        world.coordinators.stop()
        world.logs.shutdown()
    return calls


def _listeners(world: World) -> list[list[Callable]]:
    replicas = world.replicas
    return [replicas.on_role, replicas.on_append, replicas.on_config, replicas.on_marker, replicas.on_high_watermark]


async def test_a_coordinator_whose_calls_raise_one_by_one_ends_where_it_would_have(tmp_path):
    """Every call into the coordinator of a small story raises once; clients ask again, and nothing is stuck."""
    count = await _survived(tmp_path / "all", raise_at=0)
    assert count > 5
    for nth in range(1, count + 1):
        await _survived(tmp_path / str(nth), raise_at=nth)


async def _survived(directory, raise_at: int) -> int:
    world, calls = World(directory, clock=ManualClock()), 0
    append = world.replicas.append_checked

    def append_or_raise(*arguments):
        nonlocal calls
        calls += 1
        if calls == 2 * raise_at - 1:
            raise Broken("before the append")
        result = append(*arguments)
        calls += 1
        if calls == 2 * raise_at:
            raise Broken("after the append")
        return result

    world.replicas.append_checked = append_or_raise
    try:
        world.lead()
        for offset in (4, 5):
            _again_until_done(lambda offset=offset: world.send_commit(offset).topics[0].partitions[0].error_code)
        await _assigned(world)
        assert world.committed() == 5
        world.advance(6_000)
        world.advance(2_000)
        assert world.coordinators.shard(0).coordinator.groups["g"].state is GroupState.EMPTY
        assert_no_proposal_stays(world)
        assert world.coordinators.shard(0).next_deadline_ms() > world.clock.monotonic_ms()
    finally:
        world.coordinators.stop()
        world.logs.shutdown()
    return calls // 2


async def _assigned(world: World) -> None:
    """The one member has its assignment, joining again as often as it must."""
    member_id, generation_id = await member(world), 1
    for _ in range(3):
        reply = world.send_sync(member_id, generation_id)
        if reply.error_code == ErrorCode.NONE:
            return
        generation_id = world.send_join(member_id).generation_id
    raise AssertionError("no assignment after three generations")


def _again_until_done(ask: Callable[[], int]) -> None:
    errors = [ErrorCode(ask()) for _ in range(2)]
    assert ErrorCode.NONE in errors


async def test_an_overdue_answer_that_cannot_be_given_keeps_no_other_waiting(world, monkeypatch):
    world.lead(followers=(2,), leader_epoch=1)
    answers = [asyncio.ensure_future(world.send_commit(offset)) for offset in (5, 6)]
    await asyncio.sleep(0)
    calls = break_once(monkeypatch, GroupCoordinator, "unconfirmed")
    armed: list[int] = []
    monkeypatch.setattr(world.coordinators, "_arm_at", armed.append)
    world.advance(60_000)
    assert armed
    world.advance(60_000)
    answer = await asyncio.wait_for(answers[1], 10)
    assert answer.topics[0].partitions[0].error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert len(calls) == 2
    answers[0].cancel()

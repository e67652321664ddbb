"""A follower of the offsets partition is slow: who waits for it, for how long, and what is left behind."""

import asyncio

import pytest

from broker.common.errors import ErrorCode
from broker.coordinator.group.states import GroupState
from broker.protocol.codec import encode
from broker.protocol.schema import Message
from broker.records.control import MarkerType
from tests.broker.runtime.coordinators.world import World
from tests.manual_clock import ManualClock

COMMIT_TIMEOUT_MS = 5_000


@pytest.fixture
async def world(tmp_path):
    """Led by 1, in sync with 2 and 3."""
    world = World(tmp_path / "logs", clock=ManualClock())
    world.lead(followers=(2, 3))
    world.replicate(2, 3)
    yield world
    world.coordinators.stop()
    world.logs.shutdown()


async def pending(request) -> asyncio.Future:
    """Under way, and not answered yet."""
    await asyncio.sleep(0)
    assert not request.done()
    return request


def error_of(commit) -> ErrorCode:
    return ErrorCode(commit.topics[0].partitions[0].error_code)


def waiting(world: World) -> int:
    return len(world.coordinators.shard(0).uncommitted)


async def member(world: World, group_id: str = "g") -> str:
    """The only member of a group whose first generation is there; its JoinGroup is answered."""
    join = await pending(world.send_join(group_id=group_id))
    world.advance(3_000)  # group.initial.rebalance.delay.ms
    joined = await join
    assert joined.error_code == ErrorCode.NONE
    return joined.member_id


async def test_what_changes_nothing_is_answered_while_a_commit_waits(world):
    commit = await pending(world.send_commit(5))
    assert isinstance(world.send_heartbeat(), Message)
    assert isinstance(world.send_fetch(), Message)
    await pending(world.send_commit(6, "other"))
    assert not commit.done()


async def test_members_of_a_group_join_while_a_commit_of_another_group_waits(world):
    await pending(world.send_commit(5, "other"))
    member_id = await member(world)
    assert world.send_heartbeat(member_id).error_code == ErrorCode.NONE


async def test_an_assignment_is_told_again_at_once_when_its_own_record_is_committed(world):
    member_id = await member(world)
    first = await pending(world.send_sync(member_id))
    repeated = await pending(world.send_sync(member_id))
    world.replicate(2, 3)
    assert (await first).assignment == (await repeated).assignment == b"all"
    await pending(world.send_commit(5, "other"))
    assert world.send_sync(member_id).assignment == b"all"


async def test_a_fetch_tells_what_is_committed_and_never_goes_back_behind_an_acknowledged_commit(world):
    commits = [await pending(world.send_commit(offset)) for offset in (5, 6, 7)]
    assert world.committed() == -1
    for replica in (2, 3):
        world.replicas.follower_holds(world.hosted, replica, 2, broker_epoch=20)
    assert [commit.done() for commit in commits] == [True, True, False]
    assert world.committed() == 6
    world.replicate(2, 3)
    await commits[2]
    assert world.committed() == 7


async def test_a_fetch_of_everything_tells_of_no_partition_that_was_never_committed(world):
    await pending(world.send_commit(5))
    assert world.send_fetch(is_of_all=True).topics == []
    world.replicate(2, 3)
    topic = world.send_fetch(is_of_all=True).topics[0]
    assert (topic.name, [partition.committed_offset for partition in topic.partitions]) == ("t", [5])


async def test_who_requires_stable_offsets_is_told_to_ask_again_while_one_is_not_committed(world):
    await pending(world.send_commit(5))
    fetched = world.send_fetch(require_stable=True).topics[0].partitions[0]
    assert fetched.error_code == ErrorCode.UNSTABLE_OFFSET_COMMIT
    world.replicate(2, 3)
    assert world.send_fetch(require_stable=True).topics[0].partitions[0].committed_offset == 5


async def test_a_commit_that_is_not_replicated_in_time_is_refused_and_may_count_later(world):
    commit = await pending(world.send_commit(5))
    in_transaction = await pending(world.send_commit_in_transaction(6))
    world.advance(COMMIT_TIMEOUT_MS - 1)
    await asyncio.sleep(0)
    assert not commit.done()
    world.advance(1)
    assert error_of(await commit) is error_of(await in_transaction) is ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert waiting(world) == 0
    world.replicate(2, 3)
    assert world.committed() == 5
    world.end_transaction(MarkerType.COMMIT)
    world.replicate(2, 3)
    assert world.committed() == 6


async def test_what_clients_waited_for_that_hung_up_is_forgotten(world):
    for _ in range(1_000):
        commit = await pending(world.send_commit(5))
        commit.cancel()
        await asyncio.sleep(0)
    assert waiting(world) == 0
    world.replicate(2, 3)
    assert world.committed() == 5


async def test_nothing_is_acknowledged_while_too_few_replicas_are_in_sync(world):
    world.need_in_sync(2)
    commit = await pending(world.send_commit(5))
    world.change_isr(1)
    await asyncio.sleep(0)
    assert not commit.done()
    assert error_of(world.send_commit(6)) is ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert world.committed() == -1
    world.advance(COMMIT_TIMEOUT_MS)
    assert error_of(await commit) is ErrorCode.COORDINATOR_NOT_AVAILABLE
    world.replicate(2)
    world.change_isr(1, 2)
    assert world.committed() == 5


async def test_a_member_whose_assignment_waits_for_replicas_is_not_expelled(world):
    member_id = await member(world)
    sync = await pending(world.send_sync(member_id))
    group = world.coordinators.shard(0).coordinator.groups["g"]
    world.advance(COMMIT_TIMEOUT_MS)
    assert (await sync).error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    again = await pending(world.send_sync(member_id))
    for _ in range(4):
        world.advance(2_000)  # a session is 6 s
    assert (await again).error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert member_id in group.members
    world.replicate(2, 3)
    assert world.send_sync(member_id).assignment == b"all"
    world.advance(6_000)
    world.advance(1)
    assert group.state is GroupState.EMPTY or member_id not in group.members, "silence counts again"


async def test_what_was_loaded_is_not_told_before_it_is_committed_and_nobody_waits_for_that(world):
    """The last leader may have acknowledged more than this one knows to be committed. A member's heartbeats come on the
    same connection: they would wait behind the answer, as long as a dead follower is in the ISR."""
    await pending(world.send_commit(5))
    await world.reload(followers=(2, 3))
    assert world.hosted.partition.high_watermark == 0
    refused = world.send_fetch()
    assert isinstance(refused, Message)
    assert refused.error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    assert not refused.topics
    assert isinstance(world.send_heartbeat(), Message)
    world.replicate(2, 3)
    assert world.committed() == 5


@pytest.mark.parametrize("version", [1, 2, 8])
async def test_each_version_has_its_place_for_why_nothing_is_told(world, version):
    await pending(world.send_commit(5))
    await world.reload(followers=(2, 3))
    refused = world.send_fetch(version)
    codes = {
        1: lambda: refused.topics[0].partitions[0].error_code,
        2: lambda: refused.error_code,
        8: lambda: refused.groups[0].error_code,
    }
    assert codes[version]() == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    assert encode(refused, version)

"""Groups with members of the classic and of the consumer protocol, and how they change their type (KIP-848)."""

import pytest

from broker.common.errors import ErrorCode
from broker.coordinator.consumer_group.config import ConsumerGroupConfig, MigrationPolicy
from broker.coordinator.group.config import GroupConfig
from tests.broker.coordinator.consumer_group.classic_consumer import SESSION_MS, ClassicConsumer
from tests.broker.coordinator.consumer_group.world import Consumer, ConsumerWorld

_UPGRADE_REFUSED = "Cannot upgrade classic group g to consumer group because "


@pytest.fixture
def world():
    return _world()


def _world(**config) -> ConsumerWorld:
    values = {"group_consumer_assignment_interval_ms": 0} | config
    world = ConsumerWorld(
        GroupConfig(group_initial_rebalance_delay_ms=0), consumer_config=ConsumerGroupConfig(**values)
    )
    world.topics.put("t", 4)
    return world


# -- upgrade ----------------------------------------------------------------------------------------------------------


def test_consumer_that_joins_a_classic_group_makes_it_a_consumer_group(world):
    classic = _classic_group(world, "a", "b")
    before = [consumer.owned for consumer in classic]
    consumer = Consumer(world, "c", "t")
    assert consumer.beat() is ErrorCode.NONE
    assert (_listed(world), consumer.owned) == ([("g", "consumer")], set())
    assert [consumer.owned for consumer in classic] == before
    assert {m.member_id: m.is_classic for m in world.group().members.values()} == {
        classic[0].member_id: True,
        classic[1].member_id: True,
        "c": False,
    }
    _run(world, *classic, consumer)
    assert _is_shared(world, *classic, consumer)
    assert [described.member_type for described in _described(world)] == [0, 0, 1]


def test_classic_members_are_told_to_join_again_and_give_up_what_others_get(world):
    (classic,) = _classic_group(world, "a", is_cooperative=True)
    assert len(classic.owned) == 4
    consumer = Consumer(world, "c", "t")
    consumer.beat()
    assert classic.step() is ErrorCode.REBALANCE_IN_PROGRESS
    generation = classic.epoch
    assert classic.step() is ErrorCode.NONE  # joined and synced: it is to give two up, and stays in its generation
    assert (classic.epoch, len(classic.owned), classic.is_joining) == (generation, 2, True)
    consumer.beat()
    assert consumer.owned == set()
    assert classic.step() is ErrorCode.NONE
    assert classic.epoch == consumer.epoch == world.group().epoch
    consumer.beat()
    assert _is_shared(world, classic, consumer)
    assert classic.step() is ErrorCode.NONE


def test_upgrade_in_the_middle_of_a_rebalance_calls_the_waiting_to_join_again(world):
    first, second = _classic_group(world, "a", "b")
    third = ClassicConsumer(world, "d", "t")
    assert third.step() is ErrorCode.MEMBER_ID_REQUIRED
    assert third.step() is None
    consumer = Consumer(world, "c", "t")
    assert consumer.beat() is ErrorCode.NONE
    assert third.step() is ErrorCode.REBALANCE_IN_PROGRESS
    _run(world, first, second, third, consumer)
    assert _is_shared(world, first, second, third, consumer)


def test_offsets_outlive_both_ways(world):
    (classic,) = _classic_group(world, "a")
    assert _commit(world, classic, 7) is ErrorCode.NONE
    consumer = Consumer(world, "c", "t")
    consumer.beat()
    assert _fetched(world) == 7
    assert _commit(world, classic, 8) is ErrorCode.NONE
    consumer.leave()
    world.advance(0)
    assert (_listed(world), _fetched(world)) == ([("g", "classic")], 8)
    assert _commit(world, classic, 9) is ErrorCode.NONE


@pytest.mark.parametrize("policy", [MigrationPolicy.DISABLED, MigrationPolicy.DOWNGRADE])
def test_policy_may_keep_a_classic_group_classic(policy):
    world = _world(group_consumer_migration_policy=policy)
    _classic_group(world, "a")
    sent = world.send(Consumer(world, "c", "t").request(), "c")
    assert sent.error is ErrorCode.GROUP_ID_NOT_FOUND
    assert sent.response.error_message == f"{_UPGRADE_REFUSED}online upgrade is disabled."
    assert _listed(world) == [("g", "classic")]


def test_group_of_another_protocol_type_is_not_upgraded(world):
    world.stable_group("g", "worker", protocol_type="connect")
    sent = world.send(Consumer(world, "c", "t").request(), "c")
    assert sent.response.error_message == (f"{_UPGRADE_REFUSED}the group does not use the consumer embedded protocol.")


def test_group_that_is_too_large_is_not_upgraded():
    world = _world(group_consumer_max_size=1)
    _classic_group(world, "a", "b")
    sent = world.send(Consumer(world, "c", "t").request(), "c")
    assert sent.response.error_message == f"{_UPGRADE_REFUSED}the group size exceeds the consumer group maximum size."


def test_group_with_bytes_that_are_no_subscription_is_not_upgraded(world):
    world.stable_group("g", "a", metadata="x")
    sent = world.send(Consumer(world, "c", "t").request(), "c")
    assert sent.response.error_message == f"{_UPGRADE_REFUSED}the embedded consumer protocol is malformed."
    assert world.heartbeat("g", "a").error is ErrorCode.NONE


@pytest.mark.parametrize(("assignor", "error"), [("own", ErrorCode.GROUP_ID_NOT_FOUND), ("sticky", ErrorCode.NONE)])
def test_user_data_of_assignors_that_are_not_known_keep_a_group_classic(world, assignor, error):
    classic = ClassicConsumer(world, "a", "t", protocols=(assignor,), user_data=b"mine")
    _run(world, classic)
    sent = world.send(Consumer(world, "c", "t").request(), "c")
    assert sent.error is error
    assert ("unsupported custom assignor" in (sent.response.error_message or "")) == (error is not ErrorCode.NONE)


def test_refused_consumer_leaves_the_classic_group_as_it_is():
    world = _world(group_consumer_max_size=2)
    classic = _classic_group(world, "a", "b")
    assert Consumer(world, "c", "t").beat() is ErrorCode.GROUP_MAX_SIZE_REACHED
    assert _listed(world) == [("g", "classic")]
    assert [consumer.step() for consumer in classic] == [ErrorCode.NONE, ErrorCode.NONE]


def test_upgrade_that_cannot_be_written_leaves_the_classic_group_as_it_is(world):
    classic = _classic_group(world, "a", "b")
    world.append_error = ErrorCode.NOT_ENOUGH_REPLICAS
    assert Consumer(world, "c", "t").beat() is ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert _listed(world) == [("g", "classic")]
    assert [consumer.step() for consumer in classic] == [ErrorCode.NONE, ErrorCode.NONE]


# -- members of the classic protocol in a consumer group ---------------------------------------------------------------


def test_classic_member_joins_a_consumer_group(world):
    consumer, classic = Consumer(world, "c", "t"), ClassicConsumer(world, "a", "t")
    consumer.beat()
    assert classic.step() is ErrorCode.MEMBER_ID_REQUIRED
    assert classic.step() is ErrorCode.NONE
    assert (classic.owned, classic.epoch) == (set(), 2)
    _run(world, classic, consumer)
    assert _is_shared(world, classic, consumer)


def test_classic_member_does_not_join_where_migration_is_disabled():
    world = _world(group_consumer_migration_policy=MigrationPolicy.DISABLED)
    Consumer(world, "c", "t").beat()
    assert ClassicConsumer(world, "a", "t").step() is ErrorCode.INCONSISTENT_GROUP_PROTOCOL


def test_classic_members_need_a_protocol_in_common(world):
    consumer, classic = Consumer(world, "c", "t"), ClassicConsumer(world, "a", "t", protocols=("range", "sticky"))
    _run(world, consumer, classic)
    assert ClassicConsumer(world, "b", "t", protocols=("cooperative",)).step() is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert ClassicConsumer(world, "b", "t", protocols=("sticky",)).step() is ErrorCode.MEMBER_ID_REQUIRED


def test_requests_of_a_classic_member_are_checked(world):
    consumer, classic = Consumer(world, "c", "t"), ClassicConsumer(world, "a", "t")
    _run(world, consumer, classic)
    heartbeat, sync = world.heartbeat, world.sync
    assert heartbeat("g", "a", generation_id=classic.epoch - 1).error is ErrorCode.ILLEGAL_GENERATION
    assert heartbeat("g", "a", member_id="c", generation_id=consumer.epoch).error is ErrorCode.UNKNOWN_MEMBER_ID
    assert heartbeat("g", "a", member_id="nobody").error is ErrorCode.UNKNOWN_MEMBER_ID
    assert sync("g", "a", generation_id=classic.epoch + 1).error is ErrorCode.ILLEGAL_GENERATION
    assert sync("g", "a", protocol_name="sticky").error is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert sync("g", "a", protocol_type="connect").error is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert _commit(world, classic, 1, generation_id_or_member_epoch=99) is ErrorCode.ILLEGAL_GENERATION
    assert _commit(world, classic, 1, version=8) is ErrorCode.NONE


def test_classic_member_that_is_silent_loses_its_partitions(world):
    consumer, classic = Consumer(world, "c", "t"), ClassicConsumer(world, "a", "t")
    _run(world, consumer, classic)
    world.advance(SESSION_MS)
    _run(world, consumer)
    assert _is_shared(world, consumer)


def test_classic_member_that_does_not_join_again_is_removed(world):
    _classic_group(world, "a")
    consumer = Consumer(world, "c", "t")
    consumer.beat()
    for _ in range(13):
        world.heartbeat("g", "a")
        consumer.beat()
        world.advance(5_000)
    assert list(world.group().members) == ["c"]


def test_classic_member_that_does_not_sync_is_removed(world):
    (classic,) = _classic_group(world, "a")
    consumer = Consumer(world, "c", "t")
    consumer.beat()
    world.join("g", "a", metadata=classic._metadata())
    for _ in range(13):
        world.heartbeat("g", "a")
        consumer.beat()
        world.advance(5_000)
    assert list(world.group().members) == ["c"]


def test_classic_member_leaves(world):
    consumer, first, second = Consumer(world, "c", "t"), *(ClassicConsumer(world, name, "t") for name in "ab")
    _run(world, consumer, first, second)
    assert first.leave() is ErrorCode.NONE
    _run(world, consumer, second)
    assert _is_shared(world, consumer, second)


def test_member_of_the_consumer_protocol_is_removed_by_an_administrator(world):
    consumer, other = Consumer(world, "c", "t", instance_id="i"), Consumer(world, "d", "t")
    _run(world, consumer, other)
    assert world.leave("g", "instance=i").response.members[0].error_code == ErrorCode.NONE
    _run(world, other)
    assert _is_shared(world, other)


def test_static_member_changes_its_protocol_and_keeps_its_partitions(world):
    first, second = (ClassicConsumer(world, name, "t", instance_id=name) for name in "ab")
    _run(world, first, second)
    before, generation = first.owned, first.epoch
    again = Consumer(world, "c", "t", instance_id="a")
    assert again.beat() is ErrorCode.NONE
    assert (again.owned, world.group().epoch) == (before, generation)
    assert world.heartbeat("g", "a").error is ErrorCode.FENCED_INSTANCE_ID
    back = ClassicConsumer(world, "d", "t", instance_id="a")
    _run(world, back, second)
    assert (back.owned, _listed(world)) == (before, [("g", "classic")])


def test_partitions_that_are_added_reach_classic_members(world):
    consumer, classic = Consumer(world, "c", "t"), ClassicConsumer(world, "a", "t")
    _run(world, consumer, classic)
    world.topics.put("t", 6)
    assert [classic.step(), classic.step()] == [ErrorCode.NONE, ErrorCode.REBALANCE_IN_PROGRESS]
    _run(world, consumer, classic)
    assert _is_shared(world, consumer, classic, count=6)


def test_classic_members_outlive_the_coordinator(world):
    consumer, classic = Consumer(world, "c", "t"), ClassicConsumer(world, "a", "t")
    _run(world, consumer, classic)
    before = (consumer.owned, classic.owned)
    world.restart()
    assert (consumer.beat(), classic.step()) == (ErrorCode.NONE, ErrorCode.NONE)
    assert (consumer.owned, classic.owned) == before


# -- downgrade --------------------------------------------------------------------------------------------------------


def test_group_is_classic_again_when_the_last_consumer_leaves(world):
    classic = _classic_group(world, "a", "b", is_cooperative=True)
    consumer = Consumer(world, "c", "t")
    _run(world, *classic, consumer)
    epoch = world.group().epoch
    consumer.leave()
    world.advance(0)
    assert world.group() is None
    assert (world.describe("g").group_state, _listed(world)) == ("PreparingRebalance", [("g", "classic")])
    assert [consumer.step() for consumer in classic] == [ErrorCode.REBALANCE_IN_PROGRESS] * 2
    _run(world, *classic)
    assert _is_shared(world, *classic)
    assert classic[0].epoch > epoch


def test_group_is_classic_again_when_the_last_consumer_is_silent(world):
    (classic,) = _classic_group(world, "a")
    consumer = Consumer(world, "c", "t")
    _run(world, classic, consumer)
    for _ in range(12):
        world.advance(5_000)
        classic.step()
    assert _listed(world) == [("g", "classic")]
    _run(world, classic)
    assert _is_shared(world, classic)


def test_policy_may_keep_a_group_of_classic_members_a_consumer_group():
    world = _world(group_consumer_migration_policy=MigrationPolicy.UPGRADE)
    (classic,) = _classic_group(world, "a")
    consumer = Consumer(world, "c", "t")
    _run(world, classic, consumer)
    consumer.leave()
    _run(world, classic)
    assert _is_shared(world, classic)
    assert _listed(world) == [("g", "consumer")]


def test_downgrade_that_cannot_be_written_is_tried_again(world):
    (classic,) = _classic_group(world, "a")
    consumer = Consumer(world, "c", "t")
    _run(world, classic, consumer)
    consumer.leave()
    world.append_error = ErrorCode.NOT_ENOUGH_REPLICAS
    world.advance(0)
    assert _listed(world) == [("g", "consumer")]
    world.advance(1_000)
    assert _listed(world) == [("g", "classic")]
    _run(world, classic)
    assert _is_shared(world, classic)


def test_downgraded_group_rebalances_under_another_coordinator(world):
    (classic,) = _classic_group(world, "a")
    consumer = Consumer(world, "c", "t")
    _run(world, classic, consumer)
    consumer.leave()
    world.restart()
    world.advance(0)
    world.restart()
    _run(world, classic)
    assert (_listed(world), _is_shared(world, classic)) == ([("g", "classic")], True)


def test_memory_is_free_when_all_are_gone(world):
    classic = _classic_group(world, "a", "b")
    consumer = Consumer(world, "c", "t")
    _run(world, *classic, consumer)
    consumer.leave()
    _run(world, *classic)
    for member in classic:
        member.leave()
    world.advance(10_000)
    world.advance(GroupConfig().offsets_retention_check_interval_ms)
    assert (_listed(world), world.memory.bytes_held) == ([], 0)


def _classic_group(world, *names: str, **fields) -> list[ClassicConsumer]:
    consumers = [ClassicConsumer(world, name, "t", **fields) for name in names]
    _run(world, *consumers)
    assert _listed(world) == [("g", "classic")]
    return consumers


def _run(world, *consumers, rounds: int = 20) -> None:
    for _ in range(rounds):
        for consumer in consumers:
            consumer.step() if isinstance(consumer, ClassicConsumer) else consumer.beat()
        world.advance(100)


def _is_shared(world, *consumers, count: int = 4) -> bool:
    topic_id = world.topics.named("t").topic_id
    owned = sorted(partition for consumer in consumers for partition in consumer.owned)
    sizes = [len(consumer.owned) for consumer in consumers]
    return owned == [(topic_id, index) for index in range(count)] and max(sizes) - min(sizes) <= 1


def _listed(world):
    return [(group.group_id, group.group_type) for group in world.list_groups()]


def _described(world):
    return sorted(world.describe_consumers().members, key=lambda member: member.member_type)


def _commit(world, consumer, offset, version=9, **fields):
    return world.commit("g", consumer.name, {("t", 0): offset}, version, **fields).errors["t", 0]


def _fetched(world):
    (group,) = world.fetch("g", {"t": [0]}).response.groups
    return group.topics[0].partitions[0].committed_offset

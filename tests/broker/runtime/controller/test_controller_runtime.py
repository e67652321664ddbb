"""The controller on a real ZooKeeper, with scripted brokers at the other end of its channels."""

import asyncio
import threading

import pytest

from broker.common.cluster import TopicAssignment
from broker.common.errors import ApiError, ErrorCode
from broker.common.limits import PARTITIONS_DECIDED_ON_THE_LOOP
from broker.common.types import TopicPartition
from broker.controller.controller import Controller
from broker.controller.effects import RemoveDeletionRequest, RemoveTopic
from broker.controller.events import ShutdownAsked, TopicsListed
from broker.controller.verdict import ShutdownAnswer
from broker.protocol.api_keys import ApiKey
from broker.runtime.controller import controller_runtime, controller_watchdog
from broker.runtime.controller.cached_metadata import CachedMetadata
from broker.runtime.controller.zookeeper_effects import ControllerZooKeeper
from broker.zookeeper import znodes
from broker.zookeeper.election import read_controller, try_become_controller
from broker.zookeeper.session import Delete, ZnodeCreation
from broker.zookeeper.store import ClusterStore
from broker.zookeeper.znodes import delete_topic_path, encode_topic
from tests.broker.runtime.controller.nodes import Node, until
from tests.eventually import eventually

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


async def test_topic_gets_leaders_and_everybody_is_told(cluster):
    one, two = await cluster.start(1), await cluster.start(2)
    await one.store.create_topic("t", {0: (1,), 1: (2,)}, {})
    await eventually(lambda: one.broker.leads == {T0: 0} and two.broker.leads == {T1: 0}, "leaders")
    for node in (one, two):
        await eventually(lambda: node.broker.metadata == {T0: 1, T1: 2}, "metadata")  # noqa: B023
    await eventually(lambda: one.runtime.controller_id == two.runtime.controller_id == 1, "both know the controller")
    states = await one.store.states([T0, T1])
    assert [(state.leader, state.isr) for state in states.values()] == [(1, (1,)), (2, (2,))]


async def test_requests_carry_controller_and_broker_epochs(cluster):
    one = await cluster.start(1)
    await one.store.create_topic("t", {0: (1,)}, {})
    await eventually(lambda: one.broker.leads, "leader")
    request = one.broker.requests(ApiKey.LEADER_AND_ISR)[-1]
    assert (request.controller_id, request.controller_epoch) == (1, 1)
    assert request.broker_epoch == (await one.store.brokers())[1].epoch
    assert request.topic_states[0].topic_id == (await one.store.topic("t")).topic_id
    assert [leader.port for leader in request.live_leaders] == [one.broker.port]


NO_EPOCHS_TO_FOLLOW = [
    b"",
    b"seven",
    b"\xff",
    b"-4",
    b"0",
    b"1e3",
    b"2147483646",
    b"2147483647",
    b"99999999999",
    b"9" * 5_000,
]


@pytest.mark.parametrize("content", NO_EPOCHS_TO_FOLLOW, ids=lambda content: repr(content[:12]))
async def test_a_controller_epoch_that_is_damaged_or_of_a_backup_ends_no_controller(cluster, content):
    """The next one is above those in the partition states, below which brokers refuse what a controller says."""
    one = await cluster.start(1)
    await one.store.create_topic("t", {0: (1,)}, {})
    await eventually(lambda: one.broker.leads == {T0: 0}, "leader")
    await one.store.session.set(znodes.CONTROLLER_EPOCH, content)
    await one.store.create_topic("u", {0: (1,)}, {})
    await eventually(lambda: TopicPartition("u", 0) in one.broker.leads, "a leader of the later topic")
    assert one.broker.requests(ApiKey.LEADER_AND_ISR)[-1].controller_epoch == 2
    assert (await one.store.session.get(znodes.CONTROLLER_EPOCH)).data == b"2"


async def test_a_new_controller_goes_on_above_the_epoch_that_its_broker_has_heard_of(cluster):
    """The last controllers may have changed no partition's state."""
    one = await cluster.start(1)
    await cluster.stop(one)
    two = Node(2, cluster.connect, 4_000)
    two.runtime._cached = CachedMetadata(controller_epoch=lambda: 7)
    cluster.running.append(await two.start())
    await eventually(lambda: two.runtime.is_controller, "controller")
    await two.store.create_topic("t", {0: (2,)}, {})
    await eventually(lambda: two.broker.leads == {T0: 0}, "leader")
    assert two.broker.requests(ApiKey.LEADER_AND_ISR)[-1].controller_epoch == 8


async def test_broker_that_leaves_and_returns_leads_again_under_higher_epochs(cluster):
    one, two = await cluster.start(1), await cluster.start(2)
    await one.store.create_topic("t", {0: (1,), 1: (2,)}, {})
    await eventually(lambda: one.broker.metadata == {T0: 1, T1: 2}, "metadata")
    await cluster.stop(two)
    await eventually(lambda: one.broker.metadata == {T0: 1, T1: -1}, "partition 1 has no leader")
    again = await cluster.start(2)
    await eventually(lambda: again.broker.leads == {T1: 2}, "leads again")
    await eventually(lambda: one.broker.metadata == {T0: 1, T1: 2}, "and everybody knows")
    assert (await one.store.state(T1)).isr == (2,)


async def test_deleted_topic_disappears_everywhere(cluster):
    one, two = await cluster.start(1), await cluster.start(2)
    await one.store.create_topic("t", {0: (1,), 1: (2,)}, {"retention.ms": "5"})
    await eventually(lambda: one.broker.leads and two.broker.leads, "leaders")
    await two.store.request_topic_deletion("t")
    await until(lambda: one.store.topic_names(), [], "topic znode")
    assert await one.store.topics_to_delete() == []
    assert await one.store.session.children("/config/topics") == []
    await eventually(lambda: one.broker.metadata == {T0: -2, T1: -2}, "everybody is told")
    await eventually(lambda: (one.broker.leads, two.broker.leads) == ({}, {}), "nobody leads what is gone")
    await one.store.create_topic("t", {0: (2,)}, {})
    await eventually(lambda: two.broker.leads == {T0: 0}, "the name can be used again")


async def test_many_deletions_cost_zookeeper_no_question_for_each_pair_of_topics(cluster, monkeypatch):
    """What is listed while the controller is busy is out of date by the time it is stepped."""
    names, effects, listed = [f"t-{number}" for number in range(12)], [], []
    carry_out, topics_to_delete = ControllerZooKeeper.carry_out, ClusterStore.topics_to_delete

    async def list_and_note(*arguments):
        listed.append(await topics_to_delete(*arguments))
        return listed[-1]

    async def carry_out_when_all_are_stopped(zookeeper, effect, writes):
        effects.append(type(effect))
        outcome = await carry_out(zookeeper, effect, writes)
        if isinstance(effect, RemoveTopic):
            await eventually(lambda: len(one.broker.requests(ApiKey.STOP_REPLICA)) == len(names), "all are stopped")
            await eventually(lambda: effect.topic not in listed[-1], "listed without it")
        return outcome

    monkeypatch.setattr(ClusterStore, "topics_to_delete", list_and_note)
    one = await cluster.start(1)
    for name in names:
        await one.store.create_topic(name, {0: (1,)}, {})
    await eventually(lambda: len(one.broker.leads) == len(names), "leaders")
    monkeypatch.setattr(ControllerZooKeeper, "carry_out", carry_out_when_all_are_stopped)
    await one.store.session.multi([ZnodeCreation(delete_topic_path(name)) for name in names])
    await until(one.store.topic_names, [], "topics gone")
    await one.store.create_topic("next", {0: (1,)}, {})
    await eventually(lambda: one.broker.leads.keys() == {TopicPartition("next", 0)}, "the next one has a leader")
    assert effects.count(RemoveDeletionRequest) <= len(names)


async def test_what_was_read_of_a_topic_before_it_went_is_forgotten_with_it(cluster, monkeypatch):
    """It waits behind the removal; a topic made anew under its name would pass for the one that is known."""
    carry_out = ControllerZooKeeper.carry_out

    async def carry_out_among_readings(zookeeper, effect, writes):
        if not isinstance(effect, RemoveTopic):
            return await carry_out(zookeeper, effect, writes)
        path = znodes.topic_path("t")
        await one.store.session.set(path, (await one.store.session.get(path)).data)
        await eventually(lambda: "t" in one.runtime._last_seen, "read once more")
        outcome = await carry_out(zookeeper, effect, writes)
        await one.store.create_topic("t", {0: (1,), 1: (1,)}, {})
        seen = TopicsListed(frozenset({"t"}))
        await eventually(lambda: one.runtime._last_seen.get(TopicsListed) == seen, "listed anew")
        return outcome

    monkeypatch.setattr(ControllerZooKeeper, "carry_out", carry_out_among_readings)
    one = await cluster.start(1)
    await one.store.create_topic("t", {0: (1,)}, {})
    await eventually(lambda: one.broker.leads, "leader")
    await one.store.request_topic_deletion("t")
    await eventually(lambda: len(one.broker.leads) == 2, "the new one is led")


async def test_deletion_waits_for_a_broker_that_is_away(cluster):
    one, two = await cluster.start(1), await cluster.start(2)
    await one.store.create_topic("t", {0: (1,), 1: (2,)}, {})
    await eventually(lambda: one.broker.leads and two.broker.leads, "leaders")
    await cluster.stop(two)
    await one.store.request_topic_deletion("t")
    await eventually(lambda: one.broker.requests(ApiKey.STOP_REPLICA), "deletion has begun")
    assert await one.store.topic_names() == ["t"]
    await cluster.start(2)
    await until(lambda: one.store.topic_names(), [], "deletion is finished")


async def test_partitions_added_get_leaders(cluster):
    one = await cluster.start(1)
    created = await one.store.create_topic("t", {0: (1,)}, {})
    await eventually(lambda: one.broker.leads == {T0: 0}, "first partition")
    await add_partition(one.store, created)
    await eventually(lambda: one.broker.leads == {T0: 0, T1: 0}, "second partition")


async def test_isr_a_leader_has_changed_is_told_to_everybody(cluster):
    one, two = await cluster.start(1), await cluster.start(2)
    await one.store.create_topic("t", {0: (2, 1)}, {})
    await eventually(lambda: two.broker.leads == {T0: 0} and one.broker.isrs == {T0: [2, 1]}, "leader")
    roles = len(one.broker.requests(ApiKey.LEADER_AND_ISR))
    state = await two.store.state(T0)
    shrunk = await two.store.write_isr(T0, state.with_isr((2,)))
    await two.store.announce_isr_changes([T0])
    for node in (one, two):
        await eventually(lambda: node.broker.isrs == {T0: [2]}, "told")  # noqa: B023
    await until(one.store.isr_changes, [], "announcement removed")
    assert len(one.broker.requests(ApiKey.LEADER_AND_ISR)) == roles
    await cluster.stop(two)
    await eventually(lambda: one.broker.metadata == {T0: -1}, "the controller writes over the leader's version")
    assert (await one.store.state(T0)).zk_version == shrunk.zk_version + 1


async def test_broker_that_wants_to_stop_is_relieved_of_its_leaderships(cluster):
    one, two = await cluster.start(1), await cluster.start(2)
    await one.store.create_topic("t", {0: (2, 1), 1: (1, 2)}, {})
    await eventually(lambda: one.broker.metadata == two.broker.metadata == {T0: 2, T1: 1}, "leaders")
    epoch = (await one.store.brokers())[2].epoch
    answer = await one.runtime.ask(lambda number: ShutdownAsked(number, 2, epoch), 10_000)
    assert answer == ShutdownAnswer()
    await eventually(lambda: one.broker.leads == {T0: 1, T1: 1} and two.broker.leads == {}, "moved")
    assert {state.isr for state in (await one.store.states([T0, T1])).values()} == {(1,)}
    stops = [state for request in two.broker.requests(ApiKey.STOP_REPLICA) for state in request.topic_states]
    assert not any(one.delete_partition for topic in stops for one in topic.partition_states)


async def test_whoever_asks_a_broker_that_is_not_controller_is_told_so(cluster):
    one, two = await cluster.start(1), await cluster.start(2)
    await eventually(lambda: one.runtime.is_controller, "1 is controller")
    with pytest.raises(ApiError) as refusal:
        await two.runtime.ask(lambda number: ShutdownAsked(number, 2, 0), 10_000)
    assert refusal.value.code is ErrorCode.NOT_CONTROLLER


async def test_question_that_is_open_when_the_term_ends_is_refused(cluster):
    one = await cluster.start(1)
    await eventually(lambda: one.runtime.is_controller, "1 is controller")
    asking = asyncio.ensure_future(one.runtime.ask(lambda number: ShutdownAsked(number, 1, 0), 10_000))
    await asyncio.sleep(0)
    one.runtime._step_down()
    with pytest.raises(ApiError) as refusal:
        await asking
    assert refusal.value.code is ErrorCode.NOT_CONTROLLER


async def test_another_broker_takes_over_when_the_controller_stops(cluster):
    one, two = await cluster.start(1), await cluster.start(2)
    await one.store.create_topic("t", {0: (1,), 1: (2,)}, {})
    await eventually(lambda: two.broker.metadata == {T0: 1, T1: 2}, "metadata")
    await cluster.stop(one)
    await eventually(lambda: two.runtime.is_controller, "2 is controller")
    await eventually(lambda: two.broker.metadata == {T0: -1, T1: 2}, "its broker is gone")
    assert two.broker.requests(ApiKey.UPDATE_METADATA)[-1].controller_epoch == 2
    await two.store.create_topic("u", {0: (2,)}, {})
    await eventually(lambda: TopicPartition("u", 0) in two.broker.leads, "it acts")


async def test_lost_connection_to_a_broker_delays_but_loses_nothing(cluster):
    one, two = await cluster.start(1), await cluster.start(2)
    await one.store.create_topic("t", {0: (2,)}, {})
    await eventually(lambda: two.broker.leads == {T0: 0}, "leader")
    for number in range(5):
        two.broker.drop_connections()
        await one.store.create_topic(f"more-{number}", {0: (2,)}, {})
    expected = {T0: 0} | {TopicPartition(f"more-{number}", 0): 0 for number in range(5)}
    await eventually(lambda: two.broker.leads == expected, "all of them")
    assert two.broker.connections > 1


async def test_failed_log_directory_takes_the_leader_away(cluster):
    one = await cluster.start(1)
    one.broker.storage_errors.add(T0)
    await one.store.create_topic("t", {0: (1,), 1: (1,)}, {})
    await eventually(lambda: one.broker.metadata == {T0: -1, T1: 1}, "partition 0 has no leader")


async def test_log_directory_that_fails_later_takes_its_leaders_away(cluster):
    one, two = await cluster.start(1), await cluster.start(2)
    await one.store.create_topic("t", {0: (2, 1), 1: (2, 1)}, {})
    await eventually(lambda: two.broker.leads == {T0: 0, T1: 0}, "leaders")
    two.broker.storage_errors.add(T0)
    await two.store.announce_log_dir_failure(2)
    await eventually(lambda: one.broker.metadata == {T0: 1, T1: 2}, "partition 0 is led by 1")
    await until(one.store.log_dir_events, [], "announcement removed")
    assert (await one.store.state(T0)).isr == (1,)


async def test_role_that_a_broker_could_not_take_just_now_is_told_again_until_it_is_taken(cluster):
    one, two = await cluster.start(1), await cluster.start(2)
    two.broker.wants |= {T0, T1}
    await one.store.create_topic("t", {0: (2, 1), 1: (2,)}, {})
    await eventually(lambda: one.broker.metadata == {T0: 1, T1: -1}, "somebody else leads, if anybody can")
    assert (await one.store.state(T0)).isr == (1,)
    two.broker.wants.clear()
    await eventually(lambda: one.broker.metadata == {T0: 1, T1: 2}, "partition 1 is led again")
    await eventually(lambda: two.broker.leads.keys() == {T1}, "its leader is told too")
    partition_states = two.broker.requests(ApiKey.LEADER_AND_ISR)[-1].topic_states[0].partition_states
    assert {state.is_new for state in partition_states} == {False}


async def test_znodes_that_cannot_be_read_do_not_stop_the_controller(cluster):
    one = await cluster.start(1)
    await one.store.session.create("/brokers/topics/bad", b"garbage")
    await one.store.session.create("/brokers/ids/9", b"garbage")
    await one.store.create_topic("t", {0: (1,)}, {})
    await eventually(lambda: one.broker.leads == {T0: 0}, "leader")


async def add_partition(store: ClusterStore, created) -> None:
    grown = TopicAssignment(created.topic, created.topic_id, created.partitions | {1: (1,)})
    await store.session.set(f"/brokers/topics/{created.topic}", encode_topic(grown))


async def test_controller_goes_on_when_somebody_writes_nonsense_over_its_name(cluster):
    one, two = await cluster.start(1), await cluster.start(2)
    await eventually(lambda: two.runtime.controller_id == 1, "known to all")
    for nonsense in (b"garbage", b'{"brokerid":2}'):
        await two.store.session.set("/controller", nonsense)
        await until(lambda: read_controller(two.store.session), 1, "its name stands there again")
    await eventually(lambda: {item.runtime.controller_id for item in (one, two)} == {1}, "and all know it")
    await one.store.create_topic("t", {0: (2,)}, {})
    await eventually(lambda: two.broker.leads == {T0: 0}, "leader")
    assert {request.controller_epoch for request in two.broker.requests(ApiKey.LEADER_AND_ISR)} == {1}


async def test_brokers_elect_a_controller_past_a_znode_that_would_stay_for_ever(cluster):
    one, two = await cluster.start(1), await cluster.start(2)
    await eventually(lambda: two.runtime.controller_id == 1, "known to all")
    put_in_its_place = [Delete("/controller"), ZnodeCreation("/controller", b"garbage")]
    await two.store.session.multi(put_in_its_place)
    await eventually(lambda: one.runtime.is_controller or two.runtime.is_controller, "one of them is controller")
    await one.store.create_topic("t", {0: (1,)}, {})
    await eventually(lambda: one.broker.leads == {T0: 0}, "leader")
    assert one.broker.requests(ApiKey.LEADER_AND_ISR)[-1].controller_epoch == 2


@pytest.mark.parametrize(
    ("znode", "reason"),
    [
        (b"garbage", "/controller is not JSON"),
        (b'{"brokerid":9}', "/controller names broker 9, which is not registered"),
    ],
)
async def test_stranger_that_holds_the_office_is_told_of_with_what_to_do(cluster, monkeypatch, capsys, znode, reason):
    monkeypatch.setattr(controller_watchdog, "LOOK_AGAIN_S", 0.05)
    one, two = await cluster.start(1), await cluster.start(2)
    await eventually(lambda: two.runtime.controller_id == 1, "known to all")
    stranger = one.store.session
    await one.runtime.stop()
    await eventually(lambda: two.runtime.is_controller, "the next one")
    await stranger.multi([Delete("/controller"), ZnodeCreation("/controller", znode, ephemeral=True)])
    await eventually(lambda: not two.runtime.is_controller, "it is no longer")
    logged = []
    await eventually(lambda: logged.append(capsys.readouterr().out) or "remedy=" in "".join(logged), "it is told")
    assert reason in "".join(logged)
    assert "delete /controller in ZooKeeper" in "".join(logged)
    await stranger.delete("/controller")
    await eventually(lambda: two.runtime.is_controller, "controller again")


async def test_controller_that_stops_before_it_has_heard_of_its_election_leaves_the_office_to_others(
    cluster, monkeypatch
):
    one, two = await cluster.start(1), await cluster.start(2)
    await eventually(lambda: two.runtime.controller_id == 1, "known to all")
    elected = asyncio.Event()

    async def elect_and_not_answer(*arguments):
        if await try_become_controller(*arguments) is not None:
            elected.set()
            await asyncio.Event().wait()

    monkeypatch.setattr(controller_runtime, "try_become_controller", elect_and_not_answer)
    await one.runtime.stop()
    await asyncio.wait_for(elected.wait(), 10)
    await two.runtime.stop()
    assert await read_controller(one.store.session) == -1


class HeldSteps:
    """Steps of a controller that begin and do not end before they may; the loop goes on, or nobody could let them."""

    def __init__(self, monkeypatch):
        self.may_end, self.begun, self.under_way = threading.Event(), 0, 0
        step = Controller.step

        def held(machine, event, now_ms):
            if machine.reach(event) <= PARTITIONS_DECIDED_ON_THE_LOOP:
                assert not self.under_way, "two steps of one machine at once"
                return step(machine, event, now_ms)
            self.begun, self.under_way = self.begun + 1, self.under_way + 1
            try:
                assert self.may_end.wait(20), "the loop stood still"
                return step(machine, event, now_ms)
            finally:
                self.under_way -= 1

        monkeypatch.setattr(Controller, "step", held)


async def test_a_broker_goes_on_while_its_controller_decides_about_many_partitions(cluster, monkeypatch):
    one = await cluster.start(1)
    steps = HeldSteps(monkeypatch)
    wide = dict.fromkeys(range(PARTITIONS_DECIDED_ON_THE_LOOP + 1), (1,))
    await one.store.create_topic("wide", wide, {})
    await eventually(lambda: steps.begun, "it decides")
    moves = asyncio.ensure_future(one.runtime.reassignments())
    await asyncio.sleep(0)
    assert not moves.done(), "nobody looks at a machine that is being stepped"
    steps.may_end.set()
    assert await moves == {}
    await eventually(lambda: len(one.broker.leads) == len(wide), "all are led")


async def test_a_controller_that_is_stopped_while_it_decides_steps_its_machine_no_two_ways_at_once(
    cluster, monkeypatch
):
    one = await cluster.start(1)
    steps = HeldSteps(monkeypatch)
    wide = dict.fromkeys(range(PARTITIONS_DECIDED_ON_THE_LOOP + 1), (1,))
    await one.store.create_topic("wide", wide, {})
    await eventually(lambda: steps.begun, "it decides")
    stopping = asyncio.ensure_future(one.runtime.stop())
    await asyncio.sleep(0.05)
    assert not stopping.done(), "what was decided would be lost on a machine that has resigned"
    steps.may_end.set()
    await stopping
    assert not one.runtime.is_controller

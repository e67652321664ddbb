"""Faults of scenarios alone (`scenarios.py`): what has to happen one after the other before a certain defect shows."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from broker.common.types import TopicPartition
from broker.runtime.topics.internal_topics import OFFSETS_TOPIC
from tests.simulation.faults import Fault, _both_ways, _cut, _cut_power_of, _kill, _one, inflict
from tests.simulation.topics import BY_NAME, TRIMMED

if TYPE_CHECKING:
    from tests.simulation.world import World

_MS = 1_000
_S = 1_000_000
#: What has to be just so before a fault is any use is waited for so long.
_RIPE_WITHIN_US = 8 * _S
_TRIMMED = TopicPartition(TRIMMED, 0)


def inflict_directed(world: "World", fault: Fault) -> None:
    """Do what a fault of a scenario does, be it one of these or one of the common ones."""
    if fault.kind not in DIRECTED:
        inflict(world, fault)
        return
    world.history.add("FAULT", str(fault))
    DIRECTED[fault.kind][1](world, fault)


def _lose_the_newest_snapshot(world: "World", fault: Fault) -> None:
    """The preferred leader of the topic whose records a client deletes starts anew: a snapshot of producers stays
    on its disk. When its log begins behind that, and behind the last batch of some producer, its power is cut, which
    takes the next snapshot. As soon as it is in sync again the leader dies, so that it leads.
    """
    preferred = next(partition_state.replicas[0] for where, _, partition_state in world.states() if where == _TRIMMED)
    process = world.process_of(preferred)
    if not process.is_started:
        return
    kept = process.producer_snapshots(_TRIMMED)
    _kill(world, process, 100 * _MS)
    until_us = world.timeline.now_us + _RIPE_WITHIN_US

    def await_ripe() -> None:
        world.load.deleter.wants_all = process.is_started and process.producer_snapshots(_TRIMMED)[-1:] != kept[-1:]
        if process.is_started and process.begins_behind(_TRIMMED, kept):
            _cut_power_of(world, process, fault.lasts_us)
            await_in_sync()
        elif world.timeline.now_us < until_us:
            world.timeline.plan_in(20 * _MS, await_ripe)

    def await_in_sync() -> None:
        state = world.state_of(_TRIMMED)
        if process.is_started and process.broker_id in state.isr and state.leader != process.broker_id:
            _kill(world, world.process_of(state.leader), world.session_timeout_us + 2 * _S)
        elif world.timeline.now_us < until_us:
            world.timeline.plan_in(5 * _MS, await_in_sync)

    await_ripe()


def _take_over_uncommitted(world: "World", fault: Fault) -> None:
    """A coordinator of groups dies, and its successor leads what the replica that is left does not get to hold.

    The controller is neither of the two that go: it has to tell the successor.
    """
    roles = [(state.leader, *(replica for replica in item.replicas if replica != state.leader))
             for where, state, item in world.states() if where.topic == OFFSETS_TOPIC]  # fmt: skip
    controller = world.controller.broker_id if world.controller else None
    chosen = _one(fault, [role for role in roles if controller not in (role[0], role[-1])])
    if chosen is None:
        return
    leader, behind = world.process_of(chosen[0]), world.process_of(chosen[-1]).name
    _cut(
        world,
        fault,
        [link for broker in world.brokers if broker.name != behind for link in _both_ways(behind, broker.name)],
    )
    restart_after_us = world.session_timeout_us + fault.lasts_us
    world.timeline.plan_in(600 * _MS, lambda: _kill(world, leader, restart_after_us))


def _lose_power_everywhere_and_the_disk_of_the_last(world: "World", fault: Fault) -> None:
    """All machines lose power at once, one of them its disk too, and that one starts last.

    What was acknowledged in a topic with flush.messages=1 is on the disks of the others. Sessions are over by then.
    """
    last = _one(fault, world.brokers)
    others = [process for process in world.brokers if process is not last]
    for number, process in enumerate([*others, last]):
        if process is last:
            process.lose_disk()
        else:
            process.cut_power()
        world.timeline.plan_in(world.session_timeout_us + 2 * _S + number * fault.lasts_us, process.start)


def _lose_the_tail_of_the_last_in_sync(world: "World", fault: Fault) -> None:
    """A leader is cut off from its peers until it is alone in its ISR, below min.insync.replicas. Then its machine
    loses power, its peers are killed, and it is the first to be back.

    What it had acknowledged is in the page caches of those who left the ISR before it (KIP-966).
    """
    partition = _one(fault, [TopicPartition("orders", number) for number in range(BY_NAME["orders"].partitions)])
    process = world.leader_of(partition)
    if process is None or not all(broker.is_started for broker in world.brokers):
        return
    others = [broker for broker in world.brokers if broker is not process]
    _cut(world, fault, [link for other in others for link in _both_ways(process.name, other.name)])
    until_us = world.timeline.now_us + fault.lasts_us

    def await_alone() -> None:
        state = world.state_of(partition)
        if process.is_started and (state.leader, state.isr) == (process.broker_id, (process.broker_id,)):
            process.cut_power()
            world.timeline.plan_in(500 * _MS, process.start)
            for other in others:
                other.kill()
                world.timeline.plan_in(world.session_timeout_us + 2 * _S, other.start)
        elif world.timeline.now_us < until_us:
            world.timeline.plan_in(20 * _MS, await_alone)

    await_alone()


#: Of each kind: the longest it lasts, and what it does.
DIRECTED: dict[str, tuple[int, Callable[["World", Fault], None]]] = {
    "takeover of uncommitted offsets": (8 * _S, _take_over_uncommitted),
    "loss of the newest snapshot": (1 * _S, _lose_the_newest_snapshot),
    "loss of the last tail in sync": (6 * _S, _lose_the_tail_of_the_last_in_sync),
    "power loss everywhere": (2 * _S, _lose_power_everywhere_and_the_disk_of_the_last),
}

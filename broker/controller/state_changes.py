"""Turns "these partitions may not be as they should be" into the states to write and the requests to send.

Three steps, the same for every cause: compare with what should be, write the difference, and when it is written (or
somebody else's state was found instead) tell the brokers.
"""

from collections.abc import Iterable, Mapping

from broker.common.cluster import LeaderAndIsr
from broker.common.types import TopicPartition
from broker.controller.context import ControllerContext
from broker.controller.effects import ControllerEffect, TellEligibleElections, WriteStates
from broker.controller.events import StatesWritten
from broker.controller.partition_states import PartitionStatus
from broker.controller.reassignment_end import end_moves, write_when_deleted
from broker.controller.replica_states import Replica, ReplicaStatus
from broker.controller.request_batch import RequestBatch
from broker.controller.state_restoration import report_restorations
from broker.controller.unclean_election import ask_unclean, report_unclean_elections


def take_over(context: ControllerContext, partitions: Iterable[TopicPartition]) -> list[ControllerEffect]:
    """Tell brokers of partitions found in ZooKeeper, all at once, and correct those that are not as they should be.

    All at once: a broker that knew only some partitions of a topic would hash groups over too few.
    """
    to_tell = list(partitions)
    to_correct = context.wanted_states(to_tell)
    batch = RequestBatch(context)
    batch.add_metadata([partition for partition in to_tell if partition in context.states], context.brokers)
    for partition in to_tell:
        if partition in context.states and partition not in to_correct:
            batch.add_leader_and_isr(partition, context.online_replicas(partition))
    return [*batch.effects(), *correct_states(context, to_tell)]


def correct_states(context: ControllerContext, partitions: Iterable[TopicPartition]) -> list[ControllerEffect]:
    """Write the states of those partitions that need another one; ask whether the hopeless may have an unclean one."""
    partitions_listed = list(partitions)
    wanted = context.wanted_states(partitions_listed)
    return [*([WriteStates(wanted)] if wanted else []), *ask_unclean(context, partitions_listed)]


def states_written(context: ControllerContext, event: StatesWritten) -> list[ControllerEffect]:
    """Tell everyone what stands in ZooKeeper now; what was found instead of ours may need another correction."""
    effects = [
        *report_unclean_elections(context, event.written),
        *_report_eligible_elections(context, event.written),
        *report_restorations(context, event.written),
    ]
    for partition, state in (event.written | event.stored).items():
        if context.is_current(partition):
            context.states[partition] = state
            if state.has_leader:
                context.forget_extents(partition)
    context.reassignment_notes.epoch_due.difference_update(event.written)
    batch = RequestBatch(context)
    batch.add_metadata([], context.brokers)
    ended = end_moves(context, event.written, batch)
    again = context.wanted_states(p for p in (*event.written, *event.stored) if context.is_current(p))
    settled = [
        partition
        for partition in (*event.written, *event.stored)
        if partition not in again and context.is_current(partition)
    ]
    batch.add_to_all(settled)
    settle(context, settled)
    corrections = correct_states(context, dict.fromkeys((*again, *event.stored)))
    return [*effects, *batch.effects(), *corrections, *write_when_deleted(context, ended)]


def _report_eligible_elections(
    context: ControllerContext, written: Mapping[TopicPartition, LeaderAndIsr]
) -> list[ControllerEffect]:
    """Return an effect for states just written, and not yet in `context`, whose leader was in the ELR."""
    elected = tuple(
        partition
        for partition, state in written.items()
        if (before := context.states.get(partition)) is not None
        if state.has_leader and state.leader in before.elr and state.leader != before.leader
    )
    return [TellEligibleElections(elected)] if elected else []


def settle(context: ControllerContext, partitions: Iterable[TopicPartition]) -> None:
    """Bring the machines of partitions that have a state, and of their replicas, in line with it and with brokers."""
    led: list[TopicPartition] = []
    leaderless: list[TopicPartition] = []
    served: list[Replica] = []
    away: list[Replica] = []
    for partition in partitions:
        online = context.online_replicas(partition)
        (led if context.states[partition].leader in online else leaderless).append(partition)
        for replica in context.replicas(partition):
            (served if replica.broker_id in online else away).append(replica)
    context.partition_status.move(led, PartitionStatus.ONLINE)
    context.partition_status.move(leaderless, PartitionStatus.OFFLINE)
    context.replica_status.move(served, ReplicaStatus.ONLINE)
    context.replica_status.move(away, ReplicaStatus.OFFLINE)


def replicas_went_offline(context: ControllerContext, partitions: Iterable[TopicPartition]) -> list[ControllerEffect]:
    """Take replicas of these partitions as offline: their brokers or log directories are gone."""
    current = [partition for partition in partitions if context.is_current(partition)]
    written = [partition for partition in current if partition in context.states]
    settle(context, written)
    return correct_states(context, written)

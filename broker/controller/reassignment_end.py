"""How a move ends: the state that leaves the removed replicas out is written; now they are deleted.

The znode names them until each of their brokers has answered, so that a controller elected in between deletes them
again. A broker that is away is not waited for; if this controller still is one when that broker returns, it is told
then.
"""

from collections.abc import Iterable

from broker.common.cluster import LeaderAndIsr
from broker.common.replica_assignment import ReplicaAssignment
from broker.common.types import TopicPartition
from broker.controller.context import ControllerContext
from broker.controller.effects import ControllerEffect, ReplicaStop, SendStopReplica, WriteAssignments
from broker.controller.events import ReplicasDeleted
from broker.controller.replica_states import Replica
from broker.controller.request_batch import RequestBatch


def end_moves(
    context: ControllerContext, written: dict[TopicPartition, LeaderAndIsr], batch: RequestBatch
) -> list[TopicPartition]:
    """Take the moves as done whose last state is among `written`; their removed replicas are stopped by `batch`."""
    ended = [partition for partition, state in sorted(written.items()) if _is_last_state(context, partition, state)]
    for partition in ended:
        _end(context, partition, written[partition], batch)
    return ended


def write_when_deleted(context: ControllerContext, partitions: Iterable[TopicPartition]) -> list[ControllerEffect]:
    """Write the final assignment of ended moves that no broker is waiting for."""
    plans = {
        partition: context.replica_assignment(partition)
        for partition in partitions
        if context.is_current(partition) and context.reassignment_notes.leaving.get(partition) == set()
    }
    return write_assignments(context, plans)


def write_assignments(
    context: ControllerContext, plans: dict[TopicPartition, ReplicaAssignment]
) -> list[ControllerEffect]:
    topics = sorted({partition.topic for partition in plans})
    return [WriteAssignments(plans, {topic: context.topics[topic].topic_id for topic in topics})] if plans else []


def removed_replicas_deleted(context: ControllerContext, event: ReplicasDeleted) -> list[ControllerEffect]:
    """Handle deleted replicas.

    One that could not be deleted, because its log directory is offline, is not waited for.
    """
    if not context.is_current_incarnation(event.broker_id, event.broker_epoch):
        return []
    answered = sorted(
        partition
        for partition in event.deleted | event.failed
        if event.broker_id in context.reassignment_notes.leaving.get(partition, ())
        and event.leader_epochs.get(partition, -1) >= context.reassignment_notes.ended_at[partition]
    )
    for partition in answered:
        context.reassignment_notes.leaving[partition].discard(event.broker_id)
    return write_when_deleted(context, answered)


def removed_hosts_left(context: ControllerContext, left: Iterable[int]) -> list[ControllerEffect]:
    """Handle brokers that have gone: their removed replicas are deleted when they come back."""
    waiting, notes = [], context.reassignment_notes
    for partition, hosts in sorted(notes.leaving.items()):
        for broker_id in hosts.intersection(left):
            notes.strays[Replica(partition, broker_id)] = notes.ended_at[partition]
            waiting.append(partition)
        hosts.difference_update(left)
    return write_when_deleted(context, dict.fromkeys(waiting))


def stop_strays(context: ControllerContext, joined: Iterable[int]) -> list[ControllerEffect]:
    """Stop replicas that were taken from brokers while they were away; a move not yet over waits for them."""
    effects: list[ControllerEffect] = []
    for broker_id in joined:
        strays = sorted(replica for replica in context.reassignment_notes.strays if replica.broker_id == broker_id)
        epochs = {replica.partition: context.reassignment_notes.strays.pop(replica) for replica in strays}
        stops = [
            ReplicaStop(partition, epoch, delete=True)
            for partition, epoch in epochs.items()
            if not (context.is_current(partition) and broker_id in context.assignment(partition))
        ]
        for partition in epochs.keys() & context.reassignment_notes.leaving.keys():
            context.reassignment_notes.leaving[partition].add(broker_id)
        if stops:
            effects.append(SendStopReplica(broker_id, context.controller_epoch, tuple(stops)))
    return effects


def _is_last_state(context: ControllerContext, partition: TopicPartition, state: LeaderAndIsr) -> bool:
    if not context.is_current(partition):
        return False
    assignment = context.replica_assignment(partition)
    if not assignment.is_reassigning or state.leader not in assignment.target:
        return False
    return assignment.in_sync_targets(state.isr, context.online_replicas(partition)) == state.isr


def _end(context: ControllerContext, partition: TopicPartition, state: LeaderAndIsr, batch: RequestBatch) -> None:
    assignment = context.replica_assignment(partition)
    removed = [Replica(partition, broker_id) for broker_id in assignment.removing]
    context.set_assignment(partition, ReplicaAssignment(assignment.target))
    context.replica_status.forget(removed)
    context.forget_failures(removed)
    alive = [replica.broker_id for replica in removed if replica.broker_id in context.brokers]
    context.reassignment_notes.leaving[partition] = set(alive)
    context.reassignment_notes.ended_at[partition] = state.leader_epoch
    stop = ReplicaStop(partition, state.leader_epoch, delete=True)
    batch.add_stop(stop, alive)
    away = [replica for replica in removed if replica.broker_id not in alive]
    context.reassignment_notes.strays.update(dict.fromkeys(away, state.leader_epoch))

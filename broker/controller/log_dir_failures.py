"""A broker has lost a log directory and lives on with the others.

Only the broker knows what lay in that directory: it is told its roles once more, and answers which of them it can no
longer take. For these replicas it is as good as gone until it starts again.
"""

from broker.controller.context import ControllerContext
from broker.controller.effects import Effect, ReadLogDirEvents, RemoveLogDirEvents
from broker.controller.events import LeaderAndIsrAnswered, LogDirEventsListed, LogDirsFailed
from broker.controller.replica_states import Replica
from broker.controller.request_batch import RequestBatch
from broker.controller.state_changes import replicas_went_offline


def log_dir_events_listed(_context: ControllerContext, event: LogDirEventsListed) -> list[Effect]:
    return [ReadLogDirEvents(event.names), RemoveLogDirEvents(event.names)] if event.names else []


def log_dirs_failed(context: ControllerContext, event: LogDirsFailed) -> list[Effect]:
    batch = RequestBatch(context)
    for broker_id in sorted(event.broker_ids & context.brokers.keys()):
        for partition in context.partitions_on([broker_id]):
            if partition in context.states and context.is_online(Replica(partition, broker_id)):
                batch.add_leader_and_isr(partition, [broker_id])
    return batch.effects()


def leader_and_isr_answered(context: ControllerContext, event: LeaderAndIsrAnswered) -> list[Effect]:
    """Replicas the broker cannot host take no part any more."""
    if not context.is_current_incarnation(event.broker_id, event.broker_epoch):
        return []
    failed = sorted(
        partition
        for partition in event.failed
        if context.is_current(partition) and event.broker_id in context.assignment(partition)
    )
    context.failed_replicas.update(Replica(partition, event.broker_id) for partition in failed)
    return replicas_went_offline(context, failed)

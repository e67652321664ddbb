"""A broker has lost a log directory and lives on with the others.

Only the broker knows what lay in that directory: it is told its roles once more, and answers which of them it can no
longer take. For these replicas it is as good as gone until it starts again.
"""

from broker.controller.context import ControllerContext
from broker.controller.effects import ControllerEffect, ReadLogDirEvents, RemoveLogDirEvents
from broker.controller.events import LogDirEventsListed, LogDirsFailed
from broker.controller.replica_states import Replica
from broker.controller.request_batch import RequestBatch


def log_dir_events_listed(_context: ControllerContext, event: LogDirEventsListed) -> list[ControllerEffect]:
    return [ReadLogDirEvents(event.names), RemoveLogDirEvents(event.names)] if event.names else []


def log_dirs_failed(context: ControllerContext, event: LogDirsFailed) -> list[ControllerEffect]:
    batch = RequestBatch(context)
    for broker_id in sorted(event.broker_ids & context.brokers.keys()):
        for partition in context.partitions_on([broker_id]):
            if partition in context.states and context.is_online(Replica(partition, broker_id)):
                batch.add_leader_and_isr(partition, [broker_id])
    return batch.effects()

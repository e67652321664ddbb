"""A broker asks to be relieved before it stops: no client is then left without a leader.

What it follows it stops following, and leaves the ISR. What it leads goes to another member of the ISR. What only it
could lead stays with it: with a live replica that is not in sync yet, asking again later may help; a partition whose
other replicas are all away (or that has none) cannot be helped and keeps nobody waiting, unlike in Kafka.
The replicas that were taken away are offline from then on, until the broker registers anew.
"""

from broker.common.errors import ErrorCode
from broker.common.types import TopicPartition
from broker.controller.context import ControllerContext
from broker.controller.effects import AnswerShutdown, ControllerEffect, ReplicaStop, SendStopReplica, StepAgain
from broker.controller.events import ShutdownAsked, ShutdownCarriedOut
from broker.controller.replica_states import Replica
from broker.controller.state_changes import replicas_went_offline
from broker.controller.verdict import ShutdownAnswer


def shutdown_asked(context: ControllerContext, event: ShutdownAsked) -> list[ControllerEffect]:
    """Begin a controlled shutdown. Followers are stopped before they leave the ISR, or their leader would take them in
    again; leaders after.
    """
    broker_id = event.broker_id
    if not context.is_current_incarnation(broker_id, event.broker_epoch):
        is_known = broker_id in context.brokers
        code = ErrorCode.STALE_BROKER_EPOCH if is_known else ErrorCode.BROKER_NOT_AVAILABLE
        return [AnswerShutdown(event.request_id, ShutdownAnswer(code))]
    hosted = [one for one in context.partitions_on([broker_id]) if _is_replicated_here(context, one, broker_id)]
    followed = [one for one in hosted if context.states[one].leader != broker_id]
    led = [one for one in hosted if context.states[one].leader == broker_id and _can_move(context, one, broker_id)]
    context.fail(Replica(partition, broker_id) for partition in (*followed, *led))
    return [
        *_stop(context, broker_id, followed),
        *replicas_went_offline(context, (*followed, *led)),
        *_stop(context, broker_id, led),
        StepAgain(ShutdownCarriedOut(event)),
    ]


def shutdown_carried_out(context: ControllerContext, event: ShutdownCarriedOut) -> list[ControllerEffect]:
    broker_id = event.request.broker_id
    remaining = frozenset(
        partition
        for partition in context.partitions_on([broker_id])
        if partition in context.states
        and context.states[partition].leader == broker_id
        and set(context.online_replicas(partition)) - {broker_id}
    )
    return [AnswerShutdown(event.request.request_id, ShutdownAnswer(remaining=remaining))]


def _is_replicated_here(context: ControllerContext, partition: TopicPartition, broker_id: int) -> bool:
    """Return whether the broker has a replica that is to be relieved, and was not before."""
    others = len(context.assignment(partition)) > 1
    return others and partition in context.states and context.is_reachable(Replica(partition, broker_id))


def _can_move(context: ControllerContext, partition: TopicPartition, broker_id: int) -> bool:
    in_sync = set(context.states[partition].isr).intersection(context.online_replicas(partition))
    return bool(in_sync - {broker_id})


def _stop(context: ControllerContext, broker_id: int, partitions: list[TopicPartition]) -> list[ControllerEffect]:
    stops = tuple(ReplicaStop(one, context.states[one].leader_epoch, delete=False) for one in partitions)
    return [SendStopReplica(broker_id, context.controller_epoch, stops)] if stops else []

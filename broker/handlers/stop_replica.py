"""StopReplica: the controller takes a partition away from this broker, with or without its files."""

from broker.common.errors import ApiError, ErrorCode
from broker.common.types import TopicPartition
from broker.handlers.handler import private
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.stop_replica import (
    StopReplicaPartitionError,
    StopReplicaPartitionState,
    StopReplicaRequest,
    StopReplicaResponse,
)
from broker.runtime.in_turns import in_turns
from broker.runtime.replication.role_changes import StoppedPartition, stop_replicas
from broker.runtime.requests.context import RequestContext


async def handle_stop_replica(request: StopReplicaRequest, context: RequestContext) -> StopReplicaResponse:
    replicas, turns = context.services.replicas, context.services.turns
    named = ((topic.topic_name, state) for topic in request.topic_states for state in topic.partition_states)
    stops = await in_turns(named, lambda pair: _stop(*pair), turns)

    async def stop() -> dict[TopicPartition, ErrorCode]:
        # Another controller may have spoken while others had their roles.
        replicas.check_controller(request.controller_epoch, request.broker_epoch)
        return await stop_replicas(replicas, stops)

    try:
        await context.services.controller_epochs.check(request.controller_epoch, request.broker_epoch)
        outcomes = await replicas.taking_roles.to_the_end(stop)
    except ApiError as error:
        return StopReplicaResponse(error_code=error.code)
    return StopReplicaResponse(partition_errors=await in_turns(outcomes.items(), lambda one: _outcome(*one), turns))


def _stop(topic: str, state: StopReplicaPartitionState) -> StoppedPartition:
    return StoppedPartition(TopicPartition(topic, state.partition_index), state.delete_partition, state.leader_epoch)


def _outcome(stopped: TopicPartition, code: ErrorCode) -> StopReplicaPartitionError:
    return StopReplicaPartitionError(topic_name=stopped.topic, partition_index=stopped.partition, error_code=code)


HANDLER = private(ApiKey.STOP_REPLICA, 4, handle_stop_replica)

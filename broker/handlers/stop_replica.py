"""StopReplica: the controller takes a partition away from this broker, with or without its files."""

from broker.common.errors import ApiError, ErrorCode
from broker.common.types import TopicPartition
from broker.handlers.handler import RequestContext, private
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.stop_replica import (
    StopReplicaPartitionError,
    StopReplicaRequest,
    StopReplicaResponse,
)


async def handle_stop_replica(request: StopReplicaRequest, context: RequestContext) -> StopReplicaResponse:
    try:
        await context.services.controller_epochs.check(request.controller_epoch, request.broker_epoch)
    except ApiError as error:
        return StopReplicaResponse(error_code=error.code)
    return StopReplicaResponse(
        partition_errors=[
            StopReplicaPartitionError(
                topic_name=topic.topic_name,
                partition_index=state.partition_index,
                error_code=_stop(TopicPartition(topic.topic_name, state.partition_index), state, context),
            )
            for topic in request.topic_states
            for state in topic.partition_states
        ]
    )


def _stop(topic_partition: TopicPartition, state, context: RequestContext) -> ErrorCode:
    try:
        context.services.replicas.stop_replica(
            topic_partition, delete=state.delete_partition, leader_epoch=state.leader_epoch
        )
    except ApiError as error:
        return error.code
    return ErrorCode.NONE


HANDLER = private(ApiKey.STOP_REPLICA, 4, handle_stop_replica)

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
from broker.runtime.replication.role_changes import ReplicaStop, stop_replicas


async def handle_stop_replica(request: StopReplicaRequest, context: RequestContext) -> StopReplicaResponse:
    replicas = context.services.replicas
    stops = [
        ReplicaStop(TopicPartition(topic.topic_name, state.partition_index), state.delete_partition, state.leader_epoch)
        for topic in request.topic_states
        for state in topic.partition_states
    ]

    async def stop() -> dict[TopicPartition, ErrorCode]:
        # Another controller may have spoken while others had their roles.
        replicas.check_controller(request.controller_epoch, request.broker_epoch)
        return await stop_replicas(replicas, stops)

    try:
        await context.services.controller_epochs.check(request.controller_epoch, request.broker_epoch)
        outcomes = await replicas.taking_roles.to_the_end(stop)
    except ApiError as error:
        return StopReplicaResponse(error_code=error.code)
    return StopReplicaResponse(
        partition_errors=[
            StopReplicaPartitionError(topic_name=topic, partition_index=index, error_code=code)
            for (topic, index), code in outcomes.items()
        ]
    )


HANDLER = private(ApiKey.STOP_REPLICA, 4, handle_stop_replica)

"""LeaderAndIsr: the controller gives this broker its roles."""

from broker.common.errors import ApiError
from broker.handlers.handler import RequestContext, private
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.leader_and_isr import (
    LeaderAndIsrPartitionError,
    LeaderAndIsrRequest,
    LeaderAndIsrResponse,
    LeaderAndIsrTopicError,
)
from broker.runtime.replication.role_changes import create_logs, take_roles, topics_new_here


async def handle_leader_and_isr(request: LeaderAndIsrRequest, context: RequestContext) -> LeaderAndIsrResponse:
    replicas = context.services.replicas
    try:
        await context.services.controller_epochs.check(request.controller_epoch, request.broker_epoch)
    except ApiError as error:
        return LeaderAndIsrResponse(error_code=error.code)
    async with replicas.taking_roles:
        try:
            # Another controller may have spoken while others had their roles.
            replicas.check_controller(request.controller_epoch, request.broker_epoch)
            await create_logs(replicas, request)
            configs = await context.services.topic_configs.log_configs(topics_new_here(replicas, request))
            outcomes = await take_roles(replicas, request, configs)
        except ApiError as error:
            return LeaderAndIsrResponse(error_code=error.code)
    return LeaderAndIsrResponse(
        topics=[
            LeaderAndIsrTopicError(
                topic_id=topic_id,
                partition_errors=[
                    LeaderAndIsrPartitionError(partition_index=index, error_code=code)
                    for index, code in partitions.items()
                ],
            )
            for topic_id, partitions in outcomes.items()
        ]
    )


HANDLER = private(ApiKey.LEADER_AND_ISR, 7, handle_leader_and_isr)

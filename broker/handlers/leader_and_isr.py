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


async def handle_leader_and_isr(request: LeaderAndIsrRequest, context: RequestContext) -> LeaderAndIsrResponse:
    replicas = context.services.replicas
    try:
        await context.services.controller_epochs.check(request.controller_epoch, request.broker_epoch)
    except ApiError as error:
        return LeaderAndIsrResponse(error_code=error.code)
    topics = {topic.topic_name for topic in request.topic_states}
    async with replicas.taking_roles:
        try:
            await replicas.create_logs(request)
            configs = await context.services.topic_configs.log_configs(topics)
            # Another controller may have spoken meanwhile.
            replicas.check_controller(request.controller_epoch, request.broker_epoch)
        except ApiError as error:
            return LeaderAndIsrResponse(error_code=error.code)
        outcomes = replicas.apply_leader_and_isr(request, configs)
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

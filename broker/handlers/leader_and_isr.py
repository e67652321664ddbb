"""LeaderAndIsr: the controller gives this broker its roles."""

from uuid import UUID

from broker.common.errors import ApiError, ErrorCode
from broker.common.types import TopicPartition
from broker.handlers.handler import private
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.leader_and_isr import (
    LeaderAndIsrPartitionError,
    LeaderAndIsrRequest,
    LeaderAndIsrResponse,
    LeaderAndIsrTopicError,
)
from broker.runtime.replication.hosted_partition import extent_without_leader, last_role
from broker.runtime.replication.role_changes import create_logs, take_roles, topics_new_here
from broker.runtime.requests.context import RequestContext


async def handle_leader_and_isr(request: LeaderAndIsrRequest, context: RequestContext) -> LeaderAndIsrResponse:
    replicas = context.services.replicas

    async def take() -> dict[UUID, dict[int, ErrorCode]]:
        # Another controller may have spoken while others had their roles.
        replicas.check_controller(request.controller_epoch, request.broker_epoch)
        await create_logs(replicas, request)
        configs = await context.services.topic_configs.log_configs(topics_new_here(replicas, request))
        return await take_roles(replicas, request, configs)

    try:
        await context.services.controller_epochs.check(request.controller_epoch, request.broker_epoch)
        outcomes = await replicas.taking_roles.to_the_end(take)
    except ApiError as error:
        return LeaderAndIsrResponse(error_code=error.code)
    names = {topic.topic_id: topic.topic_name for topic in request.topic_states}

    def outcome_of(topic_id: UUID, index: int, code: ErrorCode) -> LeaderAndIsrPartitionError:
        topic_partition = TopicPartition(names[topic_id], index)
        if code is not ErrorCode.NONE:
            refused = LeaderAndIsrPartitionError(partition_index=index, error_code=code)
            if replicas.logs.is_withheld(topic_partition):
                refused.log_end_offset = 0
            if code is ErrorCode.STALE_CONTROLLER_EPOCH:
                known = last_role(replicas.get(*topic_partition))
                refused.known_leader_epoch, refused.known_leader = known.leader_epoch, known.leader
                refused.known_isr = list(known.isr)
            return refused
        last_epoch, log_end_offset = extent_without_leader(replicas.get(*topic_partition))
        return LeaderAndIsrPartitionError(
            partition_index=index,
            is_full=replicas.logs.is_full(topic_partition),
            last_epoch=last_epoch,
            log_end_offset=log_end_offset,
        )

    return LeaderAndIsrResponse(
        topics=[
            LeaderAndIsrTopicError(
                topic_id=topic_id,
                partition_errors=[outcome_of(topic_id, index, code) for index, code in partitions.items()],
            )
            for topic_id, partitions in outcomes.items()
        ]
    )


HANDLER = private(ApiKey.LEADER_AND_ISR, 7, handle_leader_and_isr)

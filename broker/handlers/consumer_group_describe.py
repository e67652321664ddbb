"""ConsumerGroupDescribe: epochs, members and assignments, each group from its own coordinator partition (KIP-848)."""

from broker.common.errors import ApiError, ErrorCode
from broker.handlers.authorization import denied_topics, require
from broker.handlers.coordinator_response import response_of
from broker.handlers.group_request import ask_group
from broker.handlers.handler import OF_EVERYTHING, public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    DescribedConsumerGroup,
)
from broker.runtime.in_turns import in_turns
from broker.runtime.requests.context import RequestContext
from broker.security.operations import AclOperation, ResourceType
from broker.security.rights import UNLIMITED


async def handle_consumer_group_describe(
    request: ConsumerGroupDescribeRequest, context: RequestContext
) -> ConsumerGroupDescribeResponse:
    group_ids = dict.fromkeys(request.group_ids)
    described = await in_turns(group_ids, lambda group_id: _describe(group_id, context), context.services.turns)
    if request.include_authorized_operations:
        for group in described:
            if not group.error_code:
                group.authorized_operations = context.session.rights.operations(ResourceType.GROUP, group.group_id)
    return ConsumerGroupDescribeResponse(groups=described)


async def _describe(group_id: str, context: RequestContext) -> DescribedConsumerGroup:
    alone = ConsumerGroupDescribeRequest(group_ids=[group_id])
    try:
        require(AclOperation.DESCRIBE, ResourceType.GROUP, group_id, context)
        response = await response_of(
            ask_group(
                group_id,
                context,
                lambda coordinator, token, now_ms: coordinator.consumer_group_describe(alone, token, now_ms),
            ),
            ConsumerGroupDescribeResponse,
        )
        await _require_topics(response.groups[0], context)
    except ApiError as error:
        return DescribedConsumerGroup(error_code=error.code, error_message=error.message, group_id=group_id)
    return response.groups[0]


async def _require_topics(group: DescribedConsumerGroup, context: RequestContext) -> None:
    """Raises ApiError TOPIC_AUTHORIZATION_FAILED if the group has a topic that the client may not describe."""
    if context.session.rights is UNLIMITED:
        return
    names: set[str] = set()
    for member in group.members:
        names.update(member.subscribed_topic_names)
        for assignment in (member.assignment, member.target_assignment):
            names.update(topic.topic_name for topic in assignment.topic_partitions)
    if await denied_topics(AclOperation.DESCRIBE, names, context):
        message = "The group has described topic(s) that the client is not authorized to describe."
        raise ApiError(ErrorCode.TOPIC_AUTHORIZATION_FAILED, message)


HANDLER = public(ApiKey.CONSUMER_GROUP_DESCRIBE, 0, 1, handle_consumer_group_describe, budget=OF_EVERYTHING)

"""OffsetDelete: a group forgets what it committed for topics its members do not read (KIP-496)."""

from broker.common.errors import ApiError, ErrorCode
from broker.handlers.authorization import denied_topics, require
from broker.handlers.coordinator_response import response_of
from broker.handlers.group_request import ask_group
from broker.handlers.handler import OF_PARTITIONS, public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)
from broker.runtime.requests.context import RequestContext
from broker.security.operations import AclOperation, ResourceType

_DENIED = ErrorCode.TOPIC_AUTHORIZATION_FAILED
#: Offsets of topics that are gone go with them.
_UNKNOWN = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


async def handle_offset_delete(request: OffsetDeleteRequest, context: RequestContext) -> OffsetDeleteResponse:
    try:
        require(AclOperation.DELETE, ResourceType.GROUP, request.group_id, context)
        denied = await denied_topics(AclOperation.READ, [topic.name for topic in request.topics], context)
        refused = [_refused(topic, _DENIED) for topic in request.topics if topic.name in denied]
        allowed = [topic for topic in request.topics if topic.name not in denied]
        known = context.services.metadata.topics
        refused += [_refused(topic, _UNKNOWN) for topic in allowed if topic.name not in known]
        request.topics = [topic for topic in allowed if topic.name in known]
        response = await response_of(
            ask_group(
                request.group_id,
                context,
                lambda coordinator, token, now_ms: coordinator.offset_delete(request, token, now_ms),
            ),
            OffsetDeleteResponse,
        )
    except ApiError as error:
        return OffsetDeleteResponse(error_code=error.code)
    if response.error_code == ErrorCode.NONE:
        response.topics = [*response.topics, *refused]
    return response


def _refused(topic: OffsetDeleteRequestTopic, code: ErrorCode) -> OffsetDeleteResponseTopic:
    partitions = [
        OffsetDeleteResponsePartition(partition_index=p.partition_index, error_code=code) for p in topic.partitions
    ]
    return OffsetDeleteResponseTopic(name=topic.name, partitions=partitions)


HANDLER = public(ApiKey.OFFSET_DELETE, 0, 0, handle_offset_delete, budget=OF_PARTITIONS)

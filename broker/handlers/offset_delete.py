"""OffsetDelete: a group forgets what it committed for topics its members do not read (KIP-496)."""

from collections.abc import Collection

from broker.common.errors import ApiError, ErrorCode
from broker.handlers.authorization import denied_topics, require
from broker.handlers.coordinator_response import response_of
from broker.handlers.deduplicate import partitions_once
from broker.handlers.group_request import ask_group
from broker.handlers.handler import OF_PARTITIONS, public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)
from broker.runtime.requests.context import RequestContext
from broker.security.operations import AclOperation, ResourceType


async def handle_offset_delete(request: OffsetDeleteRequest, context: RequestContext) -> OffsetDeleteResponse:
    try:
        require(AclOperation.DELETE, ResourceType.GROUP, request.group_id, context)
        denied = await denied_topics(AclOperation.READ, [topic.name for topic in request.topics], context)
        refused = _take_refused(request, denied, context)
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
        errors = {topic.name: {p.partition_index: p.error_code for p in topic.partitions} for topic in response.topics}
        for name, codes in refused.items():
            errors.setdefault(name, {}).update(codes)
        response.topics = _topics(errors)
    return response


def _take_refused(
    request: OffsetDeleteRequest, denied: Collection[str], context: RequestContext
) -> dict[str, dict[int, int]]:
    """Leave in the request, once each, the partitions that there are and whose topic the client may read.

    Return the errors of the others by topic and partition: offsets of topics that are gone go with them.
    """
    partition_of = context.services.metadata.partition_of
    partitions = partitions_once(
        ((topic.name, [p.partition_index for p in topic.partitions]) for topic in request.topics), int
    )
    request.topics, refused = [], {}
    for name, indexes in partitions.items():
        code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if name not in denied else ErrorCode.TOPIC_AUTHORIZATION_FAILED
        known = [] if name in denied else [index for index in indexes if partition_of(name, index)]
        if known:
            chosen = [OffsetDeleteRequestPartition(partition_index=index) for index in known]
            request.topics.append(OffsetDeleteRequestTopic(name=name, partitions=chosen))
        if len(known) < len(indexes):
            refused[name] = dict.fromkeys(set(indexes).difference(known), int(code))
    return refused


def _topics(errors: dict[str, dict[int, int]]) -> list[OffsetDeleteResponseTopic]:
    return [
        OffsetDeleteResponseTopic(
            name=name,
            partitions=[
                OffsetDeleteResponsePartition(partition_index=index, error_code=code) for index, code in codes.items()
            ],
        )
        for name, codes in errors.items()
    ]


HANDLER = public(ApiKey.OFFSET_DELETE, 0, 0, handle_offset_delete, budget=OF_PARTITIONS)

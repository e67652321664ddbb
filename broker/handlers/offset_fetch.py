"""OffsetFetch: one group up to version 7; from version 8 many, each asked of its own coordinator partition."""

from collections.abc import Awaitable
from operator import attrgetter

from broker.common.errors import ApiError, ErrorCode
from broker.common.limits import THINGS_IN_A_TURN
from broker.common.types import NO_TOPIC_ID
from broker.handlers.authorization import denied_topics, only_seen, require
from broker.handlers.coordinator_response import checked, response_of
from broker.handlers.deduplicate import partitions_once
from broker.handlers.group_request import ask_group
from broker.handlers.handler import OF_PARTITIONS, public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponseTopic,
)
from broker.protocol.schema import Message
from broker.runtime.in_turns import asked_in_turns
from broker.runtime.requests.context import Reply, RequestContext
from broker.security.operations import AclOperation, ResourceType
from broker.security.rights import UNLIMITED

_AskedGroup = OffsetFetchRequest | OffsetFetchRequestGroup
_FIRST_OF_MANY_GROUPS = 8
_FIRST_BY_TOPIC_ID = 10
#: Before it every partition carries the error of all.
_FIRST_WITH_ERROR_OF_ALL = 2


def handle_offset_fetch(request: OffsetFetchRequest, context: RequestContext) -> Reply:
    if context.api_version >= _FIRST_OF_MANY_GROUPS:
        return _fetch_groups(request, context)
    if request.topics:
        request.topics = _once(request.topics)
    if request.topics is None or sum(len(topic.partition_indexes) for topic in request.topics) > THINGS_IN_A_TURN:
        return _answer_late(request, context)
    return _ask(request, request, context)


async def _answer_late(request: OffsetFetchRequest, context: RequestContext) -> OffsetFetchResponse:
    """Encode a long response in turns."""
    return await response_of(_ask(request, request, context), OffsetFetchResponse)


async def _fetch_groups(request: OffsetFetchRequest, context: RequestContext) -> OffsetFetchResponse:
    groups = {group.group_id: group for group in request.groups}
    turns = context.services.turns
    by_id = context.api_version >= _FIRST_BY_TOPIC_ID
    unknown = {group_id: _name_topics(group, context) for group_id, group in groups.items()} if by_id else {}
    replies = await asked_in_turns(groups.values(), lambda group: _ask_for_group(group, request, context), turns)
    fetched = [checked(reply, OffsetFetchResponse).groups[0] for reply in replies]
    if by_id:
        for group in fetched:
            _tell_topic_ids(group, unknown[group.group_id], context)
    return OffsetFetchResponse(groups=fetched)


def _name_topics(group: OffsetFetchRequestGroup, context: RequestContext) -> list[OffsetFetchRequestTopic]:
    """Name the topics of the request that are known by their ids; take out the others and return them."""
    unknown = []
    for topic in group.topics or ():
        if (known := context.services.metadata.topic_of_id(topic.topic_id)) is not None:
            topic.name = known.name
        else:
            unknown.append(topic)
    if group.topics is not None:
        group.topics = [topic for topic in group.topics if topic.name]
    return unknown


def _tell_topic_ids(
    group: OffsetFetchResponseGroup, unknown: list[OffsetFetchRequestTopic], context: RequestContext
) -> None:
    """Name the topics of the response by their ids; those that were deleted meanwhile have none, and are left out."""
    if group.error_code:
        return
    for topic in group.topics:
        topic.topic_id = context.services.metadata.topic_id_of(topic.name)
    refused = _refused(unknown, ErrorCode.UNKNOWN_TOPIC_ID)
    for topic, named in zip(refused, unknown, strict=True):
        topic.topic_id = named.topic_id
    group.topics = [*(topic for topic in group.topics if topic.topic_id != NO_TOPIC_ID), *refused]


def _ask_for_group(
    group: OffsetFetchRequestGroup, request: OffsetFetchRequest, context: RequestContext
) -> Message | Awaitable[Message]:
    if group.topics:
        group.topics = _once(group.topics)
    return _ask(group, OffsetFetchRequest(groups=[group], require_stable=request.require_stable), context)


def _ask(group: _AskedGroup, request: OffsetFetchRequest, context: RequestContext) -> Message | Awaitable[Message]:
    """Ask the coordinator about the one group that `request` names."""
    try:
        require(AclOperation.DESCRIBE, ResourceType.GROUP, group.group_id, context)
        if context.session.rights is UNLIMITED:
            return _ask_coordinator(group, request, context)
    except ApiError as error:
        return _refused_group(group, error, context)
    return _ask_for_seen(group, request, context)


def _ask_coordinator(
    group: _AskedGroup, request: OffsetFetchRequest, context: RequestContext
) -> Message | Awaitable[Message]:
    version = context.api_version
    return ask_group(
        group.group_id,
        context,
        lambda coordinator, token, now_ms: coordinator.offset_fetch(request, version, token, now_ms),
    )


async def _ask_for_seen(
    asked_group: _AskedGroup, request: OffsetFetchRequest, context: RequestContext
) -> OffsetFetchResponse:
    """Ask for topics the client may see; hidden ones are refused where it names them, and left out where it does
    not.
    """
    named = asked_group.topics
    denied = await denied_topics(AclOperation.DESCRIBE, [topic.name for topic in named or ()], context)
    if named is not None:
        asked_group.topics = [topic for topic in named if topic.name not in denied]
    try:
        response = await response_of(_ask_coordinator(asked_group, request, context), OffsetFetchResponse)
    except ApiError as error:
        asked_group.topics = named
        return _refused_group(asked_group, error, context)
    group = response.groups[0] if response.groups else response
    if named is None:
        group.topics = await only_seen(ResourceType.TOPIC, group.topics, attrgetter("name"), context)
    elif not group.error_code or context.api_version < _FIRST_WITH_ERROR_OF_ALL:
        refused = _refused([topic for topic in named if topic.name in denied], ErrorCode.TOPIC_AUTHORIZATION_FAILED)
        group.topics = [*group.topics, *refused]
    return response


def _refused_group(group: _AskedGroup, error: ApiError, context: RequestContext) -> OffsetFetchResponse:
    if context.api_version >= _FIRST_OF_MANY_GROUPS:
        return OffsetFetchResponse(groups=[OffsetFetchResponseGroup(group_id=group.group_id, error_code=error.code)])
    topics = group.topics or [] if context.api_version < _FIRST_WITH_ERROR_OF_ALL else []
    return OffsetFetchResponse(error_code=error.code, topics=_refused(topics, error.code))


def _once(topics: list[OffsetFetchRequestTopic]) -> list[OffsetFetchRequestTopic]:
    partitions = partitions_once(((topic.name, topic.partition_indexes) for topic in topics), int)
    return [OffsetFetchRequestTopic(name=name, partition_indexes=indexes) for name, indexes in partitions.items()]


def _refused(topics: list[OffsetFetchRequestTopic], code: ErrorCode) -> list[OffsetFetchResponseTopic]:
    return [
        OffsetFetchResponseTopic(
            name=topic.name,
            partitions=[
                OffsetFetchResponsePartition(partition_index=index, committed_offset=-1, metadata="", error_code=code)
                for index in topic.partition_indexes
            ],
        )
        for topic in topics
    ]


HANDLER = public(ApiKey.OFFSET_FETCH, 1, 10, handle_offset_fetch, budget=OF_PARTITIONS)

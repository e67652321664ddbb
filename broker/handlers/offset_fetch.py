"""OffsetFetch: one group up to version 7; from version 8 many, each asked of its own coordinator partition."""

from broker.common.errors import ApiError
from broker.common.limits import THINGS_IN_A_TURN
from broker.handlers.deduplicate import partitions_once
from broker.handlers.group_request import answer_of, ask_group
from broker.handlers.handler import OF_PARTITIONS, Reply, RequestContext, public
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
from broker.runtime.in_turns import asked_in_turns


def handle_offset_fetch(request: OffsetFetchRequest, context: RequestContext) -> Reply:
    if context.api_version >= 8:
        return _fetch_groups(request, context)
    if request.topics:
        request.topics = _once(request.topics)
    if request.topics is None or sum(len(topic.partition_indexes) for topic in request.topics) > THINGS_IN_A_TURN:
        return _answer_late(request, context)
    return _fetch(request, context)


async def _answer_late(request: OffsetFetchRequest, context: RequestContext) -> OffsetFetchResponse:
    """What is long is encoded in turns."""
    return await answer_of(_fetch(request, context))


def _fetch(request: OffsetFetchRequest, context: RequestContext) -> Reply:
    try:
        return _ask(request.group_id, request, context)
    except ApiError as error:
        topics = request.topics or [] if context.api_version < 2 else []
        return OffsetFetchResponse(error_code=error.code, topics=_refused(topics, error))


async def _fetch_groups(request: OffsetFetchRequest, context: RequestContext) -> OffsetFetchResponse:
    groups = {group.group_id: group for group in request.groups}
    turns = context.services.turns
    replies = await asked_in_turns(groups.values(), lambda group: _ask_for_group(group, request, context), turns)
    return OffsetFetchResponse(groups=[reply.groups[0] for reply in replies])


def _ask_for_group(group: OffsetFetchRequestGroup, request: OffsetFetchRequest, context: RequestContext) -> Reply:
    if group.topics:
        group.topics = _once(group.topics)
    alone = OffsetFetchRequest(groups=[group], require_stable=request.require_stable)
    try:
        return _ask(group.group_id, alone, context)
    except ApiError as error:
        refused = OffsetFetchResponseGroup(group_id=group.group_id, error_code=error.code)
        return OffsetFetchResponse(groups=[refused])


def _ask(group_id: str, request: OffsetFetchRequest, context: RequestContext) -> Reply:
    version = context.api_version
    return ask_group(
        group_id,
        context,
        lambda coordinator, token, now_ms: coordinator.offset_fetch(request, version, token, now_ms),
    )


def _once(topics: list[OffsetFetchRequestTopic]) -> list[OffsetFetchRequestTopic]:
    asked = partitions_once((topic.name, topic.partition_indexes) for topic in topics)
    return [OffsetFetchRequestTopic(name=name, partition_indexes=indexes) for name, indexes in asked.items()]


def _refused(topics, error: ApiError) -> list[OffsetFetchResponseTopic]:
    """Version 1 has no top-level error: every partition carries it."""
    return [
        OffsetFetchResponseTopic(
            name=topic.name,
            partitions=[
                OffsetFetchResponsePartition(
                    partition_index=index, committed_offset=-1, metadata="", error_code=error.code
                )
                for index in topic.partition_indexes
            ],
        )
        for topic in topics
    ]


HANDLER = public(ApiKey.OFFSET_FETCH, 1, 9, handle_offset_fetch, budget=OF_PARTITIONS)

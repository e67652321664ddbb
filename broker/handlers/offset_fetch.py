"""OffsetFetch: one group up to version 7; from version 8 many, each asked of its own coordinator partition."""

from broker.common.errors import ApiError
from broker.handlers.group_request import answer_of, ask_group
from broker.handlers.handler import Reply, RequestContext, public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponseTopic,
)


def handle_offset_fetch(request: OffsetFetchRequest, context: RequestContext) -> Reply:
    if context.api_version >= 8:
        return _fetch_groups(request, context)
    try:
        return _ask(request.group_id, request, context)
    except ApiError as error:
        topics = request.topics or [] if context.api_version < 2 else []
        return OffsetFetchResponse(error_code=error.code, topics=_refused(topics, error))


async def _fetch_groups(request: OffsetFetchRequest, context: RequestContext) -> OffsetFetchResponse:
    return OffsetFetchResponse(groups=[await _fetch_group(group, request, context) for group in request.groups])


async def _fetch_group(
    group: OffsetFetchRequestGroup, request: OffsetFetchRequest, context: RequestContext
) -> OffsetFetchResponseGroup:
    alone = OffsetFetchRequest(groups=[group], require_stable=request.require_stable)
    try:
        response = await answer_of(_ask(group.group_id, alone, context))
    except ApiError as error:
        return OffsetFetchResponseGroup(group_id=group.group_id, error_code=error.code)
    return response.groups[0]


def _ask(group_id: str, request: OffsetFetchRequest, context: RequestContext) -> Reply:
    version = context.api_version
    return ask_group(
        group_id,
        context,
        lambda coordinator, token, now_ms: coordinator.offset_fetch(request, version, token, now_ms),
    )


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


HANDLER = public(ApiKey.OFFSET_FETCH, 1, 9, handle_offset_fetch)

"""OffsetCommit: answered when the offsets are in the log; unknown partitions are refused one by one."""

from collections.abc import Callable

from broker.common.errors import ApiError, ErrorCode
from broker.handlers.group_request import answer_of, ask_group
from broker.handlers.handler import Reply, RequestContext, public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)


def handle_offset_commit(request: OffsetCommitRequest, context: RequestContext) -> Reply:
    def is_known(topic: str, partition: int) -> bool:
        known = context.services.metadata.topics.get(topic)
        return known is not None and partition in known.partitions

    unknown = _those(request.topics, lambda topic, partition: not is_known(topic, partition))
    known = _those(request.topics, is_known)
    if unknown and not known:
        return OffsetCommitResponse(topics=_refused(unknown, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
    if unknown:
        request.topics = known
    try:
        reply = ask_group(
            request.group_id,
            context,
            lambda coordinator, token, now_ms: coordinator.offset_commit(request, token, now_ms),
        )
    except ApiError as error:
        return OffsetCommitResponse(topics=_refused(known + unknown, error.code))
    return _with_refused(reply, unknown) if unknown else reply


def _those(
    topics: list[OffsetCommitRequestTopic], are_meant: Callable[[str, int], bool]
) -> list[OffsetCommitRequestTopic]:
    """The topics with those of their partitions that are meant, if any are."""
    found = []
    for topic in topics:
        partitions = [each for each in topic.partitions if are_meant(topic.name, each.partition_index)]
        if partitions:
            found.append(OffsetCommitRequestTopic(name=topic.name, partitions=partitions))
    return found


async def _with_refused(reply, unknown: list[OffsetCommitRequestTopic]) -> OffsetCommitResponse:
    response = await answer_of(reply)
    response.topics = [*response.topics, *_refused(unknown, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)]
    return response


def _refused(topics: list[OffsetCommitRequestTopic], code: ErrorCode) -> list[OffsetCommitResponseTopic]:
    return [
        OffsetCommitResponseTopic(
            name=topic.name,
            partitions=[
                OffsetCommitResponsePartition(partition_index=each.partition_index, error_code=code)
                for each in topic.partitions
            ],
        )
        for topic in topics
    ]


HANDLER = public(ApiKey.OFFSET_COMMIT, 2, 9, handle_offset_commit)

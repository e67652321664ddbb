"""Which partitions of a commit exist: offsets for others are refused, one by one, and no coordinator hears of them."""

from collections.abc import Callable

from broker.common.errors import ErrorCode
from broker.coordinator.group.offsets import AnyCommitRequest, AnyCommitResponse, commit_refused
from broker.handlers.group_request import answer_of
from broker.handlers.handler import Reply
from broker.runtime.metadata_cache import MetadataCache


def commit_known(
    request: AnyCommitRequest, metadata: MetadataCache, commit: Callable[[AnyCommitRequest], Reply]
) -> Reply:
    """`commit` the partitions there are; UNKNOWN_TOPIC_OR_PARTITION for the others."""
    partition_of = metadata.partition_of
    topics = request.topics
    if all(partition_of(t.name, p.partition_index) for t in topics for p in t.partitions):
        return commit(request)
    request.topics = _those(topics, metadata, are_known=False)
    refused = commit_refused(request, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    request.topics = _those(topics, metadata, are_known=True)
    return _with_refused(commit(request), refused) if request.topics else refused


def _those(topics: list, metadata: MetadataCache, *, are_known: bool) -> list:
    """The topics with those of their partitions that are meant, if any are."""
    found = []
    for topic in topics:
        partitions = [
            each
            for each in topic.partitions
            if (metadata.partition_of(topic.name, each.partition_index) is not None) == are_known
        ]
        if partitions:
            found.append(type(topic)(name=topic.name, partitions=partitions))
    return found


async def _with_refused(reply: Reply, refused: AnyCommitResponse) -> AnyCommitResponse:
    response = await answer_of(reply)
    response.topics = [*response.topics, *refused.topics]
    return response

"""Which partitions of a commit exist, and may be read: offsets for others are refused, one by one, and no coordinator
hears of them.

A commit of many partitions is asked of the coordinator a part at a time, each a batch of its own. Whoever is stopped in
between has committed a part, which for each of its partitions is as good as the whole.
"""

from collections.abc import Callable, Iterator
from copy import copy

from broker.common.errors import ErrorCode
from broker.common.limits import THINGS_IN_A_TURN
from broker.coordinator.group.offsets import AnyCommitRequest, AnyCommitResponse, commit_refused
from broker.handlers.authorization import denied_topics
from broker.handlers.group_request import answer_of
from broker.runtime.in_turns import begun, in_order, in_turns, once_done
from broker.runtime.metadata_cache import MetadataCache
from broker.runtime.requests.context import Reply, RequestContext
from broker.security.operations import Operation, ResourceType
from broker.security.rights import UNLIMITED

Commit = Callable[[AnyCommitRequest], Reply]


def commit_known(request: AnyCommitRequest, context: RequestContext, commit: Commit) -> Reply:
    """`commit` the partitions there are; UNKNOWN_TOPIC_OR_PARTITION for the others, and TOPIC_AUTHORIZATION_FAILED for
    those that the client may not read, whether there are any or not.
    """
    if _may_read_all(request, context):
        return _commit_known(request, context, commit)
    return in_order(lambda done: _commit_allowed(request, context, commit, done))


def _may_read_all(request: AnyCommitRequest, context: RequestContext) -> bool:
    """False, too, when the topics are too many to be asked for at once."""
    rights, topics = context.session.rights, request.topics
    return rights is UNLIMITED or (
        len(topics) <= THINGS_IN_A_TURN
        and all(rights.sees(Operation.READ, ResourceType.TOPIC, topic.name) for topic in topics)
    )


async def _commit_allowed(
    request: AnyCommitRequest, context: RequestContext, commit: Commit, done: Callable[[], None]
) -> AnyCommitResponse:
    topics = request.topics
    denied = await denied_topics(Operation.READ, [topic.name for topic in topics], context)
    request.topics = [topic for topic in topics if topic.name in denied]
    refused = commit_refused(request, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    request.topics = [topic for topic in topics if topic.name not in denied]
    reply = await once_done(_commit_known(request, context, commit)) if request.topics else refused
    done()
    response = await answer_of(reply)
    if response is not refused:
        response.topics = [*response.topics, *refused.topics]
    return response


def _commit_known(request: AnyCommitRequest, context: RequestContext, commit: Commit) -> Reply:
    if sum([len(topic.partitions) for topic in request.topics]) > THINGS_IN_A_TURN:
        return in_order(lambda done: _commit_in_turns(request, context, commit, done))
    return _commit_some(request, context.services.metadata, commit)


async def _commit_in_turns(
    request: AnyCommitRequest, context: RequestContext, commit: Commit, done: Callable[[], None]
) -> AnyCommitResponse:
    metadata = context.services.metadata
    replies = await in_turns(
        _parts_of(request),
        lambda part: (begun(_commit_some(part, metadata, commit)),),
        context.services.turns,
        size_of=lambda _: THINGS_IN_A_TURN,
    )
    done()
    return _as_one([await answer_of(reply) for (reply,) in replies])


def _parts_of(request: AnyCommitRequest) -> Iterator[AnyCommitRequest]:
    """Requests of a turn's partitions each, every one of a single topic."""
    for topic in request.topics:
        for at in range(0, len(topic.partitions), THINGS_IN_A_TURN):
            part = copy(request)
            part.topics = [type(topic)(name=topic.name, partitions=topic.partitions[at : at + THINGS_IN_A_TURN])]
            yield part


def _as_one(parts: list[AnyCommitResponse]) -> AnyCommitResponse:
    topics = {}
    for topic in (topic for part in parts for topic in part.topics):
        first = topics.setdefault(topic.name, topic)
        if first is not topic:
            first.partitions += topic.partitions
    return type(parts[0])(topics=list(topics.values()))


def _commit_some(request: AnyCommitRequest, metadata: MetadataCache, commit: Commit) -> Reply:
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

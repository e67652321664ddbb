"""Fetch: read which partitions are meant, hand them to `FetchWork`, write the response.

Which partitions a request means and which of them are answered is decided by `replication/fetch_session.py`.
"""

from collections.abc import Iterable
from itertools import chain

from broker.common.errors import ApiError, ErrorCode
from broker.common.limits import BYTES_AT_ONCE_MAX, FETCH_WAIT_MS_MAX, PARTITIONS_PER_FETCH
from broker.handlers.handler import OF_PARTITIONS, AuthorizationFailed, CloseConnectionError, public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.fetch import (
    FetchableTopicResponse,
    FetchNodeEndpoint,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from broker.replication.fetch_session import (
    FINAL_EPOCH,
    NO_SESSION,
    Answered,
    Asked,
    Fetch,
    Opening,
    SessionlessFetch,
    TopicKey,
)
from broker.runtime.replication.follower_reads import refused
from broker.runtime.requests.context import Reply, RequestContext
from broker.runtime.requests.current_leader import addresses
from broker.runtime.requests.fetch_work import FetchWork
from broker.security.membership import is_member

_FIRST_VERSION_WITH_REPLICA_STATE = 15
_FIRST_VERSION_THAT_TELLS_WHERE_LOGS_PART = 12
_FIRST_VERSION_WITH_IDS = 13


def handle_fetch(request: FetchRequest, context: RequestContext) -> Reply:
    request.max_wait_ms = min(request.max_wait_ms, FETCH_WAIT_MS_MAX)
    replica_id = _replica_id(request, context.api_version)
    if replica_id >= 0:
        return _fetch_as_follower(request, replica_id, context)
    try:
        fetch = _begin(request, context)
    except ApiError as error:
        return FetchResponse(error_code=error.code)
    return FetchWork(request, fetch, context, _respond).begin()


def _begin(request: FetchRequest, context: RequestContext) -> Fetch:
    by_id = context.api_version >= _FIRST_VERSION_WITH_IDS
    fetched = _asked_once((topic.topic_id if by_id else topic.topic, topic.partitions) for topic in request.topics)
    if request.session_epoch == FINAL_EPOCH and request.session_id == NO_SESSION:
        return SessionlessFetch(fetched)
    forgotten = [
        (topic.topic_id if by_id else topic.topic, partition)
        for topic in request.forgotten_topics_data
        for partition in topic.partitions
    ]
    principal = context.session.principal
    opening = Opening(request.session_id, request.session_epoch, fetched, forgotten, by_id, principal)
    return context.services.fetch_sessions.begin(opening, context.services.clock.monotonic_ms())


def _asked_once(topics: Iterable[tuple[TopicKey, list[FetchPartition]]]) -> list[Asked]:
    """Return each partition once; as in sessions and Kafka the last mention counts, in the place of the first."""
    by_key = {
        (topic, partition.partition): (topic, partition) for topic, partitions in topics for partition in partitions
    }
    return list(by_key.values())


def _replica_id(request: FetchRequest, version: int) -> int:
    return request.replica_state.replica_id if version >= _FIRST_VERSION_WITH_REPLICA_STATE else request.replica_id


def _respond(
    session_id: int, answers: list[Answered], throttle_time_ms: int, has_errors: bool, context: RequestContext
) -> FetchResponse:
    return FetchResponse(
        throttle_time_ms=throttle_time_ms,
        session_id=session_id,
        responses=_by_topic(answers),
        node_endpoints=_endpoints(answers, context) if has_errors else [],
    )


def _endpoints(answers: list[Answered], context: RequestContext) -> list[FetchNodeEndpoint]:
    leaders = [answer.current_leader.leader_id for _, answer in answers if answer.current_leader]
    return [
        FetchNodeEndpoint(node_id=node.node_id, host=node.host, port=node.port, rack=node.rack)
        for node in addresses(leaders, context)
    ]


def _by_topic(answers: list[Answered]) -> list[FetchableTopicResponse]:
    """Return the answers by topic. A topic may come more than once: the order of the partitions stays."""
    responses: list[FetchableTopicResponse] = []
    partitions: list[PartitionData] = []
    last: TopicKey | None = None
    for topic, answer in answers:
        if topic != last:
            last, partitions = topic, []
            if isinstance(topic, str):
                responses.append(FetchableTopicResponse(topic=topic, partitions=partitions))
            else:
                responses.append(FetchableTopicResponse(topic_id=topic, partitions=partitions))
        partitions.append(answer)
    return responses


def _fetch_as_follower(request: FetchRequest, replica_id: int, context: RequestContext) -> Reply:
    """Hand a follower's request to the feeds.

    Raises RefusedError for a stranger, CloseConnectionError for more partitions than a follower names at once.
    """
    _limit(request)
    if why_not := _why_not_followed(context):
        raise AuthorizationFailed(_refused_everywhere(request, why_not), f"fetches as broker {replica_id}")
    return context.services.feeds.fetch(request, replica_id, by_id=context.api_version >= _FIRST_VERSION_WITH_IDS)


def _limit(request: FetchRequest) -> None:
    """Refuse a request with too many partitions: a follower may name each partition, and as many that it forgets."""
    named = [len(topic.partitions) for topic in request.topics]
    forgotten = [len(topic.partitions) for topic in request.forgotten_topics_data]
    if sum(1 + count for count in chain(named, forgotten)) > 4 * PARTITIONS_PER_FETCH:
        raise CloseConnectionError(f"follows more than {PARTITIONS_PER_FETCH} partitions in one request")


def _why_not_followed(context: RequestContext) -> ErrorCode | None:
    """Return why the follower is refused: only a member's word of what a replica holds may commit records
    (CVE-2018-1288).
    """
    if not is_member(context.session):
        return ErrorCode.TOPIC_AUTHORIZATION_FAILED
    return ErrorCode.UNSUPPORTED_VERSION if context.api_version < _FIRST_VERSION_THAT_TELLS_WHERE_LOGS_PART else None


def _refused_everywhere(request: FetchRequest, code: ErrorCode) -> FetchResponse:
    answers = []
    for topic in request.topics:
        partitions = [refused(partition.partition, code) for partition in topic.partitions]
        answers.append(FetchableTopicResponse(topic=topic.topic, topic_id=topic.topic_id, partitions=partitions))
    return FetchResponse(responses=answers)


#: What waits is counted by partitions (`DelayedFetches`, fetch sessions); of the request itself nothing is left.
_BUDGET = OF_PARTITIONS._replace(decoded_factor=1, long_answers_from=BYTES_AT_ONCE_MAX)

HANDLER = public(ApiKey.FETCH, 4, 18, handle_fetch, budget=_BUDGET)

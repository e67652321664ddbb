"""Fetch: read which partitions are meant, hand them to `FetchWork`, write the response.

Which partitions a request means and which of them are answered is decided by `replication/fetch_session.py`. A
follower's request goes another way (`follower_fetch.py`).
"""

from collections.abc import Iterable

from broker.common.errors import ApiError
from broker.common.limits import BYTES_AT_ONCE_MAX, FETCH_WAIT_MS_MAX
from broker.handlers.fetched_topics import by_topic
from broker.handlers.follower_fetch import FIRST_VERSION_WITH_IDS, fetch_as_follower
from broker.handlers.handler import OF_PARTITIONS, public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.fetch import FetchNodeEndpoint, FetchPartition, FetchRequest, FetchResponse
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
from broker.runtime.requests.context import Reply, RequestContext
from broker.runtime.requests.current_leader import addresses
from broker.runtime.requests.fetch_work import FetchWork

_FIRST_VERSION_WITH_REPLICA_STATE = 15


def handle_fetch(request: FetchRequest, context: RequestContext) -> Reply:
    request.max_wait_ms = min(request.max_wait_ms, FETCH_WAIT_MS_MAX)
    replica_id = _replica_id(request, context.api_version)
    if replica_id >= 0:
        return fetch_as_follower(request, replica_id, context)
    try:
        fetch = _begin(request, context)
    except ApiError as error:
        return FetchResponse(error_code=error.code)
    return FetchWork(request, fetch, context, _respond).begin()


def _begin(request: FetchRequest, context: RequestContext) -> Fetch:
    by_id = context.api_version >= FIRST_VERSION_WITH_IDS
    asked = _asked_once((topic.topic_id if by_id else topic.topic, topic.partitions) for topic in request.topics)
    if request.session_epoch == FINAL_EPOCH and request.session_id == NO_SESSION:
        return SessionlessFetch(asked)
    forgotten = [
        (topic.topic_id if by_id else topic.topic, partition)
        for topic in request.forgotten_topics_data
        for partition in topic.partitions
    ]
    principal = context.session.principal
    opening = Opening(request.session_id, request.session_epoch, asked, forgotten, by_id, principal)
    return context.services.fetch_sessions.begin(opening, context.services.clock.monotonic_ms())


def _asked_once(topics: Iterable[tuple[TopicKey, list[FetchPartition]]]) -> list[Asked]:
    """As sessions do, and Kafka: what is said of a partition last counts, in the place of the first."""
    asked = {(topic, each.partition): (topic, each) for topic, partitions in topics for each in partitions}
    return list(asked.values())


def _replica_id(request: FetchRequest, version: int) -> int:
    return request.replica_state.replica_id if version >= _FIRST_VERSION_WITH_REPLICA_STATE else request.replica_id


def _respond(
    session_id: int, answers: list[Answered], throttle_time_ms: int, has_errors: bool, context: RequestContext
) -> FetchResponse:
    return FetchResponse(
        throttle_time_ms=throttle_time_ms,
        session_id=session_id,
        responses=by_topic(answers),
        node_endpoints=_endpoints(answers, context) if has_errors else [],
    )


def _endpoints(answers: list[Answered], context: RequestContext) -> list[FetchNodeEndpoint]:
    leaders = [answer.current_leader.leader_id for _, answer in answers if answer.current_leader]
    return [
        FetchNodeEndpoint(node_id=node.node_id, host=node.host, port=node.port, rack=node.rack)
        for node in addresses(leaders, context)
    ]


#: What waits is counted by partitions (`DelayedFetches`, fetch sessions); of the request itself nothing is left.
_BUDGET = OF_PARTITIONS._replace(decoded_factor=1, long_answers_from=BYTES_AT_ONCE_MAX)

HANDLER = public(ApiKey.FETCH, 4, 17, handle_fetch, budget=_BUDGET)

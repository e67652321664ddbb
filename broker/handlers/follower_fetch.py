"""Fetch by a follower: which of them is believed, and how much one may ask for at once."""

from itertools import chain

from broker.common.errors import ErrorCode
from broker.common.limits import PARTITIONS_PER_FETCH
from broker.handlers.handler import CloseConnectionError, RefusedError
from broker.protocol.messages.fetch import FetchableTopicResponse, FetchRequest, FetchResponse
from broker.runtime.replication.follower_reads import refused
from broker.runtime.requests.context import Reply, RequestContext
from broker.security.membership import is_member

_FIRST_VERSION_THAT_TELLS_WHERE_LOGS_PART = 12
FIRST_VERSION_WITH_IDS = 13


def fetch_as_follower(request: FetchRequest, replica_id: int, context: RequestContext) -> Reply:
    """Raises RefusedError for a stranger, CloseConnectionError for more partitions than a follower names at once."""
    _limit(request)
    if why_not := _why_not_followed(context):
        raise RefusedError(_refused_everywhere(request, why_not), f"fetches as broker {replica_id}")
    return context.services.feeds.fetch(request, replica_id, by_id=context.api_version >= FIRST_VERSION_WITH_IDS)


def _limit(request: FetchRequest) -> None:
    """A follower may name each partition with its topic, and as many that it forgets."""
    named = [len(topic.partitions) for topic in request.topics]
    forgotten = [len(topic.partitions) for topic in request.forgotten_topics_data]
    if sum(1 + count for count in chain(named, forgotten)) > 4 * PARTITIONS_PER_FETCH:
        raise CloseConnectionError(f"follows more than {PARTITIONS_PER_FETCH} partitions in one request")


def _why_not_followed(context: RequestContext) -> ErrorCode | None:
    """Only a member's word of what a replica holds may commit records (CVE-2018-1288); refused as Kafka does."""
    if not is_member(context.session):
        return ErrorCode.TOPIC_AUTHORIZATION_FAILED
    return ErrorCode.UNSUPPORTED_VERSION if context.api_version < _FIRST_VERSION_THAT_TELLS_WHERE_LOGS_PART else None


def _refused_everywhere(request: FetchRequest, code: ErrorCode) -> FetchResponse:
    answers = []
    for each in request.topics:
        partitions = [refused(asked.partition, code) for asked in each.partitions]
        answers.append(FetchableTopicResponse(topic=each.topic, topic_id=each.topic_id, partitions=partitions))
    return FetchResponse(responses=answers)

"""ElectLeaders: the controller elects, and the answer waits until this broker's own metadata shows the new leaders."""

from collections.abc import Callable
from itertools import chain, islice

from broker.common.errors import ApiError, ErrorCode
from broker.common.types import TopicPartition
from broker.controller.events import Election, ElectionAsked
from broker.controller.verdict import PartitionVerdict
from broker.handlers.ask_controller import ask_in_parts
from broker.handlers.authorization import require_on_cluster
from broker.handlers.handler import OF_PARTITIONS, public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.elect_leaders import (
    ElectionType,
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)
from broker.runtime.in_turns import in_turns
from broker.runtime.metadata_cache import MetadataCache
from broker.runtime.requests.context import RequestContext
from broker.security.operations import AclOperation

#: Of a partition that nobody named.
_NOTHING_TO_TELL = (ErrorCode.ELECTION_NOT_NEEDED, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
_ELECTIONS: dict[int, Election] = {ElectionType.PREFERRED: Election.PREFERRED, ElectionType.UNCLEAN: Election.UNCLEAN}


async def handle_elect_leaders(request: ElectLeadersRequest, context: RequestContext) -> ElectLeadersResponse:
    try:
        verdicts = await _elect(request, context)
    except ApiError as error:
        return await _refuse(request, error, context)
    results: dict[str, list[PartitionResult]] = {one.topic: [] for one in request.topic_partitions or ()}
    for (topic, index), (code, message) in sorted(verdicts.items()):
        results.setdefault(topic, []).append(
            PartitionResult(partition_id=index, error_code=code, error_message=message)
        )
    return ElectLeadersResponse(
        replica_election_results=[
            ReplicaElectionResult(topic=topic, partition_result=partitions) for topic, partitions in results.items()
        ]
    )


async def _elect(request: ElectLeadersRequest, context: RequestContext) -> dict[TopicPartition, PartitionVerdict]:
    """Elect leaders and return the result by partition; without names, of those partitions where an election was
    due.
    """
    require_on_cluster(AclOperation.ALTER, context)
    election = _ELECTIONS.get(request.election_type)
    if election is None:
        raise ApiError(ErrorCode.INVALID_REQUEST, f"there is no election type {request.election_type}")
    services = context.services
    partitions = sorted(_requested_partitions(request, services.metadata))
    verdicts = await ask_in_parts(
        partitions, lambda number, part: ElectionAsked(number, election, frozenset(part)), request.timeout_ms, context
    )
    if request.topic_partitions is None:
        verdicts = {key: one for key, one in verdicts.items() if one.code not in _NOTHING_TO_TELL}
    elected = [partition for partition, verdict in verdicts.items() if verdict.code is ErrorCode.NONE]
    is_told = _is_told(services.metadata, election, elected)
    if not await services.metadata.wait_until(is_told, request.timeout_ms):
        late = PartitionVerdict(ErrorCode.REQUEST_TIMED_OUT, "elected; the new leader is not known everywhere yet")
        verdicts |= dict.fromkeys(elected, late)
    return verdicts


def _requested_partitions(request: ElectLeadersRequest, metadata: MetadataCache) -> frozenset[TopicPartition]:
    """Return all partitions, unless some are named."""
    if request.topic_partitions is None:
        return frozenset(
            TopicPartition(one.name, index) for one in metadata.topics.values() for index in one.partitions
        )
    return frozenset(TopicPartition(one.topic, index) for one in request.topic_partitions for index in one.partitions)


def _is_told(metadata: MetadataCache, election: Election, elected: list[TopicPartition]) -> Callable[[], bool]:
    """Return whether every partition elected has its leader, as far as it still exists."""

    def is_led(partition: TopicPartition) -> bool:
        known = metadata.partition_of(*partition)
        if known is None:
            return True
        return known.leader in known.replicas[:1] if election is Election.PREFERRED else known.leader >= 0

    return lambda: all(is_led(partition) for partition in elected)


async def _refuse(request: ElectLeadersRequest, error: ApiError, context: RequestContext) -> ElectLeadersResponse:
    """Refuse the whole request, and each partition too, since version 0 has no other field for the error."""
    named = request.topic_partitions or []

    def refused(index: int) -> PartitionResult:
        return PartitionResult(partition_id=index, error_code=error.code, error_message=error.message)

    iterator = iter(
        await in_turns(chain.from_iterable(one.partitions for one in named), refused, context.services.turns)
    )
    return ElectLeadersResponse(
        error_code=error.code if context.api_version > 0 else ErrorCode.NONE,
        replica_election_results=[
            ReplicaElectionResult(topic=one.topic, partition_result=list(islice(iterator, len(one.partitions))))
            for one in named
        ],
    )


HANDLER = public(ApiKey.ELECT_LEADERS, 0, 2, handle_elect_leaders, budget=OF_PARTITIONS)

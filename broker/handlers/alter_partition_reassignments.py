"""AlterPartitionReassignments: the controller begins or calls off moves; the answer does not wait for their end."""

from collections import Counter

from broker.common.errors import ApiError, ErrorCode
from broker.common.types import TopicPartition
from broker.controller.events import ReassignmentsAsked
from broker.controller.verdict import PartitionVerdict
from broker.handlers.ask_controller import ask_in_parts
from broker.handlers.authorization import require_on_cluster
from broker.handlers.handler import OF_PARTITIONS, public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)
from broker.runtime.requests.context import RequestContext
from broker.security.operations import AclOperation


async def handle_alter_partition_reassignments(
    request: AlterPartitionReassignmentsRequest, context: RequestContext
) -> AlterPartitionReassignmentsResponse:
    try:
        require_on_cluster(AclOperation.ALTER, context)
    except ApiError as error:
        return _refused(request, error)
    targets = [
        (TopicPartition(topic.name, one.partition_index), None if one.replicas is None else tuple(one.replicas))
        for topic in request.topics
        for one in topic.partitions
    ]
    times_named = Counter(partition for partition, _ in targets)
    named_twice = {partition for partition, count in times_named.items() if count > 1}
    targets_once = {partition: target for partition, target in targets if partition not in named_twice}
    may_change_count = request.allow_replication_factor_change
    try:
        verdicts = await ask_in_parts(
            list(targets_once.items()),
            lambda number, part: ReassignmentsAsked(number, dict(part), may_change_count),
            request.timeout_ms,
            context,
        )
    except ApiError as error:
        return AlterPartitionReassignmentsResponse(
            allow_replication_factor_change=may_change_count, error_code=error.code, error_message=error.message
        )
    twice = PartitionVerdict(ErrorCode.INVALID_REQUEST, "the partition is named twice in the request")
    return AlterPartitionReassignmentsResponse(
        allow_replication_factor_change=may_change_count,
        error_message=None,
        responses=_responses(verdicts | dict.fromkeys(named_twice, twice)),
    )


def _responses(verdicts: dict[TopicPartition, PartitionVerdict]) -> list[ReassignableTopicResponse]:
    topics: dict[str, list[ReassignablePartitionResponse]] = {}
    for (topic, index), (code, message) in sorted(verdicts.items()):
        topics.setdefault(topic, []).append(
            ReassignablePartitionResponse(partition_index=index, error_code=code, error_message=message)
        )
    return [ReassignableTopicResponse(name=topic, partitions=partitions) for topic, partitions in topics.items()]


def _refused(request: AlterPartitionReassignmentsRequest, error: ApiError) -> AlterPartitionReassignmentsResponse:
    refusal = PartitionVerdict(error.code, error.message)
    named = {
        TopicPartition(topic.name, partition.partition_index)
        for topic in request.topics
        for partition in topic.partitions
    }
    return AlterPartitionReassignmentsResponse(
        allow_replication_factor_change=request.allow_replication_factor_change,
        error_code=error.code,
        error_message=error.message,
        responses=_responses(dict.fromkeys(named, refusal)),
    )


HANDLER = public(ApiKey.ALTER_PARTITION_REASSIGNMENTS, 0, 1, handle_alter_partition_reassignments, budget=OF_PARTITIONS)

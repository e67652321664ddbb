"""ListPartitionReassignments: the moves in progress, as the controller knows them."""

from broker.common.errors import ApiError
from broker.common.replica_assignment import ReplicaAssignment
from broker.common.types import TopicPartition
from broker.handlers.authorization import require_on_cluster
from broker.handlers.handler import OF_PARTITIONS, public
from broker.protocol.api_keys import ApiKey
from broker.protocol.made_late import made_late
from broker.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)
from broker.runtime.requests.context import RequestContext
from broker.security.operations import AclOperation


async def handle_list_partition_reassignments(
    request: ListPartitionReassignmentsRequest, context: RequestContext
) -> ListPartitionReassignmentsResponse:
    try:
        require_on_cluster(AclOperation.DESCRIBE, context)
        moves = await context.services.controller.reassignments()
    except ApiError as error:
        return ListPartitionReassignmentsResponse(
            error_code=error.code, error_message=error.message, topics=_as_asked(request)
        )
    if request.topics is not None:
        requested = {TopicPartition(topic.name, index) for topic in request.topics for index in topic.partition_indexes}
        moves = {partition: move for partition, move in moves.items() if partition in requested}
    topics: dict[str, list[tuple[int, ReplicaAssignment]]] = {}
    for (topic, index), move in sorted(moves.items()):
        topics.setdefault(topic, []).append((index, move))
    return ListPartitionReassignmentsResponse(
        error_message=None,
        topics=[
            OngoingTopicReassignment(name=topic, partitions=made_late(partitions, _ongoing))
            for topic, partitions in topics.items()
        ],
    )


def _ongoing(moved: tuple[int, ReplicaAssignment]) -> OngoingPartitionReassignment:
    index, move = moved
    return OngoingPartitionReassignment(
        partition_index=index,
        replicas=list(move.replicas),
        adding_replicas=list(move.adding),
        removing_replicas=list(move.removing),
    )


def _as_asked(request: ListPartitionReassignmentsRequest) -> list[OngoingTopicReassignment]:
    """Return what a refused request named, without replicas: a client may look for each of its partitions."""
    return [
        OngoingTopicReassignment(
            name=topic.name,
            partitions=[OngoingPartitionReassignment(partition_index=index) for index in topic.partition_indexes],
        )
        for topic in request.topics or ()
    ]


HANDLER = public(ApiKey.LIST_PARTITION_REASSIGNMENTS, 0, 0, handle_list_partition_reassignments, budget=OF_PARTITIONS)

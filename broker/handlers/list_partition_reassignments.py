"""ListPartitionReassignments: the moves in progress, as the controller knows them."""

from broker.common.errors import ApiError
from broker.common.types import TopicPartition
from broker.handlers.handler import OF_PARTITIONS, RequestContext, public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)


def handle_list_partition_reassignments(
    request: ListPartitionReassignmentsRequest, context: RequestContext
) -> ListPartitionReassignmentsResponse:
    try:
        moves = context.services.controller.reassignments()
    except ApiError as error:
        return ListPartitionReassignmentsResponse(error_code=error.code, error_message=error.message)
    if request.topics is not None:
        asked = {TopicPartition(topic.name, index) for topic in request.topics for index in topic.partition_indexes}
        moves = {partition: move for partition, move in moves.items() if partition in asked}
    topics: dict[str, list[OngoingPartitionReassignment]] = {}
    for (topic, index), move in sorted(moves.items()):
        topics.setdefault(topic, []).append(
            OngoingPartitionReassignment(
                partition_index=index,
                replicas=list(move.replicas),
                adding_replicas=list(move.adding),
                removing_replicas=list(move.removing),
            )
        )
    return ListPartitionReassignmentsResponse(
        topics=[OngoingTopicReassignment(name=topic, partitions=partitions) for topic, partitions in topics.items()]
    )


HANDLER = public(ApiKey.LIST_PARTITION_REASSIGNMENTS, 0, 0, handle_list_partition_reassignments, budget=OF_PARTITIONS)

"""ListPartitionReassignments: which partitions are on the move (KIP-455)."""

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message, Request, Struct, array, int16, int32, string, wire


class ListPartitionReassignmentsTopics(Struct):
    name: str = wire(string)
    partition_indexes: list[int] = wire(array(int32))


class ListPartitionReassignmentsRequest(
    Request["ListPartitionReassignmentsResponse"],
    api=ApiKey.LIST_PARTITION_REASSIGNMENTS,
    versions=(0, 0),
    flexible_from=0,
):
    """Only the controller answers it."""

    timeout_ms: int = wire(int32, default=60_000)
    #: Null for all partitions on the move.
    topics: list[ListPartitionReassignmentsTopics] | None = wire(
        array(ListPartitionReassignmentsTopics), nullable=True, default=None
    )


class OngoingPartitionReassignment(Struct):
    partition_index: int = wire(int32)
    replicas: list[int] = wire(array(int32))  #: all of now: those that stay, come and go
    adding_replicas: list[int] = wire(array(int32))
    removing_replicas: list[int] = wire(array(int32))


class OngoingTopicReassignment(Struct):
    name: str = wire(string)
    partitions: list[OngoingPartitionReassignment] = wire(array(OngoingPartitionReassignment))


class ListPartitionReassignmentsResponse(
    Message, api=ApiKey.LIST_PARTITION_REASSIGNMENTS, versions=(0, 0), flexible_from=0
):
    """The moves in progress; a partition at rest is left out."""

    throttle_time_ms: int = wire(int32)
    error_code: int = wire(int16)
    error_message: str | None = wire(string, nullable=True)
    topics: list[OngoingTopicReassignment] = wire(array(OngoingTopicReassignment))

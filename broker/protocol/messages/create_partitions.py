"""CreatePartitions: give topics more partitions (KIP-195). There is no way back."""

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message, Request, Struct, array, boolean, int16, int32, string, wire


class CreatePartitionsAssignment(Struct):
    broker_ids: list[int] = wire(array(int32))  #: preferred leader first


class CreatePartitionsTopic(Struct):
    name: str = wire(string)
    count: int = wire(int32)  #: partitions the topic shall have, the present ones included
    #: One for each partition that is added; null: placed for you.
    assignments: list[CreatePartitionsAssignment] | None = wire(array(CreatePartitionsAssignment), nullable=True)


class CreatePartitionsRequest(
    Request["CreatePartitionsResponse"], api=ApiKey.CREATE_PARTITIONS, versions=(0, 3), flexible_from=2
):
    """Enlarge some topics, each succeeding or failing alone. 3: a quota may refuse it (KIP-599)."""

    topics: list[CreatePartitionsTopic] = wire(array(CreatePartitionsTopic))
    timeout_ms: int = wire(int32)
    validate_only: bool = wire(boolean)


class CreatePartitionsTopicResult(Struct):
    name: str = wire(string)
    error_code: int = wire(int16)
    error_message: str | None = wire(string, nullable=True, default=None)


class CreatePartitionsResponse(Message, api=ApiKey.CREATE_PARTITIONS, versions=(0, 3), flexible_from=2):
    """One result for each topic. 3: THROTTLING_QUOTA_EXCEEDED exists."""

    throttle_time_ms: int = wire(int32)
    results: list[CreatePartitionsTopicResult] = wire(array(CreatePartitionsTopicResult))

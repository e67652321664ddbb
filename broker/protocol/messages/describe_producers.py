"""DescribeProducers: the idempotent and transactional producers a partition remembers (KIP-664)."""

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message, Request, Struct, array, int16, int32, int64, string, wire


class TopicRequest(Struct):
    name: str = wire(string)
    partition_indexes: list[int] = wire(array(int32))


class DescribeProducersRequest(
    Request["DescribeProducersResponse"], api=ApiKey.DESCRIBE_PRODUCERS, versions=(0, 0), flexible_from=0
):
    """Ask the leader, or any replica, of some partitions."""

    topics: list[TopicRequest] = wire(array(TopicRequest))


class ProducerState(Struct):
    producer_id: int = wire(int64)
    producer_epoch: int = wire(int32)
    last_sequence: int = wire(int32, default=-1)  #: -1 before the first batch of this epoch
    last_timestamp: int = wire(int64, default=-1)  #: milliseconds, of the last batch
    coordinator_epoch: int = wire(int32)  #: of the last marker; -1 for none
    current_txn_start_offset: int = wire(int64, default=-1)  #: -1 while no transaction is open


class PartitionResponse(Struct):
    partition_index: int = wire(int32)
    error_code: int = wire(int16)
    error_message: str | None = wire(string, nullable=True, default=None)
    active_producers: list[ProducerState] = wire(array(ProducerState))


class TopicResponse(Struct):
    name: str = wire(string)
    partitions: list[PartitionResponse] = wire(array(PartitionResponse))


class DescribeProducersResponse(Message, api=ApiKey.DESCRIBE_PRODUCERS, versions=(0, 0), flexible_from=0):
    """One result for each partition."""

    throttle_time_ms: int = wire(int32)
    topics: list[TopicResponse] = wire(array(TopicResponse))

"""DeleteRecords: forget a partition's records below an offset (KIP-107)."""

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message, Request, Struct, array, int16, int32, int64, string, wire

#: Value of `offset` that stands for the high watermark: delete all there is.
HIGH_WATERMARK = -1


class DeleteRecordsPartition(Struct):
    partition_index: int = wire(int32)
    offset: int = wire(int64)  #: the first to keep, or HIGH_WATERMARK


class DeleteRecordsTopic(Struct):
    name: str = wire(string)
    partitions: list[DeleteRecordsPartition] = wire(array(DeleteRecordsPartition))


class DeleteRecordsRequest(
    Request["DeleteRecordsResponse"], api=ApiKey.DELETE_RECORDS, versions=(0, 2), flexible_from=2
):
    """Move the log start offset of some partitions forward; their leader answers when all replicas have."""

    topics: list[DeleteRecordsTopic] = wire(array(DeleteRecordsTopic))
    timeout_ms: int = wire(int32)  #: how long to wait for the replicas


class DeleteRecordsPartitionResult(Struct):
    partition_index: int = wire(int32)
    low_watermark: int = wire(int64)  #: the lowest log start offset among the replicas alive; -1 on error
    error_code: int = wire(int16)


class DeleteRecordsTopicResult(Struct):
    name: str = wire(string)
    partitions: list[DeleteRecordsPartitionResult] = wire(array(DeleteRecordsPartitionResult))


class DeleteRecordsResponse(Message, api=ApiKey.DELETE_RECORDS, versions=(0, 2), flexible_from=2):
    """One result for each partition."""

    throttle_time_ms: int = wire(int32)
    topics: list[DeleteRecordsTopicResult] = wire(array(DeleteRecordsTopicResult))

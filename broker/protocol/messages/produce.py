"""Produce: append record batches to partitions."""

from uuid import UUID

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message, Request, Struct, array, int16, int32, int64, records, string, uuid, wire


class PartitionProduceData(Struct):
    index: int = wire(int32)
    records: bytearray | memoryview | None = wire(records, nullable=True)  #: one record batch


class TopicProduceData(Struct):
    name: str = wire(string, until=12, ignorable=True)
    topic_id: UUID = wire(uuid, since=13, ignorable=True)
    partition_data: list[PartitionProduceData] = wire(array(PartitionProduceData))


class ProduceRequest(Request["ProduceResponse"], api=ApiKey.PRODUCE, versions=(3, 13), flexible_from=9):
    """A producer sends batches of format 2, the only one served.

    3: transactional id. 7: zstd allowed (KIP-110). 10: new leaders may be answered (KIP-951).
    11: new transaction errors. 12: partitions are added to the transaction by it (KIP-890, part 2).
    13: topic ids instead of names (KIP-516).
    """

    transactional_id: str | None = wire(string, nullable=True, default=None)
    acks: int = wire(int16)  #: 0 no answer, 1 written by the leader, -1 by all in-sync replicas
    timeout_ms: int = wire(int32)  #: how long to wait for the replicas
    topic_data: list[TopicProduceData] = wire(array(TopicProduceData))


class BatchIndexAndErrorMessage(Struct):
    batch_index: int = wire(int32)  #: position, in the batch, of the record that was refused
    batch_index_error_message: str | None = wire(string, nullable=True, default=None)


class LeaderIdAndEpoch(Struct):
    leader_id: int = wire(int32, default=-1)
    leader_epoch: int = wire(int32, default=-1)


class PartitionProduceResponse(Struct):
    index: int = wire(int32)
    error_code: int = wire(int16)
    base_offset: int = wire(int64)  #: given to the first record; -1 on error
    log_append_time_ms: int = wire(int64, default=-1, ignorable=True)  #: -1 unless the topic uses LogAppendTime
    log_start_offset: int = wire(int64, since=5, default=-1, ignorable=True)
    record_errors: list[BatchIndexAndErrorMessage] = wire(array(BatchIndexAndErrorMessage), since=8, ignorable=True)
    error_message: str | None = wire(string, since=8, nullable=True, default=None, ignorable=True)
    #: Whom to ask instead, with NOT_LEADER_OR_FOLLOWER; None when there is nothing to say.
    current_leader: LeaderIdAndEpoch | None = wire(LeaderIdAndEpoch, since=10, tag=0, default=None, ignorable=True)


class TopicProduceResponse(Struct):
    name: str = wire(string, until=12, ignorable=True)
    topic_id: UUID = wire(uuid, since=13, ignorable=True)
    partition_responses: list[PartitionProduceResponse] = wire(array(PartitionProduceResponse))


class ProduceNodeEndpoint(Struct):
    node_id: int = wire(int32)
    host: str = wire(string)
    port: int = wire(int32)
    rack: str | None = wire(string, nullable=True, default=None)


class ProduceResponse(Message, api=ApiKey.PRODUCE, versions=(3, 13), flexible_from=9):
    """One result for each partition of the request; not sent at all for acks=0.

    5: log start offset. 8: which records were refused and why (KIP-467). 10: current leader and its address.
    """

    responses: list[TopicProduceResponse] = wire(array(TopicProduceResponse))
    throttle_time_ms: int = wire(int32, ignorable=True)
    #: Addresses of the brokers named as current leaders.
    node_endpoints: list[ProduceNodeEndpoint] = wire(array(ProduceNodeEndpoint), since=10, tag=0, ignorable=True)

"""Metadata: the brokers of the cluster and where each partition lives."""

from uuid import UUID

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message, Request, Struct, array, boolean, int16, int32, string, uuid, wire

#: Value of the authorized-operations fields when they were not asked for.
OPERATIONS_NOT_REQUESTED = -(1 << 31)


class MetadataRequestTopic(Struct):
    topic_id: UUID = wire(uuid, since=10, ignorable=True)  #: all zeros when asking by name
    name: str | None = wire(string, nullable_since=10)  #: null when asking by id, from version 12


class MetadataRequest(Request["MetadataResponse"], api=ApiKey.METADATA, versions=(0, 13), flexible_from=9):
    """A client asks for all topics or for some.

    0: no topics means all. 1: null means all, empty means none. 4: creating unknown topics can be declined.
    8: authorized operations (KIP-430). 10: topic ids (KIP-516). 11: no cluster operations any more (KIP-700).
    12: topics can be asked for by id. 13: the response has an error of its own (KIP-1102).
    """

    topics: list[MetadataRequestTopic] | None = wire(array(MetadataRequestTopic), nullable_since=1)
    allow_auto_topic_creation: bool = wire(boolean, since=4, default=True)
    include_cluster_authorized_operations: bool = wire(boolean, since=8, until=10)
    include_topic_authorized_operations: bool = wire(boolean, since=8)


class MetadataResponseBroker(Struct):
    node_id: int = wire(int32)  #: the broker id
    host: str = wire(string)
    port: int = wire(int32)
    rack: str | None = wire(string, since=1, nullable=True, default=None, ignorable=True)


class MetadataResponsePartition(Struct):
    error_code: int = wire(int16)
    partition_index: int = wire(int32)
    leader_id: int = wire(int32)  #: -1 when there is none
    leader_epoch: int = wire(int32, since=7, default=-1, ignorable=True)
    replica_nodes: list[int] = wire(array(int32))  #: assigned replicas, preferred leader first
    isr_nodes: list[int] = wire(array(int32))
    offline_replicas: list[int] = wire(array(int32), since=5, ignorable=True)


class MetadataResponseTopic(Struct):
    error_code: int = wire(int16)
    name: str | None = wire(string, nullable_since=12)  #: null for an unknown topic that was asked for by id
    topic_id: UUID = wire(uuid, since=10, ignorable=True)
    is_internal: bool = wire(boolean, since=1, ignorable=True)
    partitions: list[MetadataResponsePartition] = wire(array(MetadataResponsePartition))
    topic_authorized_operations: int = wire(int32, since=8, default=OPERATIONS_NOT_REQUESTED)


class MetadataResponse(Message, api=ApiKey.METADATA, versions=(0, 13), flexible_from=9):
    """Brokers and topics as this broker knows them.

    1: controller and racks. 2: cluster id. 3: throttle time. 5: offline replicas. 7: leader epochs (KIP-320).
    8: authorized operations. 10: topic ids. 13: error.
    """

    throttle_time_ms: int = wire(int32, since=3, ignorable=True)
    brokers: list[MetadataResponseBroker] = wire(array(MetadataResponseBroker))  #: those alive
    cluster_id: str | None = wire(string, since=2, nullable=True, default=None, ignorable=True)
    controller_id: int = wire(int32, since=1, default=-1, ignorable=True)  #: -1 when none is elected
    topics: list[MetadataResponseTopic] = wire(array(MetadataResponseTopic))
    cluster_authorized_operations: int = wire(int32, since=8, until=10, default=OPERATIONS_NOT_REQUESTED)
    error_code: int = wire(int16, since=13, ignorable=True)  #: REBOOTSTRAP_REQUIRED sends the client back to its list

"""UpdateMetadata: the controller tells a broker what to answer to Metadata. Between brokers only.

Only the version that Kafka 3.9's controller sends is declared.
"""

from uuid import UUID

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import (
    OWN_TAG_MIN,
    Message,
    Request,
    Struct,
    array,
    boolean,
    int8,
    int16,
    int32,
    int64,
    string,
    uuid,
    wire,
)


class UpdateMetadataPartitionState(Struct):
    partition_index: int = wire(int32)
    controller_epoch: int = wire(int32)  #: in which this state was decided
    leader: int = wire(int32)  #: -1 none, -2 the topic is being deleted
    leader_epoch: int = wire(int32)
    isr: list[int] = wire(array(int32))
    zk_version: int = wire(int32)  #: of the partition's state znode
    replicas: list[int] = wire(array(int32))
    offline_replicas: list[int] = wire(array(int32), ignorable=True)
    #: For DescribeTopicPartitions (KIP-966).
    eligible_leader_replicas: list[int] = wire(array(int32), tag=OWN_TAG_MIN, ignorable=True)
    last_known_elr: list[int] = wire(array(int32), tag=OWN_TAG_MIN + 1, ignorable=True)


class UpdateMetadataTopicState(Struct):
    topic_name: str = wire(string)
    topic_id: UUID = wire(uuid, ignorable=True)
    partition_states: list[UpdateMetadataPartitionState] = wire(array(UpdateMetadataPartitionState))
    #: The topic's znode is gone without a request to delete the topic: it may come again with its id and its records.
    has_vanished: bool = wire(boolean, tag=OWN_TAG_MIN, default=False, ignorable=True)


class UpdateMetadataEndpoint(Struct):
    port: int = wire(int32)
    host: str = wire(string)
    listener: str = wire(string, ignorable=True)
    security_protocol: int = wire(int16)  #: 0 PLAINTEXT, 1 SSL, 2 SASL_PLAINTEXT, 3 SASL_SSL


class UpdateMetadataBroker(Struct):
    id: int = wire(int32)
    endpoints: list[UpdateMetadataEndpoint] = wire(array(UpdateMetadataEndpoint), ignorable=True)
    rack: str | None = wire(string, nullable=True, default=None, ignorable=True)


class UpdateMetadataRequest(
    Request["UpdateMetadataResponse"], api=ApiKey.UPDATE_METADATA, versions=(8, 8), flexible_from=6
):
    """Partitions that changed and all brokers alive."""

    controller_id: int = wire(int32)
    is_k_raft_controller: bool = wire(boolean)
    type: int = wire(int8, tag=0)  #: 0 unknown, 1 some partitions, 2 all partitions
    controller_epoch: int = wire(int32)
    broker_epoch: int = wire(int64, default=-1, ignorable=True)  #: czxid of the receiver's znode; an old one is refused
    topic_states: list[UpdateMetadataTopicState] = wire(array(UpdateMetadataTopicState))
    live_brokers: list[UpdateMetadataBroker] = wire(array(UpdateMetadataBroker))


class UpdateMetadataResponse(Message, api=ApiKey.UPDATE_METADATA, versions=(8, 8), flexible_from=6):
    """STALE_CONTROLLER_EPOCH, STALE_BROKER_EPOCH or none."""

    error_code: int = wire(int16)

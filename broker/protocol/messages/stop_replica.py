"""StopReplica: the controller tells a broker to stop hosting partitions, perhaps deleting them. Between brokers only.

Only the version that Kafka 3.9's controller sends is declared.
"""

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message, Request, Struct, array, boolean, int16, int32, int64, string, wire


class StopReplicaPartitionState(Struct):
    partition_index: int = wire(int32)
    leader_epoch: int = wire(int32, default=-1)  #: -2 when the topic is being deleted
    delete_partition: bool = wire(boolean)


class StopReplicaTopicState(Struct):
    topic_name: str = wire(string)
    partition_states: list[StopReplicaPartitionState] = wire(array(StopReplicaPartitionState))


class StopReplicaRequest(Request["StopReplicaResponse"], api=ApiKey.STOP_REPLICA, versions=(4, 4), flexible_from=2):
    """Stop the replicas named, deleting their files where asked."""

    controller_id: int = wire(int32)
    is_k_raft_controller: bool = wire(boolean)
    controller_epoch: int = wire(int32)
    broker_epoch: int = wire(int64, default=-1, ignorable=True)  #: czxid of the receiver's znode; an old one is refused
    topic_states: list[StopReplicaTopicState] = wire(array(StopReplicaTopicState))


class StopReplicaPartitionError(Struct):
    topic_name: str = wire(string)
    partition_index: int = wire(int32)
    error_code: int = wire(int16)


class StopReplicaResponse(Message, api=ApiKey.STOP_REPLICA, versions=(4, 4), flexible_from=2):
    """STALE_CONTROLLER_EPOCH for the whole request, or one result for each partition."""

    error_code: int = wire(int16)
    partition_errors: list[StopReplicaPartitionError] = wire(array(StopReplicaPartitionError))

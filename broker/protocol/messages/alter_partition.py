"""AlterPartition: a leader asks the controller to change the in-sync replicas (KIP-497). Between brokers only."""

from uuid import UUID

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message, Struct, array, int8, int16, int32, int64, string, uuid, wire


class BrokerState(Struct):
    broker_id: int = wire(int32)
    broker_epoch: int = wire(int64, default=-1)  #: as the leader saw it in the follower's fetch; -1 skips the check


class AlterPartitionRequestPartition(Struct):
    partition_index: int = wire(int32)
    leader_epoch: int = wire(int32)  #: of the asking leader
    new_isr: list[int] = wire(array(int32), until=2)
    new_isr_with_epochs: list[BrokerState] = wire(array(BrokerState), since=3)
    leader_recovery_state: int = wire(int8, since=1)  #: 1 while recovering from an unclean election
    partition_epoch: int = wire(int32)  #: zk_version the change is based on; another one is refused


class AlterPartitionRequestTopic(Struct):
    topic_name: str = wire(string, until=1, ignorable=True)
    topic_id: UUID = wire(uuid, since=2, ignorable=True)
    partitions: list[AlterPartitionRequestPartition] = wire(array(AlterPartitionRequestPartition))


class AlterPartitionRequest(Message, api=ApiKey.ALTER_PARTITION, versions=(0, 3), flexible_from=0):
    """Shrink or grow the in-sync replicas of some partitions, each succeeding or failing alone.

    1: leader recovery state (KIP-704). 2: topic ids (KIP-841). 3: the epoch of each replica's broker (KIP-903).
    """

    broker_id: int = wire(int32)
    broker_epoch: int = wire(int64, default=-1)  #: czxid of the sender's znode; an old one is refused
    topics: list[AlterPartitionRequestTopic] = wire(array(AlterPartitionRequestTopic))


class AlterPartitionResponsePartition(Struct):
    partition_index: int = wire(int32)
    error_code: int = wire(int16)
    leader_id: int = wire(int32)
    leader_epoch: int = wire(int32)
    isr: list[int] = wire(array(int32))
    leader_recovery_state: int = wire(int8, since=1, ignorable=True)
    partition_epoch: int = wire(int32)  #: zk_version of the partition's state znode after the change


class AlterPartitionResponseTopic(Struct):
    topic_name: str = wire(string, until=1, ignorable=True)
    topic_id: UUID = wire(uuid, since=2, ignorable=True)
    partitions: list[AlterPartitionResponsePartition] = wire(array(AlterPartitionResponsePartition))


class AlterPartitionResponse(Message, api=ApiKey.ALTER_PARTITION, versions=(0, 3), flexible_from=0):
    """An error for the whole request, or each partition's state as the controller has it now.

    1: leader recovery state. 2: topic ids and the errors that tell a stale leader or an unfit replica.
    """

    throttle_time_ms: int = wire(int32)
    error_code: int = wire(int16)
    topics: list[AlterPartitionResponseTopic] = wire(array(AlterPartitionResponseTopic))

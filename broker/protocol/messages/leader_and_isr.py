"""LeaderAndIsr: the controller tells a broker which partitions it leads or follows. Between brokers only.

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


class LeaderAndIsrPartitionState(Struct):
    partition_index: int = wire(int32)
    controller_epoch: int = wire(int32)  #: in which this state was decided
    leader: int = wire(int32)  #: -1 for none
    leader_epoch: int = wire(int32)
    isr: list[int] = wire(array(int32))
    partition_epoch: int = wire(int32)  #: zk_version of the partition's state znode
    replicas: list[int] = wire(array(int32))  #: preferred leader first
    adding_replicas: list[int] = wire(array(int32), ignorable=True)
    removing_replicas: list[int] = wire(array(int32), ignorable=True)
    is_new: bool = wire(boolean, ignorable=True)  #: the replica is expected not to exist yet
    leader_recovery_state: int = wire(int8)  #: 1 after an unclean election
    #: Outside the ISR, with all that is committed (KIP-966); the leader commits nothing while there are any.
    eligible_leader_replicas: list[int] = wire(array(int32), tag=OWN_TAG_MIN, ignorable=True)


class LeaderAndIsrTopicState(Struct):
    topic_name: str = wire(string)
    topic_id: UUID = wire(uuid, ignorable=True)
    partition_states: list[LeaderAndIsrPartitionState] = wire(array(LeaderAndIsrPartitionState))


class LeaderAndIsrLiveLeader(Struct):
    broker_id: int = wire(int32)
    host_name: str = wire(string)
    port: int = wire(int32)


class LeaderAndIsrRequest(Request["LeaderAndIsrResponse"], api=ApiKey.LEADER_AND_ISR, versions=(7, 7), flexible_from=4):
    """Become leader or follower of the partitions named."""

    controller_id: int = wire(int32)
    is_k_raft_controller: bool = wire(boolean)
    controller_epoch: int = wire(int32)
    broker_epoch: int = wire(int64, default=-1, ignorable=True)  #: czxid of the receiver's znode; an old one is refused
    type: int = wire(int8)  #: 0 unknown, 1 some partitions, 2 all partitions of the broker
    topic_states: list[LeaderAndIsrTopicState] = wire(array(LeaderAndIsrTopicState))
    live_leaders: list[LeaderAndIsrLiveLeader] = wire(array(LeaderAndIsrLiveLeader))


class LeaderAndIsrPartitionError(Struct):
    partition_index: int = wire(int32)
    error_code: int = wire(int16)
    #: The role was taken, and the log directory is full: another member of the ISR should lead.
    is_full: bool = wire(boolean, tag=OWN_TAG_MIN, default=False, ignorable=True)
    #: Of a role without a leader: the last leader epoch in the replica's log, and where the log ends; -1 if not told.
    #: Of a role that is not taken because the log is missing: -1 and 0.
    last_epoch: int = wire(int32, tag=OWN_TAG_MIN + 1, default=-1, ignorable=True)
    log_end_offset: int = wire(int64, tag=OWN_TAG_MIN + 2, default=-1, ignorable=True)
    #: Of a role that is not taken because a later one is known: what the later one says, -1 and empty as far as it is
    #: not known.
    known_leader_epoch: int = wire(int32, tag=OWN_TAG_MIN + 3, default=-1, ignorable=True)
    known_leader: int = wire(int32, tag=OWN_TAG_MIN + 4, default=-1, ignorable=True)
    known_isr: list[int] = wire(array(int32), tag=OWN_TAG_MIN + 5, ignorable=True)


class LeaderAndIsrTopicError(Struct):
    topic_id: UUID = wire(uuid)
    partition_errors: list[LeaderAndIsrPartitionError] = wire(array(LeaderAndIsrPartitionError))


class LeaderAndIsrResponse(Message, api=ApiKey.LEADER_AND_ISR, versions=(7, 7), flexible_from=4):
    """STALE_CONTROLLER_EPOCH for the whole request, or one result for each partition."""

    error_code: int = wire(int16)
    topics: list[LeaderAndIsrTopicError] = wire(array(LeaderAndIsrTopicError))

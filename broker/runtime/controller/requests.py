"""Between the controller's words and the wire: its effects as requests, brokers' responses as its events."""

from collections.abc import Iterable

from broker.common.cluster import LastRole, LiveBroker
from broker.common.errors import ErrorCode
from broker.common.security_protocol import SecurityProtocol
from broker.common.types import TopicPartition
from broker.controller.effects import PartitionTold, SendLeaderAndIsr, SendStopReplica, SendUpdateMetadata
from broker.controller.events import LeaderAndIsrAnswered, ReplicasDeleted
from broker.protocol.messages.leader_and_isr import (
    LeaderAndIsrLiveLeader,
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrResponse,
    LeaderAndIsrTopicState,
)
from broker.protocol.messages.stop_replica import (
    StopReplicaPartitionState,
    StopReplicaRequest,
    StopReplicaResponse,
    StopReplicaTopicState,
)
from broker.protocol.messages.update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataEndpoint,
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataTopicState,
)

LEADER_AND_ISR_VERSION = 7
UPDATE_METADATA_VERSION = 8
STOP_REPLICA_VERSION = 4

#: What a broker answers to a role that it may be able to take later: a want that passes, what nobody foresaw, and a log
#: of an earlier topic of the name that it has not heard the end of.
_NOT_NOW = (ErrorCode.REPLICA_NOT_AVAILABLE, ErrorCode.UNKNOWN_SERVER_ERROR, ErrorCode.INCONSISTENT_TOPIC_ID)

_SECURITY_PROTOCOLS = {protocol.name: protocol.value for protocol in SecurityProtocol}


def leader_and_isr_request(
    effect: SendLeaderAndIsr, controller_id: int, broker_epoch: int, listener: str
) -> LeaderAndIsrRequest:
    """Build the request; leaders are given by the address of `listener`, where brokers reach them."""
    return LeaderAndIsrRequest(
        controller_id=controller_id,
        controller_epoch=effect.controller_epoch,
        broker_epoch=broker_epoch,
        topic_states=[
            LeaderAndIsrTopicState(
                topic_name=topic,
                topic_id=states[0].topic_id,
                partition_states=[_leader_and_isr_state(one) for one in states],
            )
            for topic, states in _by_topic(effect.partitions).items()
        ],
        live_leaders=[
            LeaderAndIsrLiveLeader(broker_id=broker.broker_id, host_name=endpoint.host, port=endpoint.port)
            for broker in effect.live_leaders
            if (endpoint := broker.registration.endpoint(listener))
        ],
    )


def _leader_and_isr_state(state: PartitionTold) -> LeaderAndIsrPartitionState:
    return LeaderAndIsrPartitionState(
        partition_index=state.partition.partition,
        controller_epoch=state.state.controller_epoch,
        leader=state.state.leader,
        leader_epoch=state.state.leader_epoch,
        isr=list(state.state.isr),
        partition_epoch=state.state.zk_version,
        replicas=list(state.replicas),
        adding_replicas=list(state.adding),
        removing_replicas=list(state.removing),
        is_new=state.is_new,
        leader_recovery_state=state.state.leader_recovery_state,
        eligible_leader_replicas=list(state.state.elr),
    )


def leader_and_isr_answered(
    broker: LiveBroker, effect: SendLeaderAndIsr, response: LeaderAndIsrResponse
) -> LeaderAndIsrAnswered:
    """Build the event. A role older than the broker's (STALE_CONTROLLER_EPOCH) counts as neither taken nor missing. A
    broker of an earlier version does not report full directories, log ends, nor which later role it knows.
    """
    names = {state.topic_id: state.partition.topic for state in effect.partitions}
    answered = {
        TopicPartition(names[topic.topic_id], error.partition_index): error
        for topic in response.topics
        if topic.topic_id in names
        for error in topic.partition_errors
    }
    refused = {one: error.error_code for one, error in answered.items() if error.error_code != ErrorCode.NONE}
    return LeaderAndIsrAnswered(
        broker.broker_id,
        broker.epoch,
        taken=frozenset(state.partition for state in effect.partitions if state.partition not in refused),
        failed=frozenset(one for one, code in refused.items() if code == ErrorCode.KAFKA_STORAGE_ERROR),
        deferred=frozenset(one for one, code in refused.items() if code in _NOT_NOW),
        full=frozenset(one for one, error in answered.items() if error.is_full and one not in refused),
        extents={
            one: (error.last_epoch, error.log_end_offset)
            for one, error in answered.items()
            if error.log_end_offset >= 0
        },
        later={
            one: LastRole(error.known_leader_epoch, error.known_leader, tuple(error.known_isr))
            for one, error in answered.items()
            if error.known_leader_epoch >= 0
        },
    )


def update_metadata_request(effect: SendUpdateMetadata, controller_id: int, broker_epoch: int) -> UpdateMetadataRequest:
    return UpdateMetadataRequest(
        controller_id=controller_id,
        controller_epoch=effect.controller_epoch,
        broker_epoch=broker_epoch,
        topic_states=[
            UpdateMetadataTopicState(
                topic_name=topic,
                topic_id=states[0].topic_id,
                partition_states=[_metadata_state(one) for one in states],
                has_vanished=all(one.has_vanished for one in states),
            )
            for topic, states in _by_topic(effect.partitions).items()
        ],
        live_brokers=[_metadata_broker(broker) for broker in effect.live_brokers],
    )


def _metadata_state(state: PartitionTold) -> UpdateMetadataPartitionState:
    return UpdateMetadataPartitionState(
        partition_index=state.partition.partition,
        controller_epoch=state.state.controller_epoch,
        leader=state.state.leader,
        leader_epoch=state.state.leader_epoch,
        isr=list(state.state.isr),
        zk_version=state.state.zk_version,
        replicas=list(state.replicas),
        offline_replicas=list(state.offline_replicas),
        eligible_leader_replicas=list(state.state.elr),
        last_known_elr=list(state.state.last_known_elr),
    )


def _metadata_broker(broker: LiveBroker) -> UpdateMetadataBroker:
    return UpdateMetadataBroker(
        id=broker.broker_id,
        endpoints=[
            UpdateMetadataEndpoint(
                port=endpoint.port,
                host=endpoint.host,
                listener=endpoint.listener,
                security_protocol=_SECURITY_PROTOCOLS.get(endpoint.security_protocol, 0),
            )
            for endpoint in broker.registration.endpoints
        ],
        rack=broker.registration.rack,
    )


def stop_replica_request(effect: SendStopReplica, controller_id: int, broker_epoch: int) -> StopReplicaRequest:
    topics: dict[str, list[StopReplicaPartitionState]] = {}
    for stop in effect.stops:
        topic, index = stop.partition
        state = StopReplicaPartitionState(
            partition_index=index, leader_epoch=stop.leader_epoch, delete_partition=stop.delete
        )
        topics.setdefault(topic, []).append(state)
    return StopReplicaRequest(
        controller_id=controller_id,
        controller_epoch=effect.controller_epoch,
        broker_epoch=broker_epoch,
        topic_states=[
            StopReplicaTopicState(topic_name=topic, partition_states=states) for topic, states in topics.items()
        ],
    )


def replicas_deleted(
    broker: LiveBroker, effect: SendStopReplica, response: StopReplicaResponse
) -> ReplicasDeleted | None:
    """Return the outcome of the deletions in the request; None if it had none."""
    epochs = {stop.partition: stop.leader_epoch for stop in effect.stops if stop.delete}
    deleted: set[TopicPartition] = set()
    failed: set[TopicPartition] = set()
    for one in response.partition_errors:
        answered = deleted if one.error_code == ErrorCode.NONE else failed
        answered.add(TopicPartition(one.topic_name, one.partition_index))
    if not epochs:
        return None
    return ReplicasDeleted(
        broker.broker_id, broker.epoch, frozenset(deleted & epochs.keys()), frozenset(failed & epochs.keys()), epochs
    )


def _by_topic(partitions: Iterable[PartitionTold]) -> dict[str, list[PartitionTold]]:
    topics: dict[str, list[PartitionTold]] = {}
    for state in partitions:
        topics.setdefault(state.partition.topic, []).append(state)
    return topics

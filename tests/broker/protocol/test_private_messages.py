"""The requests between ZooKeeper-mode brokers: hardly any other implementation has them, so layouts are written out."""

from struct import pack
from uuid import UUID

from broker.protocol.codec import decode, encode
from broker.protocol.messages.controlled_shutdown import (
    ControlledShutdownRequest,
    ControlledShutdownResponse,
    RemainingPartition,
)
from broker.protocol.messages.leader_and_isr import (
    LeaderAndIsrLiveLeader,
    LeaderAndIsrPartitionError,
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrResponse,
    LeaderAndIsrTopicError,
    LeaderAndIsrTopicState,
)
from broker.protocol.messages.stop_replica import (
    StopReplicaPartitionError,
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
    UpdateMetadataResponse,
    UpdateMetadataTopicState,
)
from broker.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopic,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)

TOPIC_ID = UUID(int=0xABCD)
NO_TAGS = b"\0"


def _assert_layout(message, version, *pieces):
    body = b"".join(pieces)
    assert encode(message, version) == body
    assert decode(type(message), body, version) == message


def test_leader_and_isr_has_the_layout_kafka_sends():
    partition = LeaderAndIsrPartitionState(
        partition_index=1, controller_epoch=2, leader=3, leader_epoch=4, isr=[3, 5], partition_epoch=6,
        replicas=[3, 5, 7], adding_replicas=[7], removing_replicas=[], is_new=True, leader_recovery_state=1,
    )  # fmt: skip
    _assert_layout(
        LeaderAndIsrRequest(
            controller_id=10, is_k_raft_controller=False, controller_epoch=11, broker_epoch=12, type=2,
            topic_states=[LeaderAndIsrTopicState(topic_name="t", topic_id=TOPIC_ID, partition_states=[partition])],
            live_leaders=[LeaderAndIsrLiveLeader(broker_id=3, host_name="h", port=9092)],
        ),
        7,
        pack(">i?iqb", 10, False, 11, 12, 2),
        b"\2" + b"\2t" + TOPIC_ID.bytes,
        b"\2" + pack(">iiii", 1, 2, 3, 4) + b"\3" + pack(">ii", 3, 5) + pack(">i", 6) + b"\4" + pack(">iii", 3, 5, 7),
        b"\2" + pack(">i", 7) + b"\1" + pack(">?b", True, 1) + NO_TAGS,
        NO_TAGS,
        b"\2" + pack(">i", 3) + b"\2h" + pack(">i", 9092) + NO_TAGS,
        NO_TAGS,
    )  # fmt: skip


def test_leader_and_isr_response():
    errors = [LeaderAndIsrPartitionError(partition_index=1, error_code=56)]
    _assert_layout(
        LeaderAndIsrResponse(topics=[LeaderAndIsrTopicError(topic_id=TOPIC_ID, partition_errors=errors)]),
        7,
        pack(">h", 0) + b"\2" + TOPIC_ID.bytes + b"\2" + pack(">ih", 1, 56) + NO_TAGS * 3,
    )


def test_update_metadata_has_the_layout_kafka_sends():
    partition = UpdateMetadataPartitionState(
        partition_index=1, controller_epoch=2, leader=3, leader_epoch=4, isr=[3], zk_version=6, replicas=[3, 5],
        offline_replicas=[5],
    )  # fmt: skip
    endpoint = UpdateMetadataEndpoint(port=9092, host="h", listener="L", security_protocol=0)
    request = UpdateMetadataRequest(
        controller_id=10,
        controller_epoch=11,
        broker_epoch=12,
        topic_states=[UpdateMetadataTopicState(topic_name="t", topic_id=TOPIC_ID, partition_states=[partition])],
        live_brokers=[UpdateMetadataBroker(id=3, endpoints=[endpoint], rack=None)],
    )
    pieces = (
        pack(">i?iq", 10, False, 11, 12),
        b"\2" + b"\2t" + TOPIC_ID.bytes,
        b"\2" + pack(">iiii", 1, 2, 3, 4) + b"\2" + pack(">i", 3) + pack(">i", 6) + b"\3" + pack(">ii", 3, 5),
        b"\2" + pack(">i", 5) + NO_TAGS,
        NO_TAGS,
        b"\2" + pack(">i", 3) + b"\2" + pack(">i", 9092) + b"\2h\2L" + pack(">h", 0) + NO_TAGS + b"\0" + NO_TAGS,
    )
    _assert_layout(request, 8, *pieces, NO_TAGS)
    request.type = 2
    _assert_layout(request, 8, *pieces, b"\1" + b"\0\1\2")


def test_update_metadata_response():
    _assert_layout(UpdateMetadataResponse(error_code=11), 8, pack(">h", 11) + NO_TAGS)


def test_stop_replica_has_the_layout_kafka_sends():
    states = [StopReplicaPartitionState(partition_index=1, leader_epoch=-2, delete_partition=True)]
    _assert_layout(
        StopReplicaRequest(
            controller_id=10,
            controller_epoch=11,
            broker_epoch=12,
            topic_states=[StopReplicaTopicState(topic_name="t", partition_states=states)],
        ),
        4,
        pack(">i?iq", 10, False, 11, 12),
        b"\2" + b"\2t" + b"\2" + pack(">ii?", 1, -2, True) + NO_TAGS * 3,
    )


def test_stop_replica_response():
    errors = [StopReplicaPartitionError(topic_name="t", partition_index=1, error_code=3)]
    _assert_layout(
        StopReplicaResponse(partition_errors=errors), 4, pack(">h", 0) + b"\2\2t" + pack(">ih", 1, 3) + NO_TAGS * 2
    )


def test_controlled_shutdown_has_the_layout_kafka_sends():
    _assert_layout(ControlledShutdownRequest(broker_id=1, broker_epoch=2), 3, pack(">iq", 1, 2) + NO_TAGS)
    _assert_layout(
        ControlledShutdownResponse(remaining_partitions=[RemainingPartition(topic_name="t", partition_index=1)]),
        3,
        pack(">h", 0) + b"\2\2t" + pack(">i", 1) + NO_TAGS * 2,
    )


def test_write_txn_markers_has_the_layout_kafka_sends():
    topics = [WritableTxnMarkerTopic(name="t", partition_indexes=[4, 5])]
    marker = WritableTxnMarker(
        producer_id=1, producer_epoch=2, transaction_result=True, topics=topics, coordinator_epoch=3
    )
    request = WriteTxnMarkersRequest(markers=[marker])
    head = pack(">qh?", 1, 2, True)
    classic = pack(">i", 1) + head + pack(">ih", 1, 1) + b"t" + pack(">iii", 2, 4, 5) + pack(">i", 3)
    _assert_layout(request, 0, classic)
    flexible = b"\2" + head + b"\2\2t\3" + pack(">ii", 4, 5) + NO_TAGS + pack(">i", 3) + NO_TAGS * 2
    _assert_layout(request, 1, flexible)


def test_write_txn_markers_response():
    partitions = [WritableTxnMarkerPartitionResult(partition_index=4, error_code=6)]
    result = WritableTxnMarkerResult(
        producer_id=1, topics=[WritableTxnMarkerTopicResult(name="t", partitions=partitions)]
    )
    response = WriteTxnMarkersResponse(markers=[result])
    _assert_layout(response, 0, pack(">iqih", 1, 1, 1, 1), b"t", pack(">iih", 1, 4, 6))
    _assert_layout(response, 1, b"\2" + pack(">q", 1) + b"\2\2t\2" + pack(">ih", 4, 6) + NO_TAGS * 4)

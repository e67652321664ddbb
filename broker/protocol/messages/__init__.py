"""Every message declared, by API: the registry the header reader, the handlers and the tests look into."""

from typing import NamedTuple

from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from broker.protocol.messages.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnResponse
from broker.protocol.messages.alter_client_quotas import AlterClientQuotasRequest, AlterClientQuotasResponse
from broker.protocol.messages.alter_configs import AlterConfigsRequest, AlterConfigsResponse
from broker.protocol.messages.alter_partition import AlterPartitionRequest, AlterPartitionResponse
from broker.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
)
from broker.protocol.messages.alter_replica_log_dirs import AlterReplicaLogDirsRequest, AlterReplicaLogDirsResponse
from broker.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
)
from broker.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from broker.protocol.messages.controlled_shutdown import ControlledShutdownRequest, ControlledShutdownResponse
from broker.protocol.messages.create_acls import CreateAclsRequest, CreateAclsResponse
from broker.protocol.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsResponse
from broker.protocol.messages.create_topics import CreateTopicsRequest, CreateTopicsResponse
from broker.protocol.messages.delete_acls import DeleteAclsRequest, DeleteAclsResponse
from broker.protocol.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from broker.protocol.messages.delete_records import DeleteRecordsRequest, DeleteRecordsResponse
from broker.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from broker.protocol.messages.describe_acls import DescribeAclsRequest, DescribeAclsResponse
from broker.protocol.messages.describe_client_quotas import DescribeClientQuotasRequest, DescribeClientQuotasResponse
from broker.protocol.messages.describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from broker.protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResponse
from broker.protocol.messages.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse
from broker.protocol.messages.describe_log_dirs import DescribeLogDirsRequest, DescribeLogDirsResponse
from broker.protocol.messages.describe_producers import DescribeProducersRequest, DescribeProducersResponse
from broker.protocol.messages.describe_requests import DescribeRequestsRequest, DescribeRequestsResponse
from broker.protocol.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
)
from broker.protocol.messages.describe_transactions import DescribeTransactionsRequest, DescribeTransactionsResponse
from broker.protocol.messages.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
)
from broker.protocol.messages.elect_leaders import ElectLeadersRequest, ElectLeadersResponse
from broker.protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from broker.protocol.messages.fetch import FetchRequest, FetchResponse
from broker.protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from broker.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from broker.protocol.messages.incremental_alter_configs import (
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from broker.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from broker.protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse
from broker.protocol.messages.leader_and_isr import LeaderAndIsrRequest, LeaderAndIsrResponse
from broker.protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse
from broker.protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from broker.protocol.messages.list_offsets import ListOffsetsRequest, ListOffsetsResponse
from broker.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)
from broker.protocol.messages.list_transactions import ListTransactionsRequest, ListTransactionsResponse
from broker.protocol.messages.metadata import MetadataRequest, MetadataResponse
from broker.protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitResponse
from broker.protocol.messages.offset_delete import OffsetDeleteRequest, OffsetDeleteResponse
from broker.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchResponse
from broker.protocol.messages.offset_for_leader_epoch import OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse
from broker.protocol.messages.preview_retention import PreviewRetentionRequest, PreviewRetentionResponse
from broker.protocol.messages.produce import ProduceRequest, ProduceResponse
from broker.protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from broker.protocol.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from broker.protocol.messages.stop_replica import StopReplicaRequest, StopReplicaResponse
from broker.protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from broker.protocol.messages.txn_offset_commit import TxnOffsetCommitRequest, TxnOffsetCommitResponse
from broker.protocol.messages.update_metadata import UpdateMetadataRequest, UpdateMetadataResponse
from broker.protocol.messages.write_txn_markers import WriteTxnMarkersRequest, WriteTxnMarkersResponse
from broker.protocol.schema import Message


class MessagePair(NamedTuple):
    """The request of an API and its response, declared over the same versions."""

    request: type[Message]
    response: type[Message]


_PAIRS = (
    MessagePair(AddOffsetsToTxnRequest, AddOffsetsToTxnResponse),
    MessagePair(AddPartitionsToTxnRequest, AddPartitionsToTxnResponse),
    MessagePair(AlterClientQuotasRequest, AlterClientQuotasResponse),
    MessagePair(AlterConfigsRequest, AlterConfigsResponse),
    MessagePair(AlterPartitionRequest, AlterPartitionResponse),
    MessagePair(AlterPartitionReassignmentsRequest, AlterPartitionReassignmentsResponse),
    MessagePair(AlterReplicaLogDirsRequest, AlterReplicaLogDirsResponse),
    MessagePair(AlterUserScramCredentialsRequest, AlterUserScramCredentialsResponse),
    MessagePair(ApiVersionsRequest, ApiVersionsResponse),
    MessagePair(ControlledShutdownRequest, ControlledShutdownResponse),
    MessagePair(CreateAclsRequest, CreateAclsResponse),
    MessagePair(CreatePartitionsRequest, CreatePartitionsResponse),
    MessagePair(CreateTopicsRequest, CreateTopicsResponse),
    MessagePair(DeleteAclsRequest, DeleteAclsResponse),
    MessagePair(DeleteGroupsRequest, DeleteGroupsResponse),
    MessagePair(DeleteRecordsRequest, DeleteRecordsResponse),
    MessagePair(DeleteTopicsRequest, DeleteTopicsResponse),
    MessagePair(DescribeAclsRequest, DescribeAclsResponse),
    MessagePair(DescribeClientQuotasRequest, DescribeClientQuotasResponse),
    MessagePair(DescribeClusterRequest, DescribeClusterResponse),
    MessagePair(DescribeConfigsRequest, DescribeConfigsResponse),
    MessagePair(DescribeGroupsRequest, DescribeGroupsResponse),
    MessagePair(DescribeLogDirsRequest, DescribeLogDirsResponse),
    MessagePair(DescribeProducersRequest, DescribeProducersResponse),
    MessagePair(DescribeRequestsRequest, DescribeRequestsResponse),
    MessagePair(DescribeTopicPartitionsRequest, DescribeTopicPartitionsResponse),
    MessagePair(DescribeTransactionsRequest, DescribeTransactionsResponse),
    MessagePair(DescribeUserScramCredentialsRequest, DescribeUserScramCredentialsResponse),
    MessagePair(ElectLeadersRequest, ElectLeadersResponse),
    MessagePair(EndTxnRequest, EndTxnResponse),
    MessagePair(FetchRequest, FetchResponse),
    MessagePair(FindCoordinatorRequest, FindCoordinatorResponse),
    MessagePair(HeartbeatRequest, HeartbeatResponse),
    MessagePair(IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse),
    MessagePair(InitProducerIdRequest, InitProducerIdResponse),
    MessagePair(JoinGroupRequest, JoinGroupResponse),
    MessagePair(LeaderAndIsrRequest, LeaderAndIsrResponse),
    MessagePair(LeaveGroupRequest, LeaveGroupResponse),
    MessagePair(ListGroupsRequest, ListGroupsResponse),
    MessagePair(ListOffsetsRequest, ListOffsetsResponse),
    MessagePair(ListPartitionReassignmentsRequest, ListPartitionReassignmentsResponse),
    MessagePair(ListTransactionsRequest, ListTransactionsResponse),
    MessagePair(MetadataRequest, MetadataResponse),
    MessagePair(OffsetCommitRequest, OffsetCommitResponse),
    MessagePair(OffsetDeleteRequest, OffsetDeleteResponse),
    MessagePair(OffsetFetchRequest, OffsetFetchResponse),
    MessagePair(OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse),
    MessagePair(PreviewRetentionRequest, PreviewRetentionResponse),
    MessagePair(ProduceRequest, ProduceResponse),
    MessagePair(SaslAuthenticateRequest, SaslAuthenticateResponse),
    MessagePair(SaslHandshakeRequest, SaslHandshakeResponse),
    MessagePair(StopReplicaRequest, StopReplicaResponse),
    MessagePair(SyncGroupRequest, SyncGroupResponse),
    MessagePair(TxnOffsetCommitRequest, TxnOffsetCommitResponse),
    MessagePair(UpdateMetadataRequest, UpdateMetadataResponse),
    MessagePair(WriteTxnMarkersRequest, WriteTxnMarkersResponse),
)

MESSAGES: dict[ApiKey, MessagePair] = {pair.request.api: pair for pair in _PAIRS}

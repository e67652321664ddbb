"""Every message declared, by API: the registry the header reader, the handlers and the tests look into."""

from typing import NamedTuple

from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from broker.protocol.messages.controlled_shutdown import ControlledShutdownRequest, ControlledShutdownResponse
from broker.protocol.messages.create_topics import CreateTopicsRequest, CreateTopicsResponse
from broker.protocol.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from broker.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from broker.protocol.messages.describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from broker.protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResponse
from broker.protocol.messages.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse
from broker.protocol.messages.fetch import FetchRequest, FetchResponse
from broker.protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from broker.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from broker.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from broker.protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse
from broker.protocol.messages.leader_and_isr import LeaderAndIsrRequest, LeaderAndIsrResponse
from broker.protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse
from broker.protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from broker.protocol.messages.list_offsets import ListOffsetsRequest, ListOffsetsResponse
from broker.protocol.messages.metadata import MetadataRequest, MetadataResponse
from broker.protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitResponse
from broker.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchResponse
from broker.protocol.messages.offset_for_leader_epoch import OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse
from broker.protocol.messages.produce import ProduceRequest, ProduceResponse
from broker.protocol.messages.stop_replica import StopReplicaRequest, StopReplicaResponse
from broker.protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from broker.protocol.messages.update_metadata import UpdateMetadataRequest, UpdateMetadataResponse
from broker.protocol.schema import Message


class MessagePair(NamedTuple):
    """The request of an API and its response, declared over the same versions."""

    request: type[Message]
    response: type[Message]


_PAIRS = (
    MessagePair(ApiVersionsRequest, ApiVersionsResponse),
    MessagePair(ControlledShutdownRequest, ControlledShutdownResponse),
    MessagePair(CreateTopicsRequest, CreateTopicsResponse),
    MessagePair(DeleteGroupsRequest, DeleteGroupsResponse),
    MessagePair(DeleteTopicsRequest, DeleteTopicsResponse),
    MessagePair(DescribeClusterRequest, DescribeClusterResponse),
    MessagePair(DescribeConfigsRequest, DescribeConfigsResponse),
    MessagePair(DescribeGroupsRequest, DescribeGroupsResponse),
    MessagePair(FetchRequest, FetchResponse),
    MessagePair(FindCoordinatorRequest, FindCoordinatorResponse),
    MessagePair(HeartbeatRequest, HeartbeatResponse),
    MessagePair(InitProducerIdRequest, InitProducerIdResponse),
    MessagePair(JoinGroupRequest, JoinGroupResponse),
    MessagePair(LeaderAndIsrRequest, LeaderAndIsrResponse),
    MessagePair(LeaveGroupRequest, LeaveGroupResponse),
    MessagePair(ListGroupsRequest, ListGroupsResponse),
    MessagePair(ListOffsetsRequest, ListOffsetsResponse),
    MessagePair(MetadataRequest, MetadataResponse),
    MessagePair(OffsetCommitRequest, OffsetCommitResponse),
    MessagePair(OffsetFetchRequest, OffsetFetchResponse),
    MessagePair(OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse),
    MessagePair(ProduceRequest, ProduceResponse),
    MessagePair(StopReplicaRequest, StopReplicaResponse),
    MessagePair(SyncGroupRequest, SyncGroupResponse),
    MessagePair(UpdateMetadataRequest, UpdateMetadataResponse),
)

MESSAGES: dict[ApiKey, MessagePair] = {pair.request.api: pair for pair in _PAIRS}

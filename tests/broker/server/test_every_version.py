"""Every API in every version the registry lists, over a socket: a plausible request is answered, and well."""

from uuid import UUID

import pytest

from broker.common.errors import ErrorCode
from broker.handlers.config_resources import ConfigResourceType
from broker.handlers.registry import HANDLERS
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages import alter_configs, describe_producers
from broker.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from broker.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from broker.protocol.messages.alter_client_quotas import AlterClientQuotasRequest, EntityData, EntryData, OpData
from broker.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from broker.protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from broker.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
)
from broker.protocol.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from broker.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from broker.protocol.messages.controlled_shutdown import ControlledShutdownRequest
from broker.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from broker.protocol.messages.create_delegation_token import CreateDelegationTokenRequest
from broker.protocol.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from broker.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from broker.protocol.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from broker.protocol.messages.delete_groups import DeleteGroupsRequest
from broker.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from broker.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from broker.protocol.messages.describe_acls import DescribeAclsRequest
from broker.protocol.messages.describe_client_quotas import DescribeClientQuotasRequest
from broker.protocol.messages.describe_client_traffic import DescribeClientTrafficRequest
from broker.protocol.messages.describe_cluster import DescribeClusterRequest
from broker.protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from broker.protocol.messages.describe_delegation_token import DescribeDelegationTokenRequest
from broker.protocol.messages.describe_groups import DescribeGroupsRequest
from broker.protocol.messages.describe_log_dirs import DescribeLogDirsRequest
from broker.protocol.messages.describe_requests import DescribeRequestsRequest
from broker.protocol.messages.describe_topic_partitions import DescribeTopicPartitionsRequest, TopicRequest
from broker.protocol.messages.describe_transactions import DescribeTransactionsRequest
from broker.protocol.messages.describe_user_scram_credentials import DescribeUserScramCredentialsRequest
from broker.protocol.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from broker.protocol.messages.end_txn import EndTxnRequest
from broker.protocol.messages.expire_delegation_token import ExpireDelegationTokenRequest
from broker.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from broker.protocol.messages.find_coordinator import FindCoordinatorRequest
from broker.protocol.messages.get_telemetry_subscriptions import GetTelemetrySubscriptionsRequest
from broker.protocol.messages.heartbeat import HeartbeatRequest
from broker.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from broker.protocol.messages.init_producer_id import InitProducerIdRequest
from broker.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from broker.protocol.messages.leader_and_isr import LeaderAndIsrRequest
from broker.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from broker.protocol.messages.list_config_resources import ListConfigResourcesRequest
from broker.protocol.messages.list_groups import ListGroupsRequest
from broker.protocol.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from broker.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)
from broker.protocol.messages.list_transactions import ListTransactionsRequest
from broker.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from broker.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from broker.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from broker.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
)
from broker.protocol.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from broker.protocol.messages.preview_retention import PreviewRetentionRequest, PreviewRetentionTopic
from broker.protocol.messages.produce import ProduceRequest
from broker.protocol.messages.push_telemetry import PushTelemetryRequest
from broker.protocol.messages.renew_delegation_token import RenewDelegationTokenRequest
from broker.protocol.messages.stop_replica import StopReplicaRequest
from broker.protocol.messages.sync_group import SyncGroupRequest
from broker.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from broker.protocol.messages.unregister_broker import UnregisterBrokerRequest
from broker.protocol.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from broker.protocol.messages.update_metadata import UpdateMetadataRequest
from broker.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from broker.runtime.topics.internal_topics import OFFSETS_TOPIC, TRANSACTION_TOPIC
from tests.broker.server.conftest import INTRODUCTION
from tests.broker.server.test_bad_input import batch_of, produce

pytestmark = pytest.mark.versions


def _offset_fetch(version: int, topic: str) -> OffsetFetchRequest:
    if version < 8:
        return OffsetFetchRequest(group_id="g", topics=[OffsetFetchRequestTopic(name=topic, partition_indexes=[0])])
    topic_id = TOPIC_IDS.get(topic, UUID(int=9))
    offset_fetch_request_topic = OffsetFetchRequestTopic(name=topic, topic_id=topic_id, partition_indexes=[0])
    return OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id="g", topics=[offset_fetch_request_topic])])


def _delete_topics(version: int, topic: str) -> DeleteTopicsRequest:
    if version < 6:
        return DeleteTopicsRequest(topic_names=[topic], timeout_ms=1000)
    return DeleteTopicsRequest(topics=[DeleteTopicState(name=topic)], timeout_ms=1000)


def _commit(topic: str) -> OffsetCommitRequest:
    partitions = [OffsetCommitRequestPartition(partition_index=0, committed_offset=1)]
    topic_id = TOPIC_IDS.get(topic, UUID(int=9))
    topics = [OffsetCommitRequestTopic(name=topic, topic_id=topic_id, partitions=partitions)]
    return OffsetCommitRequest(group_id="g", topics=topics)


TOPIC_IDS = {"t": UUID(int=77), OFFSETS_TOPIC: UUID(int=78), TRANSACTION_TOPIC: UUID(int=79)}


def topic_id_of(topic: str) -> UUID:
    return TOPIC_IDS.get(topic, UUID(int=9))


def _produce(topic: str) -> ProduceRequest:
    request = produce(batch_of(b"x"), topic=topic)
    request.topic_data[0].topic_id = topic_id_of(topic)
    return request


def _txn_commit(topic: str) -> TxnOffsetCommitRequest:
    partitions = [TxnOffsetCommitRequestPartition(partition_index=0, committed_offset=1)]
    topics = [TxnOffsetCommitRequestTopic(name=topic, topic_id=topic_id_of(topic), partitions=partitions)]
    return TxnOffsetCommitRequest(
        transactional_id="x", group_id="g", producer_id=1, producer_epoch=0, member_id="", topics=topics
    )


def _join(version: int) -> JoinGroupRequest:
    return JoinGroupRequest(
        group_id="g",
        session_timeout_ms=10_000,
        rebalance_timeout_ms=10_000 if version else -1,
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range", metadata=b"m")],
    )


def _leave(version: int) -> LeaveGroupRequest:
    if version < 3:
        return LeaveGroupRequest(group_id="g", member_id="nobody")
    return LeaveGroupRequest(group_id="g", members=[MemberIdentity(member_id="nobody")])


def _add_partitions(version: int, topic: str) -> AddPartitionsToTxnRequest:
    topics = [AddPartitionsToTxnTopic(name=topic, partitions=[0])]
    if version < 4:
        return AddPartitionsToTxnRequest(
            v3_and_below_transactional_id="x",
            v3_and_below_producer_id=0,
            v3_and_below_producer_epoch=0,
            v3_and_below_topics=topics,
        )
    transaction = AddPartitionsToTxnTransaction(
        transactional_id="x", producer_id=0, producer_epoch=0, verify_only=False, topics=topics
    )
    return AddPartitionsToTxnRequest(transactions=[transaction])


#: (version, topic) -> request
REQUESTS = {
    ApiKey.PRODUCE: lambda version, topic: _produce(topic),
    ApiKey.FETCH: lambda version, topic: FetchRequest(
        max_bytes=1000,
        isolation_level=1,
        topics=[
            FetchTopic(
                topic=topic,
                topic_id=topic_id_of(topic),
                partitions=[FetchPartition(partition=0, partition_max_bytes=1000)],
            )
        ],
    ),
    ApiKey.LIST_OFFSETS: lambda version, topic: ListOffsetsRequest(
        topics=[ListOffsetsTopic(name=topic, partitions=[ListOffsetsPartition(partition_index=0, timestamp=-1)])]
    ),
    ApiKey.METADATA: lambda version, topic: MetadataRequest(topics=[MetadataRequestTopic(name=topic)]),
    ApiKey.LEADER_AND_ISR: lambda version, topic: LeaderAndIsrRequest(controller_epoch=1, broker_epoch=-1),
    ApiKey.CONTROLLED_SHUTDOWN: lambda version, topic: ControlledShutdownRequest(broker_id=2, broker_epoch=7),
    ApiKey.STOP_REPLICA: lambda version, topic: StopReplicaRequest(controller_epoch=1, broker_epoch=-1),
    ApiKey.UPDATE_METADATA: lambda version, topic: UpdateMetadataRequest(controller_epoch=1, broker_epoch=-1),
    ApiKey.OFFSET_COMMIT: lambda version, topic: _commit(topic),
    ApiKey.OFFSET_DELETE: lambda version, topic: OffsetDeleteRequest(
        group_id="g",
        topics=[OffsetDeleteRequestTopic(name=topic, partitions=[OffsetDeleteRequestPartition(partition_index=0)])],
    ),
    ApiKey.TXN_OFFSET_COMMIT: lambda version, topic: _txn_commit(topic),
    ApiKey.OFFSET_FETCH: _offset_fetch,
    ApiKey.FIND_COORDINATOR: lambda version, topic: (
        FindCoordinatorRequest(key="g") if version < 4 else FindCoordinatorRequest(coordinator_keys=["g", "h"])
    ),
    ApiKey.JOIN_GROUP: lambda version, topic: _join(version),
    ApiKey.HEARTBEAT: lambda version, topic: HeartbeatRequest(group_id="g", generation_id=1, member_id="nobody"),
    ApiKey.LEAVE_GROUP: lambda version, topic: _leave(version),
    ApiKey.SYNC_GROUP: lambda version, topic: SyncGroupRequest(
        group_id="g", generation_id=1, member_id="nobody", protocol_type="consumer", protocol_name="range"
    ),
    ApiKey.DESCRIBE_GROUPS: lambda version, topic: DescribeGroupsRequest(groups=["g"]),
    ApiKey.LIST_GROUPS: lambda version, topic: ListGroupsRequest(),
    ApiKey.LIST_CONFIG_RESOURCES: lambda version, topic: ListConfigResourcesRequest(resource_types=[2, 32]),
    ApiKey.CONSUMER_GROUP_HEARTBEAT: lambda version, topic: ConsumerGroupHeartbeatRequest(
        group_id="g", member_id="m", rebalance_timeout_ms=60_000, subscribed_topic_names=[topic], topic_partitions=[]
    ),
    ApiKey.CONSUMER_GROUP_DESCRIBE: lambda version, topic: ConsumerGroupDescribeRequest(group_ids=["g"]),
    ApiKey.API_VERSIONS: lambda version, topic: INTRODUCTION,
    ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: lambda version, topic: DescribeUserScramCredentialsRequest(users=None),
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: lambda version, topic: AlterUserScramCredentialsRequest(
        deletions=[ScramCredentialDeletion(name="u", mechanism=1)], upsertions=[]
    ),
    ApiKey.CREATE_TOPICS: lambda version, topic: CreateTopicsRequest(
        topics=[CreatableTopic(name="new", num_partitions=2, replication_factor=1)], timeout_ms=1000
    ),
    ApiKey.DELETE_TOPICS: _delete_topics,
    ApiKey.INIT_PRODUCER_ID: lambda version, topic: InitProducerIdRequest(
        transactional_id=None, transaction_timeout_ms=1000
    ),
    ApiKey.DESCRIBE_PRODUCERS: lambda version, topic: describe_producers.DescribeProducersRequest(
        topics=[describe_producers.TopicRequest(name=topic, partition_indexes=[0])]
    ),
    ApiKey.WRITE_TXN_MARKERS: lambda version, topic: WriteTxnMarkersRequest(
        markers=[
            WritableTxnMarker(
                producer_id=7,
                producer_epoch=0,
                transaction_result=True,
                topics=[WritableTxnMarkerTopic(name=topic, partition_indexes=[0])],
                coordinator_epoch=0,
            )
        ]
    ),
    ApiKey.ADD_PARTITIONS_TO_TXN: _add_partitions,
    ApiKey.ADD_OFFSETS_TO_TXN: lambda version, topic: AddOffsetsToTxnRequest(
        transactional_id="x", producer_id=0, producer_epoch=0, group_id="g"
    ),
    ApiKey.END_TXN: lambda version, topic: EndTxnRequest(
        transactional_id="x", producer_id=0, producer_epoch=0, committed=True
    ),
    ApiKey.DESCRIBE_TRANSACTIONS: lambda version, topic: DescribeTransactionsRequest(transactional_ids=["x"]),
    ApiKey.LIST_TRANSACTIONS: lambda version, topic: ListTransactionsRequest(
        state_filters=["Ongoing"], producer_id_filters=[5]
    ),
    ApiKey.DESCRIBE_ACLS: lambda version, topic: DescribeAclsRequest(
        resource_type_filter=2, resource_name_filter=topic, operation=1, permission_type=1
    ),
    ApiKey.CREATE_ACLS: lambda version, topic: CreateAclsRequest(
        creations=[
            AclCreation(
                resource_type=2, resource_name=topic, principal="User:a", host="*", operation=3, permission_type=3
            )
        ]
    ),
    ApiKey.DELETE_ACLS: lambda version, topic: DeleteAclsRequest(
        filters=[DeleteAclsFilter(resource_type_filter=2, resource_name_filter=topic, operation=1, permission_type=1)]
    ),
    ApiKey.DESCRIBE_CONFIGS: lambda version, topic: DescribeConfigsRequest(
        resources=[
            DescribeConfigsResource(
                resource_type=ConfigResourceType.TOPIC, resource_name=topic, configuration_keys=None
            ),
            DescribeConfigsResource(
                resource_type=ConfigResourceType.BROKER, resource_name="1", configuration_keys=None
            ),
        ],
        include_synonyms=version >= 1,
        include_documentation=version >= 3,
    ),
    ApiKey.ALTER_CONFIGS: lambda version, topic: alter_configs.AlterConfigsRequest(
        resources=[
            alter_configs.AlterConfigsResource(
                resource_type=ConfigResourceType.TOPIC,
                resource_name=topic,
                configs=[alter_configs.AlterableConfig(name="retention.ms", value="1000")],
            )
        ]
    ),
    ApiKey.INCREMENTAL_ALTER_CONFIGS: lambda version, topic: IncrementalAlterConfigsRequest(
        resources=[
            AlterConfigsResource(
                resource_type=ConfigResourceType.TOPIC,
                resource_name=topic,
                configs=[AlterableConfig(name="retention.ms", config_operation=0, value="1000")],
            )
        ]
    ),
    ApiKey.DELETE_RECORDS: lambda version, topic: DeleteRecordsRequest(
        topics=[DeleteRecordsTopic(name=topic, partitions=[DeleteRecordsPartition(partition_index=0, offset=0)])]
    ),
    ApiKey.OFFSET_FOR_LEADER_EPOCH: lambda version, topic: OffsetForLeaderEpochRequest(
        topics=[OffsetForLeaderTopic(topic=topic, partitions=[OffsetForLeaderPartition(partition=0, leader_epoch=0)])]
    ),
    ApiKey.ALTER_REPLICA_LOG_DIRS: lambda version, topic: AlterReplicaLogDirsRequest(
        dirs=[AlterReplicaLogDir(path="/nowhere", topics=[AlterReplicaLogDirTopic(name=topic, partitions=[])])]
    ),
    ApiKey.DESCRIBE_LOG_DIRS: lambda version, topic: DescribeLogDirsRequest(topics=None),
    ApiKey.CREATE_PARTITIONS: lambda version, topic: CreatePartitionsRequest(
        topics=[CreatePartitionsTopic(name=topic, count=9, assignments=None)], timeout_ms=1000
    ),
    ApiKey.CREATE_DELEGATION_TOKEN: lambda version, topic: CreateDelegationTokenRequest(),
    ApiKey.RENEW_DELEGATION_TOKEN: lambda version, topic: RenewDelegationTokenRequest(),
    ApiKey.EXPIRE_DELEGATION_TOKEN: lambda version, topic: ExpireDelegationTokenRequest(),
    ApiKey.DESCRIBE_DELEGATION_TOKEN: lambda version, topic: DescribeDelegationTokenRequest(owners=None),
    ApiKey.DELETE_GROUPS: lambda version, topic: DeleteGroupsRequest(groups_names=["g"]),
    ApiKey.ELECT_LEADERS: lambda version, topic: ElectLeadersRequest(
        topic_partitions=[TopicPartitions(topic=topic, partitions=[0])], timeout_ms=1000
    ),
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: lambda version, topic: AlterPartitionReassignmentsRequest(
        topics=[ReassignableTopic(name=topic, partitions=[ReassignablePartition(partition_index=0, replicas=[1])])]
    ),
    ApiKey.LIST_PARTITION_REASSIGNMENTS: lambda version, topic: ListPartitionReassignmentsRequest(
        topics=[ListPartitionReassignmentsTopics(name=topic, partition_indexes=[0])]
    ),
    ApiKey.UPDATE_FEATURES: lambda version, topic: UpdateFeaturesRequest(
        feature_updates=[FeatureUpdateKey(feature="f", max_version_level=0)]
    ),
    ApiKey.DESCRIBE_CLIENT_QUOTAS: lambda version, topic: DescribeClientQuotasRequest(),
    ApiKey.ALTER_CLIENT_QUOTAS: lambda version, topic: AlterClientQuotasRequest(
        entries=[
            EntryData(
                entity=[EntityData(entity_type="user", entity_name="u")],
                ops=[OpData(key="producer_byte_rate", value=1e9, remove=False)],
            )
        ]
    ),
    ApiKey.GET_TELEMETRY_SUBSCRIPTIONS: lambda version, topic: GetTelemetrySubscriptionsRequest(),
    ApiKey.PUSH_TELEMETRY: lambda version, topic: PushTelemetryRequest(client_instance_id=TOPIC_IDS["t"], metrics=b""),
    ApiKey.UNREGISTER_BROKER: lambda version, topic: UnregisterBrokerRequest(broker_id=9),
    ApiKey.LIST_CONFIG_RESOURCES: lambda version, topic: ListConfigResourcesRequest(),
    ApiKey.DESCRIBE_CLUSTER: lambda version, topic: DescribeClusterRequest(),
    ApiKey.DESCRIBE_TOPIC_PARTITIONS: lambda version, topic: DescribeTopicPartitionsRequest(
        topics=[TopicRequest(name=topic)]
    ),
    ApiKey.DESCRIBE_REQUESTS: lambda version, topic: DescribeRequestsRequest(),
    ApiKey.DESCRIBE_CLIENT_TRAFFIC: lambda version, topic: DescribeClientTrafficRequest(),
    ApiKey.PREVIEW_RETENTION: lambda version, topic: PreviewRetentionRequest(
        topics=[PreviewRetentionTopic(name=topic, partitions=None)]
    ),
}
ALL = [
    pytest.param(handler, version, id=f"{handler.api.name} {version}")
    for handler in HANDLERS
    # What they answer hangs on what was said before: see test_members.
    if handler.api not in (ApiKey.SASL_HANDSHAKE, ApiKey.SASL_AUTHENTICATE)
    for version in range(handler.served[0], handler.served[1] + 1)
]
#: What coordinators say to a member or producer they have never heard of, and to a first join without an id.
_TO_STRANGERS = {
    ErrorCode.BROKER_ID_NOT_REGISTERED,
    ErrorCode.UNKNOWN_SUBSCRIPTION_ID,
    ErrorCode.UNKNOWN_MEMBER_ID,
    ErrorCode.MEMBER_ID_REQUIRED,
    ErrorCode.GROUP_ID_NOT_FOUND,
    ErrorCode.INVALID_PRODUCER_ID_MAPPING,
    ErrorCode.SECURITY_DISABLED,
    ErrorCode.RESOURCE_NOT_FOUND,
    ErrorCode.TRANSACTIONAL_ID_NOT_FOUND,
    # Brokers have no use for tokens.
    ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED,
}


def error_codes(response) -> set[ErrorCode]:
    """Every `error_code` in the response, however deep."""
    error_codes = set()
    waiting = [response]
    while waiting:
        part = waiting.pop()
        if isinstance(part, list):
            waiting.extend(part)
        elif hasattr(part, "error_code") or hasattr(part, "__slots__"):
            if hasattr(part, "error_code"):
                error_codes.add(ErrorCode(part.error_code))
            waiting.extend(
                getattr(part, name) for name in type(part).__slots__ if isinstance(getattr(part, name), list)
            )
    return error_codes


@pytest.mark.parametrize(("handler", "version"), ALL)
async def test_a_request_is_answered_in_every_version(served, handler, version):
    for topic, topic_id in TOPIC_IDS.items():
        served.lead(topic, topic_id=topic_id)
        served.tell_of(topic, topic_id=topic_id)
    response = await (await served.member()).ask(REQUESTS[handler.api](version, "t"), version)
    assert error_codes(response) <= {ErrorCode.NONE, *_TO_STRANGERS}


@pytest.mark.parametrize(("handler", "version"), ALL)
async def test_a_request_for_what_is_not_there_is_answered_in_every_version(served, handler, version):
    """No topic exists, no group is coordinated, and somebody else is controller."""
    served.metadata.controller_id = 2
    response = await (await served.member()).ask(REQUESTS[handler.api](version, "missing"), version)
    assert ErrorCode.UNKNOWN_SERVER_ERROR not in error_codes(response)

"""An offsets partition of one broker, its coordinator, and followers that are heard of when a test says so."""

from dataclasses import replace
from uuid import UUID

from broker.common.clock import Clock, SystemClock
from broker.common.errors import ErrorCode
from broker.common.types import NO_TOPIC_ID, TopicPartition
from broker.coordinator.group.client import GroupClientInfo
from broker.coordinator.group.config import GroupConfig
from broker.coordinator.group.deleted_partitions import DeletedPartitions
from broker.coordinator.group.memory import GroupMemory
from broker.log.config import LogConfig
from broker.log.manager import LogManager
from broker.protocol.messages.delete_groups import DeleteGroupsRequest
from broker.protocol.messages.heartbeat import HeartbeatRequest
from broker.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from broker.protocol.messages.leader_and_isr import (
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrTopicState,
)
from broker.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from broker.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup, OffsetFetchRequestTopic
from broker.protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from broker.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from broker.records.builder import build_batch
from broker.records.control import EndMarker, MarkerType
from broker.records.record import Record
from broker.runtime.coordinators.group_coordinators import group_coordinators
from broker.runtime.delayed_fetches import DelayedFetches
from broker.runtime.replication.replica_manager import HostedPartition, ReplicaManager
from broker.runtime.topics.internal_topics import OFFSETS_TOPIC
from tests.broker.runtime.applied_roles import apply_leader_and_isr
from tests.eventually import eventually

TOPIC_ID = UUID(int=9)
PRODUCER_ID = 7
CLIENT = GroupClientInfo("c", "/h", 3)


class World:
    def __init__(self, directory, config: GroupConfig = GroupConfig(), clock: Clock | None = None):
        self.clock = clock = clock or SystemClock()
        self.logs = LogManager([directory], LogConfig(), 1, "cluster")
        self.logs.load_all()
        self.replicas = ReplicaManager(1, self.logs, DelayedFetches(clock), clock)
        self.memory = GroupMemory()
        self.deleted = DeletedPartitions()
        self.topic_ids: dict[str, UUID] = {}
        topic_id_of = lambda topic: self.topic_ids.get(topic, NO_TOPIC_ID)  # noqa: E731
        self.coordinators = group_coordinators(self.replicas, config, clock, self.memory, self.deleted, topic_id_of)

    @property
    def hosted(self) -> HostedPartition:
        return self.replicas.get(OFFSETS_TOPIC, 0)

    def lead(self, leader: int = 1, leader_epoch: int = 0, followers: tuple[int, ...] = ()) -> None:
        replicas = [leader, *followers]
        state = LeaderAndIsrPartitionState(leader=leader, leader_epoch=leader_epoch, isr=replicas, replicas=replicas)
        topic = LeaderAndIsrTopicState(topic_name=OFFSETS_TOPIC, topic_id=TOPIC_ID, partition_states=[state])
        apply_leader_and_isr(self.replicas, LeaderAndIsrRequest(topic_states=[topic]))

    def write(self, key: bytes | None, value: bytes | None = b"") -> None:
        batch = build_batch([Record(0, 1_700_000_000_000, key, value)])
        self.replicas.append_checked(self.replicas.get(OFFSETS_TOPIC, 0), batch)

    def replicate(self, *followers: int) -> None:
        """They hold all there is."""
        for follower in followers:
            self.replicas.follower_holds(self.hosted, follower, self.hosted.log.log_end_offset, broker_epoch=20)

    def change_isr(self, *isr: int) -> None:
        """As `IsrUpdater` does."""
        self.hosted.partition.pending_isr = isr
        self.replicas.isr_written(self.hosted, isr, self.hosted.partition.state.zk_version + 1)

    def need_in_sync(self, min_insync_replicas: int) -> None:
        config = replace(self.hosted.log.config, min_insync_replicas=min_insync_replicas)
        self.replicas.configure(self.hosted, config)

    def advance(self, ms: int) -> None:
        """Let time pass, for a `ManualClock`; as when the timer rings."""
        self.clock.advance(ms)
        self.coordinators._tick()

    def commit(self, offset: int) -> None:
        answer = self.send_commit(offset)
        assert answer.topics[0].partitions[0].error_code == ErrorCode.NONE

    def send_commit(self, offset: int, group_id: str = "g", partitions: range = range(1)):
        named = [
            OffsetCommitRequestPartition(partition_index=partition, committed_offset=offset) for partition in partitions
        ]
        topic = OffsetCommitRequestTopic(name="t", partitions=named)
        request = OffsetCommitRequest(group_id=group_id, topics=[topic], generation_id_or_member_epoch=-1)
        return self.coordinators.submit(0, lambda shard, token, now: shard.offset_commit(request, CLIENT, token, now))

    def committed(self) -> int:
        return self.send_fetch().topics[0].partitions[0].committed_offset

    def send_fetch(self, version: int = 7, *, is_of_all: bool = False, require_stable: bool = False):
        topics = None if is_of_all else [OffsetFetchRequestTopic(name="t", partition_indexes=[0])]
        groups = [OffsetFetchRequestGroup(group_id="g", topics=topics)] if version >= 8 else []
        request = OffsetFetchRequest(group_id="g", topics=topics, groups=groups, require_stable=require_stable)
        return self.coordinators.submit(0, lambda shard, token, now: shard.offset_fetch(request, version, token, now))

    def send_heartbeat(self, member_id: str = "m", generation_id: int = 1, group_id: str = "g"):
        request = HeartbeatRequest(group_id=group_id, generation_id=generation_id, member_id=member_id)
        return self.coordinators.submit(0, lambda shard, token, now: shard.heartbeat(request, token, now))

    def send_join(self, member_id: str = "", group_id: str = "g", session_ms: int = 6_000):
        """In version 3, in which a new member is let in at once."""
        request = JoinGroupRequest(
            group_id=group_id,
            session_timeout_ms=session_ms,
            rebalance_timeout_ms=60_000,
            member_id=member_id,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(name="range", metadata=b"")],
        )
        return self.coordinators.submit(0, lambda shard, token, now: shard.join_group(request, CLIENT, token, now))

    def send_sync(self, member_id: str, generation_id: int = 1, group_id: str = "g"):
        """As leader, which gives itself all."""
        request = SyncGroupRequest(
            group_id=group_id,
            generation_id=generation_id,
            member_id=member_id,
            assignments=[SyncGroupRequestAssignment(member_id=member_id, assignment=b"all")],
        )
        return self.coordinators.submit(0, lambda shard, token, now: shard.sync_group(request, token, now))

    def commit_in_transaction(self, offset: int, producer_epoch: int = 0) -> ErrorCode:
        return self.send_commit_in_transaction(offset, producer_epoch).topics[0].partitions[0].error_code

    def send_commit_in_transaction(self, offset: int, producer_epoch: int = 0):
        partition = TxnOffsetCommitRequestPartition(partition_index=0, committed_offset=offset)
        request = TxnOffsetCommitRequest(
            transactional_id="x",
            group_id="g",
            producer_id=PRODUCER_ID,
            producer_epoch=producer_epoch,
            member_id="",
            topics=[TxnOffsetCommitRequestTopic(name="t", partitions=[partition])],
        )
        return self.coordinators.submit(
            0, lambda shard, token, now: shard.txn_offset_commit(request, CLIENT, token, now)
        )

    def end_transaction(self, marker_type: MarkerType) -> None:
        """As WriteTxnMarkers does."""
        marker = EndMarker(marker_type, coordinator_epoch=0)
        self.replicas.append_marker(TopicPartition(OFFSETS_TOPIC, 0), marker, PRODUCER_ID, 0)

    async def reload(self, leader_epoch: int = 2, followers: tuple[int, ...] = ()) -> None:
        """As if another broker had led the partition in between."""
        self.lead(leader=2, leader_epoch=leader_epoch - 1)
        self.lead(leader_epoch=leader_epoch, followers=followers)
        await eventually(lambda: not self.coordinators.is_loading, "the partition is loaded")

    def delete_group(self) -> ErrorCode:
        request = DeleteGroupsRequest(groups_names=["g"])
        answer = self.coordinators.submit(0, lambda shard, token, now: shard.delete_groups(request, token, now))
        return answer.results[0].error_code

    def offsets_count(self) -> int:
        """Of the group, as a client sees them."""
        return sum(len(topic.partitions) for topic in self.send_fetch(is_of_all=True).topics)

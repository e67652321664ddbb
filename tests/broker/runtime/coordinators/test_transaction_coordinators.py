"""A transaction coordinator takes over a partition whose end is not committed yet."""

from uuid import UUID

import pytest

from broker.common.clock import SystemClock
from broker.coordinator.transaction.config import TransactionConfig
from broker.log.config import LogConfig
from broker.log.manager import LogManager
from broker.protocol.messages.init_producer_id import InitProducerIdRequest
from broker.protocol.messages.leader_and_isr import (
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrTopicState,
)
from broker.runtime.coordinators.marker_sender import MarkerSender
from broker.runtime.coordinators.transaction_coordinators import TransactionCoordinators
from broker.runtime.metadata_cache import MetadataCache
from broker.runtime.purgatory import Purgatory
from broker.runtime.replication.replica_manager import ReplicaManager
from broker.runtime.topics.internal_topics import TRANSACTION_TOPIC
from tests.eventually import eventually
from tests.members import dialer


@pytest.fixture
def replicas(tmp_path):
    logs = LogManager([tmp_path / "logs"], LogConfig(min_insync_replicas=1), 1, "cluster")
    logs.load_all()
    yield ReplicaManager(1, logs, Purgatory(SystemClock()), SystemClock())
    logs.shutdown()


async def is_there(_partition) -> bool:
    return True


def take_role(replicas: ReplicaManager, leader: int, leader_epoch: int) -> None:
    state = LeaderAndIsrPartitionState(leader=leader, leader_epoch=leader_epoch, isr=[1, 2], replicas=[1, 2])
    topic = LeaderAndIsrTopicState(topic_name=TRANSACTION_TOPIC, topic_id=UUID(int=3), partition_states=[state])
    replicas.apply_leader_and_isr(LeaderAndIsrRequest(topic_states=[topic]))


async def test_transaction_coordinator_waits_for_an_uncommitted_tail_it_took_over(replicas):
    metadata = MetadataCache()
    sender = MarkerSender(1, metadata, lambda _broker_id: None, dialer(), is_there)
    coordinators = TransactionCoordinators(replicas, metadata, TransactionConfig(), sender, SystemClock())
    request = InitProducerIdRequest(transactional_id="t", transaction_timeout_ms=1_000)
    take_role(replicas, leader=1, leader_epoch=0)
    await eventually(lambda: coordinators.loaded_partitions() == [0], "loaded")
    answer = coordinators.submit(0, lambda shard, token, now_ms: shard.init_producer_id(token, request, 5, now_ms))
    take_role(replicas, leader=2, leader_epoch=1)
    take_role(replicas, leader=1, leader_epoch=2)
    await eventually(lambda: coordinators.loaded_partitions() == [0], "loaded again")
    hosted = replicas.get(TRANSACTION_TOPIC, 0)
    assert hosted.partition.high_watermark < hosted.log.log_end_offset
    replicas.follower_holds(hosted, 2, hosted.log.log_end_offset, broker_epoch=20)
    assert hosted.partition.high_watermark == hosted.log.log_end_offset
    assert (await answer).error_code
    coordinators.stop()

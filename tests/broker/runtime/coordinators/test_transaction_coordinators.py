"""Transaction coordinators and their replicas: what is promised when, and what is not."""

import asyncio
from uuid import UUID

import pytest

from broker.common.clock import SystemClock
from broker.common.errors import ErrorCode
from broker.common.shared_budget import ANONYMOUS, Owner
from broker.common.types import TopicPartition
from broker.coordinator.transaction.config import TransactionConfig
from broker.coordinator.transaction.outcome import MarkersToWrite
from broker.coordinator.transaction.states import TransactionPhase
from broker.log.config import LogConfig
from broker.log.manager import LogManager
from broker.protocol.messages.end_txn import EndTxnRequest
from broker.protocol.messages.init_producer_id import InitProducerIdRequest
from broker.protocol.messages.leader_and_isr import (
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrTopicState,
)
from broker.runtime.coordinators import transaction_coordinators
from broker.runtime.coordinators.marker_sender import MarkerSender
from broker.runtime.coordinators.transaction_coordinators import TransactionCoordinators
from broker.runtime.delayed_fetches import DelayedFetches
from broker.runtime.metadata_cache import MetadataCache
from broker.runtime.replication.replica_manager import HostedPartition, ReplicaManager
from broker.runtime.topics.internal_topics import TRANSACTION_TOPIC
from tests.broker.coordinator.transaction.asking import error_of, to_add, to_verify
from tests.broker.runtime.applied_roles import apply_leader_and_isr
from tests.eventually import eventually
from tests.manual_clock import ManualClock
from tests.members import dialer

OWNER = Owner(ANONYMOUS, "/127.0.0.1")


@pytest.fixture
def replicas(tmp_path):
    logs = LogManager([tmp_path / "logs"], LogConfig(min_insync_replicas=1), 1, "cluster")
    logs.load_all()
    yield ReplicaManager(1, logs, DelayedFetches(SystemClock()), SystemClock())
    logs.shutdown()


async def is_there(_partition) -> bool:
    return True


def take_role(replicas: ReplicaManager, leader: int, leader_epoch: int) -> None:
    state = LeaderAndIsrPartitionState(leader=leader, leader_epoch=leader_epoch, isr=[1, 2], replicas=[1, 2])
    topic = LeaderAndIsrTopicState(topic_name=TRANSACTION_TOPIC, topic_id=UUID(int=3), partition_states=[state])
    apply_leader_and_isr(replicas, LeaderAndIsrRequest(topic_states=[topic]))


async def test_transaction_coordinator_waits_for_an_uncommitted_tail_it_took_over(replicas):
    metadata = MetadataCache()
    sender = MarkerSender(1, metadata, lambda _broker_id: None, dialer(), is_there)
    coordinators = TransactionCoordinators(replicas, metadata, TransactionConfig(), sender, SystemClock())
    request = InitProducerIdRequest(transactional_id="t", transaction_timeout_ms=1_000)
    take_role(replicas, leader=1, leader_epoch=0)
    await eventually(lambda: coordinators.loaded_partitions() == [0], "loaded")
    answer = coordinators.submit(
        0, lambda shard, token, now_ms: shard.init_producer_id(token, request, OWNER, 5, now_ms)
    )
    take_role(replicas, leader=2, leader_epoch=1)
    take_role(replicas, leader=1, leader_epoch=2)
    await eventually(lambda: coordinators.loaded_partitions() == [0], "loaded again")
    hosted = replicas.get(TRANSACTION_TOPIC, 0)
    assert hosted.partition.high_watermark < hosted.log.log_end_offset
    replicas.follower_holds(hosted, 2, hosted.log.log_end_offset, broker_epoch=20)
    assert hosted.partition.high_watermark == hosted.log.log_end_offset
    assert (await answer).error_code
    coordinators.stop()


class Sender:
    """Keeps the markers it is to have written; `is_broken`: it refuses them."""

    def __init__(self):
        self.sent: list[MarkersToWrite] = []
        self.is_broken = False
        self.on_written = None

    def send(self, _shard, markers: MarkersToWrite) -> None:
        if self.is_broken:
            raise RuntimeError("no line")
        self.sent.append(markers)

    def forget(self, _partition: int) -> None: ...

    def ended(self, _transactional_id: str) -> None: ...

    def close(self) -> None: ...


class World:
    """Coordinated by 1, in sync with 2 and 3; two are needed."""

    def __init__(self, directory):
        self.clock = ManualClock()
        self.logs = LogManager([directory], LogConfig(min_insync_replicas=2), 1, "cluster")
        self.logs.load_all()
        self.replicas = ReplicaManager(1, self.logs, DelayedFetches(self.clock), self.clock)
        self.sender = Sender()
        self.coordinators = TransactionCoordinators(
            self.replicas, MetadataCache(), TransactionConfig(), self.sender, self.clock
        )
        self.lead(isr=[1, 2, 3])
        self.replicate()

    def lead(self, isr: list[int], leader: int = 1, leader_epoch: int = 0) -> None:
        state = LeaderAndIsrPartitionState(leader=leader, leader_epoch=leader_epoch, isr=isr, replicas=[1, 2, 3])
        topic = LeaderAndIsrTopicState(topic_name=TRANSACTION_TOPIC, topic_id=UUID(int=3), partition_states=[state])
        apply_leader_and_isr(self.replicas, LeaderAndIsrRequest(topic_states=[topic]))

    @property
    def hosted(self) -> HostedPartition:
        return self.replicas.get(TRANSACTION_TOPIC, 0)

    def replicate(self) -> None:
        for follower in (2, 3):
            self.replicas.follower_holds(self.hosted, follower, self.hosted.log.log_end_offset, broker_epoch=20)

    def change_isr(self, *isr: int) -> None:
        self.hosted.partition.pending_isr = isr
        self.replicas.isr_written(self.hosted, isr, self.hosted.partition.state.zk_version + 1)

    def advance(self, ms: int) -> None:
        self.clock.advance(ms)
        self.coordinators._tick()

    def init(self):
        request = InitProducerIdRequest(transactional_id="t", transaction_timeout_ms=60_000)
        return self.coordinators.submit(
            0, lambda shard, token, now: shard.init_producer_id(token, request, OWNER, 5, now)
        )

    def add(self):
        request = to_add("t", (5, 0), TopicPartition("x", 0), TopicPartition("x", 1))
        return self.coordinators.submit(0, lambda shard, token, now: shard.add_partitions_to_txn(token, request, now))

    def end(self, *, is_commit: bool = True):
        request = EndTxnRequest(transactional_id="t", producer_id=5, producer_epoch=0, committed=is_commit)
        return self.coordinators.submit(0, lambda shard, token, now: shard.end_txn(token, request, now))

    async def replicated(self, answer):
        self.replicate()
        return await answer

    async def begin(self) -> None:
        """A transaction is open, and certain to be."""
        assert (await self.replicated(self.init())).producer_epoch == 0
        assert error_of(await self.replicated(self.add())) is ErrorCode.NONE


@pytest.fixture
async def world(tmp_path):
    world = World(tmp_path / "logs")
    yield world
    world.coordinators.stop()
    world.logs.shutdown()


async def test_a_commit_that_too_few_replicas_hold_is_neither_acknowledged_nor_carried_out(world):
    await world.begin()
    end = world.end()
    world.change_isr(1)
    world.advance(29_999)
    await asyncio.sleep(0)
    assert not end.done()
    world.advance(1)
    assert (await end).error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert world.sender.sent == []


async def test_a_commit_that_was_not_acknowledged_in_time_is_carried_out_when_it_is_certain(world):
    await world.begin()
    end = world.end()
    world.advance(30_000)
    assert (await end).error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert world.end().error_code == ErrorCode.CONCURRENT_TRANSACTIONS
    assert world.sender.sent == []
    world.replicate()
    assert [item.is_commit for item in world.sender.sent] == [True]


async def test_an_epoch_is_given_to_nobody_while_too_few_replicas_know_of_it(world):
    init = world.init()
    world.change_isr(1)
    world.advance(30_000)
    assert (await init).error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert world.init().error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    world.replicate()
    world.change_isr(1, 2)
    assert (await world.replicated(world.init())).producer_epoch == 1


async def test_what_a_leader_asks_of_a_transaction_waits_for_its_partitions_to_be_certain(world):
    assert (await world.replicated(world.init())).error_code == ErrorCode.NONE
    add = world.add()
    question = world.coordinators.submit(0, _verification)
    await asyncio.sleep(0)
    assert not question.done()
    world.advance(30_000)
    assert error_of(await add) is ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert error_of(await question) is ErrorCode.COORDINATOR_NOT_AVAILABLE


def _verification(shard, token, now_ms):
    request = to_verify("t", (5, 0), TopicPartition("x", 0))
    return shard.add_partitions_to_txn(token, request, now_ms)


async def test_markers_of_a_loaded_decision_wait_for_the_replicas_too(world):
    await world.begin()
    await world.replicated(world.end())
    world.sender.sent.clear()
    world.lead(isr=[1], leader=2, leader_epoch=1)
    world.lead(isr=[1], leader_epoch=2)
    await eventually(lambda: world.coordinators.loaded_partitions() == [0], "loaded")
    assert world.sender.sent == []
    world.replicate()
    world.change_isr(1, 2)
    assert [item.is_commit for item in world.sender.sent] == [True]


async def test_markers_that_could_not_be_handed_over_are_handed_over_again(world, monkeypatch):
    monkeypatch.setattr(transaction_coordinators, "_SENT_AGAIN_S", 0.001)
    await world.begin()
    world.sender.is_broken = True
    assert (await world.replicated(world.end())).error_code == ErrorCode.NONE
    world.sender.is_broken = False
    await eventually(lambda: len(world.sender.sent) == 1, "the markers are on their way")


async def test_a_completion_that_raises_is_tried_again(world, monkeypatch):
    await world.begin()
    await world.replicated(world.end())
    (markers,) = world.sender.sent
    coordinator = world.coordinators.shard(0).coordinator
    completes, calls = coordinator._complete, []

    def complete(*arguments) -> None:
        calls.append(arguments)
        if len(calls) == 1:
            raise RuntimeError("a defect")
        completes(*arguments)

    monkeypatch.setattr(coordinator, "_complete", complete)
    world.coordinators._completed[0] = [markers]
    world.coordinators._complete(0)
    world.advance(1_000)
    assert world.sender.sent == [markers, markers]
    world.coordinators._completed[0] = [markers]
    world.coordinators._complete(0)
    assert coordinator.transactions["t"].state is TransactionPhase.COMPLETE_COMMIT

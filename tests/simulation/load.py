"""The clients of a run, and what they and the checkers share."""

from random import Random
from typing import TYPE_CHECKING

from broker.common.types import TopicPartition
from broker.coordinator.partitions import partition_for
from broker.runtime.topics.internal_topics import OFFSETS_TOPIC, TRANSACTION_TOPIC
from tests.simulation.broker_process import ClientProcess
from tests.simulation.client import ClusterClient
from tests.simulation.committed_offsets import CommittedOffsets
from tests.simulation.consumer_members import ConsumerMember, GroupTruth
from tests.simulation.consumers import Consumer
from tests.simulation.copier import Copier
from tests.simulation.deletions import Deleter, Deletions
from tests.simulation.features import FeatureUpgrader
from tests.simulation.groups import GroupMember
from tests.simulation.isolation import Transactions
from tests.simulation.ledger_reader import LedgerReader
from tests.simulation.moves import Mover
from tests.simulation.ownership import Ownership
from tests.simulation.prober import Prober
from tests.simulation.producers import Producer
from tests.simulation.topics import BY_NAME, FLUSHED, LASTING, LEDGER, PASSING, TopicAdministrator
from tests.simulation.transactions import ClusterTruth, TransactionalProducer

if TYPE_CHECKING:
    from tests.simulation.world import World

_GROUPS = {"group-1": 3, "group-2": 2}
#: A group of the consumer protocol (KIP-848), and its members.
_CONSUMER_GROUP, _CONSUMER_MEMBERS = "modern", 3
_TRANSACTION_STATE_MIN_ISR = 2
#: Of scenarios that name it.
SURE_PRODUCER = "sure-"


def min_insync(topic: str, settings: dict[str, object]) -> int:
    """What each topic asks for; replication factors are larger."""
    if topic == TRANSACTION_TOPIC:
        return _TRANSACTION_STATE_MIN_ISR
    if topic == OFFSETS_TOPIC:
        return int(settings["min.insync.replicas"])
    return BY_NAME[topic].min_insync if topic in BY_NAME else 1


def _partitions_of(topic: str) -> list[TopicPartition]:
    return [TopicPartition(topic, number) for number in range(BY_NAME[topic].partitions)]


class Load:
    """Made before the run; each client is a process of its own."""

    def __init__(self, world: "World", random: Random, raise_after_s: float | None = None):
        self._world = world
        self._random = random
        self._history = world.history
        self.processes: list[ClientProcess] = []
        self.transactions = Transactions(world.history)
        self.offsets = CommittedOffsets(world.history)
        self.administrator = TopicAdministrator("admin", self._client("admin"), world.history)
        self.upgrader = FeatureUpgrader("upgrader", self._client("upgrader"), world.history, raise_after_s)
        self.mover = Mover("mover", self._client("mover"), world.history)
        workers = [
            self.mover,
            *self._producers(),
            *(self._consumer(name) for name in ("reader-1", "reader-2")),
            *self._transactional(),
            *self._members(),
            *self._consumer_members(),
        ]
        deletions = Deletions(self._history)
        self.deleter = Deleter("deleter", self._client("deleter"), deletions, self.in_sync_of, self.life_of)
        self._workers = [
            *workers,
            self.deleter,
            Prober(
                "prober",
                self._client("prober"),
                world.history,
                list(_GROUPS),
                lambda: world.timeline.now_us,
                world.is_undisturbed,
            ),
        ]
        if SURE_PRODUCER in world.clients:
            names = [f"{SURE_PRODUCER}{number}" for number in (1, 2, 3)]
            self._workers += [self._producer(name, self._sure_topics(), acks=-1) for name in names]

    @staticmethod
    def _sure_topics() -> list[str]:
        """What is acknowledged there has been in two page caches, and in no transaction."""
        return [topic.name for topic in LASTING if topic.min_insync >= 2 and topic.name not in (LEDGER, FLUSHED)]

    def _client(self, name: str) -> ClusterClient:
        process = ClientProcess(self._world, name, len(self.processes) + 1, Random(self._random.random()))
        self.processes.append(process)
        return ClusterClient(process, [broker.broker_id for broker in self._world.brokers])

    # -- who there is

    def _producers(self) -> list[Producer]:
        plain = [topic.name for topic in LASTING if topic.name != LEDGER]
        return [
            self._producer("all-1", plain, acks=-1),
            self._producer("all-2", plain, acks=-1),
            self._producer("one-1", plain, acks=1),
            self._producer("pass-1", [*plain, *PASSING], acks=1),
            *(self._producer(f"flushed-{number}", [FLUSHED], acks=-1) for number in (1, 2)),
        ]

    def _producer(self, name: str, topics: list[str], *, acks: int) -> Producer:
        holdings = self._world.holdings
        return Producer(name, self._client(name), self._history, topics, holdings, acks=acks)

    def _consumer(self, name: str) -> Consumer:
        world = self._world

        def see(where: TopicPartition, topic_id, leader_epoch: int, records: list) -> None:
            world.committed.see(name, topic_id, where.partition, leader_epoch, records)
            if records:
                world.holdings.judge_record(
                    *where, leader_epoch, records[-1].offset, f"{name} reads in epoch {leader_epoch}"
                )

        return Consumer(name, self._client(name), self._history, see, world.epochs.has_led)

    def _transactional(self) -> list:
        world = self._world

        def shared(name: str) -> tuple:
            return name, self._client(name), self._history, self.transactions, world.holdings, self._truth()

        return [
            TransactionalProducer(*shared("tx-1"), upgrades=False),
            *(TransactionalProducer(*shared(f"tx-{number}")) for number in (2, 3)),
            Copier(*shared("copier"), source=TopicPartition("orders", 0), offsets=self.offsets),
            LedgerReader("ledger-1", self._client("ledger-1"), self.transactions),
        ]

    def _truth(self) -> ClusterTruth:
        world = self._world
        return ClusterTruth(
            lambda: world.timeline.now_us, world.raises_epochs_everywhere, world.has_steady_clocks_since
        )

    def _members(self) -> list[GroupMember]:
        world = self._world
        partitions = _partitions_of("orders")
        members = []
        for group, count in _GROUPS.items():
            for number in range(count):
                name = f"{group}-{number}"
                member = GroupMember(
                    name,
                    self._client(name),
                    self._history,
                    group,
                    partitions,
                    self.offsets,
                    world.holdings,
                    lambda: world.timeline.now_us,
                    self.term_of,
                    world.is_undisturbed,
                )
                members.append(member)
        return members

    def _consumer_members(self) -> list[ConsumerMember]:
        world = self._world
        truth = GroupTruth(lambda: world.timeline.now_us, self.term_of, world.is_undisturbed)
        ownership = Ownership(_CONSUMER_GROUP, _partitions_of("orders"), self._history)
        names = [f"{_CONSUMER_GROUP}-{number}" for number in range(_CONSUMER_MEMBERS)]
        return [
            ConsumerMember(name, self._client(name), self._history, ownership, self.offsets, world.holdings, truth)
            for name in names
        ]

    def term_of(self, group: str) -> tuple | None:
        """(broker, leader epoch, its life) of the group's coordinator, as it is now."""
        count = int(self._world.settings["offsets.topic.num.partitions"])
        state = self._world.state_of(TopicPartition(OFFSETS_TOPIC, partition_for(group, count)))
        leader = self._world.process_of(state.leader) if state else None
        return (state.leader, state.leader_epoch, leader.life) if leader else None

    def in_sync_of(self, where: TopicPartition) -> frozenset[tuple[int, int]]:
        """Who would not be in the ISR any more if it had not been heard of in this life."""
        state, world = self._world.state_of(where), self._world
        since_us = world.timeline.now_us - 2_000 * int(world.settings["replica.lag.time.max.ms"])
        processes = [world.process_of(broker_id) for broker_id in state.isr] if state else []
        return frozenset((process.broker_id, process.life) for process in processes if process.started_at_us < since_us)

    def life_of(self, broker_id: int) -> int:
        return self._world.process_of(broker_id).life

    # -- at work

    def begin(self) -> None:
        """The administrators alone, who make the topics and choose the features."""
        self._start([self.administrator, self.upgrader])

    @property
    def is_prepared(self) -> bool:
        return self.administrator.has_lasting and self.upgrader.is_ready

    def go_on(self, clients: tuple[str, ...] = ()) -> None:
        """All clients, or those alone whose names begin so."""
        self._start([worker for worker in self._workers if worker._name.startswith(clients or "")])

    def _start(self, workers: list) -> None:
        by_name = {process.name: process for process in self.processes}
        for worker in workers:
            by_name[worker._name].run(worker.run())

    def end(self) -> None:
        for worker in (self.administrator, self.upgrader, *self._workers):
            worker.is_stopping = True

    def at_work(self) -> list[str]:
        return [process.name for process in self.processes if process.task is not None and not process.task.done()]

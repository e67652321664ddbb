"""A broker without ZooKeeper: real listener, dispatcher, handlers and logs; the test plays the controller."""

import asyncio
import contextlib
import socket
from itertools import count
from typing import NoReturn
from uuid import UUID, uuid5

import pytest

from broker.common.clock import SystemClock
from broker.common.cluster import BrokerRegistration, LiveBroker
from broker.common.errors import ApiError, ErrorCode
from broker.common.features import SUPPORTED_FEATURES, FinalizedFeatures, highest_levels
from broker.common.replica_assignment import ReplicaAssignment
from broker.common.types import TopicPartition
from broker.config.broker import read_broker_config
from broker.config.listeners import ListenerEndpoint
from broker.controller.events import ShutdownAsked
from broker.controller.verdict import PartitionVerdict, ShutdownAnswer
from broker.coordinator.consumer_group.config import ConsumerGroupConfig
from broker.coordinator.group.config import GroupConfig
from broker.coordinator.group.deleted_partitions import DeletedPartitions
from broker.coordinator.group.memory import GroupMemory
from broker.coordinator.transaction.config import TransactionConfig
from broker.handlers.write_txn_markers import handle_write_txn_markers
from broker.log.config import LogConfig
from broker.log.manager import LogManager
from broker.net.listener import Listener
from broker.net.memory import ConnectionMemory
from broker.net.turns import Turns
from broker.protocol.codec import decode, encode
from broker.protocol.headers import RequestHeader, decode_response_header, encode_request_header
from broker.protocol.messages import MESSAGES
from broker.protocol.messages.api_versions import ApiVersionsRequest
from broker.protocol.messages.leader_and_isr import (
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrTopicState,
)
from broker.protocol.messages.update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataEndpoint,
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataTopicState,
)
from broker.replication.fetch_session import FetchSessions
from broker.replication.throttle import ReplicationThrottle
from broker.runtime.broker_configs import BrokerConfigs
from broker.runtime.cluster_features import ClusterFeatures
from broker.runtime.controller_epochs import ControllerEpochs
from broker.runtime.coordinators.group_coordinators import group_coordinators
from broker.runtime.coordinators.known_topics import KnownTopics
from broker.runtime.coordinators.marker_sender import MarkerSender
from broker.runtime.coordinators.producer_ids import ProducerIds
from broker.runtime.coordinators.transaction_coordinators import TransactionCoordinators
from broker.runtime.delayed_fetches import DelayedFetches
from broker.runtime.group_configs import GroupConfigs
from broker.runtime.log_dirs import LogDirs
from broker.runtime.metadata_cache import LEADER_DURING_DELETE, MetadataCache
from broker.runtime.replication.delayed_produces import DelayedProduces
from broker.runtime.replication.follower_feeds import FollowerFeeds
from broker.runtime.replication.log_dir_moves import LogDirMoves
from broker.runtime.replication.record_deletions import RecordDeletions
from broker.runtime.replication.repacking import Repacking
from broker.runtime.replication.replica_manager import ReplicaManager
from broker.runtime.replication.role_changes import StoppedPartition, stop_replicas
from broker.runtime.replication.transactional_appends import TransactionalAppends
from broker.runtime.request_times import RequestTimes
from broker.runtime.requests.context import RequestContext, Services
from broker.runtime.retention_previews import RetentionPreviews
from broker.runtime.security.credentials import UserCredentials
from broker.runtime.security.delegation_tokens import DelegationTokens, TokenSettings
from broker.runtime.security.quotas import Quotas
from broker.runtime.telemetry.client_telemetry import ClientTelemetry
from broker.runtime.telemetry.subscriptions import MetricsSubscriptions
from broker.runtime.topics.topic_admin import TopicAdmin
from broker.runtime.topics.topic_configs import TopicConfigs
from broker.security.client_traffic import TrafficCounters
from broker.security.delegation_tokens import Lifetimes
from broker.security.login import login
from broker.security.rights import UNLIMITED, Rights
from broker.security.session import Session
from broker.server.dispatcher import Dispatcher
from broker.server.metrics import RequestMetrics, new_registry
from broker.server.sasl_login import ConnectionBounds, ListenerLogins, end_login
from broker.server.sasl_offer import Provers, login_settings
from broker.server.waiting_room import WaitingRoom
from broker.zookeeper.errors import NodeMissing
from tests.broker.runtime.applied_roles import apply_leader_and_isr
from tests.broker.runtime.controllers_word import tell_all
from tests.manual_clock import ManualClock
from tests.members import MEMBERSHIP, dialer

#: Of the topic "t".
TOPIC_ID = UUID(int=77)


def topic_id_of(topic: str) -> UUID:
    return TOPIC_ID if topic == "t" else uuid5(TOPIC_ID, topic)


FRAME_BYTES_MAX = 1024 * 1024
#: As any client of today begins.
INTRODUCTION = ApiVersionsRequest(client_software_name="tester", client_software_version="1")


def frame(*parts: bytes) -> bytes:
    return sum(map(len, parts)).to_bytes(4) + b"".join(parts)


def request_frame(message, version: int, correlation_id: int = 1) -> bytes:
    header = RequestHeader(message.api, version, correlation_id, "tester")
    return frame(encode_request_header(header), encode(message, version))


class Client:
    """A raw client: sends what it is told, reads whole frames."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        self._reader = reader
        self.writer = writer

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def send_request(self, message, version: int, correlation_id: int = 1) -> None:
        await self.send(request_frame(message, version, correlation_id))

    async def ask(self, message, version: int):
        await self.send_request(message, version)
        return await self.answer(message.api, version)

    async def answer(self, api, version: int, correlation_id: int = 1):
        data = await self.frame()
        received_id, body_at = decode_response_header(api, version, data)
        assert received_id == correlation_id
        return decode(MESSAGES[api].response, data[body_at:], version)

    async def frame(self) -> bytes:
        async with asyncio.timeout(10):
            size = int.from_bytes(await self._reader.readexactly(4))
            return await self._reader.readexactly(size)

    async def log_in(self, exchange) -> None:
        talk = login(exchange)
        request = next(talk)
        with contextlib.suppress(StopIteration):
            while True:
                request = talk.send(await self.ask(*request))

    async def is_closed(self) -> bool:
        """Waits for the broker to close; False if it sends something instead."""
        async with asyncio.timeout(10):
            try:
                return await self._reader.read(1) == b""
            except ConnectionResetError:
                return True


class EntityConfigsInMemory:
    """As those in ZooKeeper."""

    def __init__(self) -> None:
        self.configs: dict[str, dict[str, str]] = {}

    async def of(self, path) -> dict[str, str]:
        return self.configs.get(path, {})

    async def names(self, kind) -> list[str]:
        return [path.removeprefix(f"{kind}/") for path in self.configs if path.startswith(f"{kind}/")]

    async def all(self) -> dict[str, dict[str, str]]:
        return {path: config for path, config in self.configs.items() if config}

    async def change(self, path, change) -> dict[str, str]:
        self.configs[path] = change(dict(self.configs.get(path, {})))
        return self.configs[path]


class EmptySession:
    """A ZooKeeper without a znode."""

    async def get(self, path) -> NoReturn:
        raise NodeMissing(path)


class Store:
    """What handlers want of ZooKeeper; the controller sees each change at once."""

    def __init__(self, served: "Served"):
        self.session = EmptySession()
        self._served = served
        self._next_producer_id = 0
        self.configs: dict[str, dict[str, str]] = {}
        #: Of the newest controller, and of this broker's registration.
        self.epochs = (1, -1)
        self.epochs_read = 0

    async def configured(self, entity_type) -> list[str]:
        return sorted(self.configs)

    async def config(self, entity_type, name) -> dict[str, str]:
        return dict(self.configs.get(name, {}))

    async def change_config(self, entity_type, name, change) -> dict[str, str]:
        self.configs[name] = change(await self.config(entity_type, name))
        return self.configs[name]

    async def controller_epoch(self) -> int:
        self.epochs_read += 1
        return self.epochs[0]

    async def own_epoch(self, broker_id) -> int:
        self.epochs_read += 1
        return self.epochs[1]

    async def brokers(self) -> dict[int, LiveBroker]:
        return {1: LiveBroker(BrokerRegistration(1, ()), 1)}

    async def add_partitions(self, name, added) -> None:
        topic = self._served.metadata.topics[name]
        count = len(topic.partitions) + len(added)
        self._served.lead(name, count, topic_id=topic.topic_id)
        self._served.tell_of(name, count, topic_id=topic.topic_id)

    async def create_topic(self, name, partitions, config, topic_id) -> None:
        self._served.lead(name, len(partitions), topic_id=topic_id)
        self._served.tell_of(name, len(partitions), topic_id=topic_id)

    async def request_topic_deletion(self, name, _topic_id=None) -> None:
        partitions = self._served.metadata.topics[name].partitions
        await stop_replicas(
            self._served.replicas,
            [StoppedPartition(TopicPartition(name, index), is_deletion=True, leader_epoch=-1) for index in partitions],
        )
        self._served.tell_of(name, leader=LEADER_DURING_DELETE)

    async def partition_exists(self, partition) -> bool:
        return self._served.metadata.partition_of(*partition) is not None

    async def wait_topic_removed(self, name) -> None:
        assert name not in self._served.metadata.topics

    async def claim_producer_ids(self, broker_id) -> range:
        self._next_producer_id += 10
        return range(self._next_producer_id - 10, self._next_producer_id)


class AskedController:
    """The controller as handlers see it: takes down what it is asked, answers what the test wants."""

    is_controller = True
    foreign_brokers: frozenset[int] = frozenset()

    def __init__(self, served: "Served"):
        self._served = served
        self.events: list = []
        self.verdicts: dict[TopicPartition, PartitionVerdict] = {}
        self.moves: dict[TopicPartition, ReplicaAssignment] = {}

    async def ask(self, event_of, timeout_ms):
        self._check()
        self.events.append(event_of(1))
        return ShutdownAnswer() if isinstance(self.events[-1], ShutdownAsked) else self.verdicts

    async def reassignments(self) -> dict[TopicPartition, ReplicaAssignment]:
        self._check()
        return self.moves

    def _check(self) -> None:
        if self._served.metadata.controller_id != 1:
            raise ApiError(ErrorCode.NOT_CONTROLLER)


class Served:
    """The broker under test."""

    def __init__(self, directory, names=("logs",), properties="", clock=None):
        self.config = read_broker_config(
            f"{properties}\nbroker.id=1\nzookeeper.connect=unused:1\nauto.create.topics.enable=false\noffsets.topic.num.partitions=3\n"
            "offsets.topic.replication.factor=1\ntransaction.state.log.num.partitions=3\n"
            "transaction.state.log.replication.factor=1\ntransaction.two.phase.commit.enable=true\n"
            "telemetry.max.bytes=500000\n"
        )
        self.clock = clock = clock or SystemClock()
        log_dirs = [directory / name for name in names]
        self.logs = LogManager(log_dirs, LogConfig(), 1, "cluster")
        self.logs.load_all()
        self.delayed_fetches = DelayedFetches(clock)
        self.replicas = ReplicaManager(1, self.logs, self.delayed_fetches, clock)
        self.log_dir_moves = LogDirMoves(self.replicas, self.logs, self.config, clock)
        self.metadata = MetadataCache()
        tell_all(self.metadata, UpdateMetadataRequest(controller_id=1, controller_epoch=1))
        self.fetch_sessions = FetchSessions(count(1).__next__)
        self.registry = new_registry()
        self.group_memory = GroupMemory()
        self.entity_configs = EntityConfigsInMemory()
        self.group_configs = GroupConfigs(self.entity_configs, self.config)
        config_of_groups = GroupConfig(group_initial_rebalance_delay_ms=0)
        self.groups = group_coordinators(
            self.replicas,
            config_of_groups,
            clock,
            self.group_memory,
            DeletedPartitions(),
            self.metadata.topic_id_of,
            consumer_config=ConsumerGroupConfig(of_groups=self.group_configs.values),
            topics=KnownTopics(self.metadata),
        )
        self.store = Store(self)
        self.markers = MarkerSender(1, self.metadata, lambda _broker_id: None, dialer(), self.store.partition_exists)
        self.transactions = TransactionCoordinators(
            self.replicas,
            self.metadata,
            TransactionConfig(transaction_two_phase_commit_enable=True),
            self.markers,
            clock,
        )
        self.controller = AskedController(self)
        self.topic_configs = topic_configs = TopicConfigs(self.store, self.replicas, self.config)
        broker_configs = BrokerConfigs(self.store, self.config)
        broker_configs.on_changed.append(topic_configs.apply_all)
        self.verified: list[tuple] = []
        self.verdicts: dict[TopicPartition, ErrorCode | asyncio.Future] = {}
        self.previews = RetentionPreviews(self.replicas, topic_configs, self.config, clock)
        feeds = FollowerFeeds(self.replicas, ReplicationThrottle(1), count(1).__next__, clock)
        self.deletions = RecordDeletions(self.replicas, self.metadata.is_live, clock)
        feeds.on_log_start = self.deletions.on_news
        self.request_times = RequestTimes()
        self.quota_clock = ManualClock()
        self.quotas = Quotas(self.entity_configs, self.config, lambda: self.quota_clock.monotonic_ms() * 1_000_000)
        self.credentials = UserCredentials(self.store)
        self.client_traffic = TrafficCounters(clock.monotonic_ms)
        self.features = ClusterFeatures(self.store, SUPPORTED_FEATURES, lambda: True)
        self.features.finalized = FinalizedFeatures(highest_levels(SUPPORTED_FEATURES), 1)
        services = self.services = Services(
            config=self.config,
            cluster_id="cluster",
            metadata=self.metadata,
            features=self.features,
            replicas=self.replicas,
            delayed_fetches=self.delayed_fetches,
            fetch_sessions=self.fetch_sessions,
            feeds=feeds,
            delayed_produces=DelayedProduces(self.replicas, clock),
            repacking=Repacking(self.replicas),
            deletions=self.deletions,
            transactional_appends=TransactionalAppends(self.replicas, self.verify, is_enabled=lambda: True),
            groups=self.groups,
            group_memory=self.group_memory,
            transactions=self.transactions,
            topics=TopicAdmin(self.store, self.metadata, self.config),
            topic_configs=topic_configs,
            broker_configs=broker_configs,
            group_configs=self.group_configs,
            log_dirs=LogDirs(log_dirs, self.replicas, self.logs),
            log_dir_moves=self.log_dir_moves,
            retention_previews=self.previews,
            request_times=self.request_times,
            quotas=self.quotas,
            client_traffic=self.client_traffic,
            telemetry=ClientTelemetry(MetricsSubscriptions(self.entity_configs)),
            producer_ids=ProducerIds(self.store, 1),
            delegation_tokens=DelegationTokens(None, TokenSettings(b"", Lifetimes(1, 1), 1), clock, lambda: False),
            controller=self.controller,
            controller_epochs=ControllerEpochs(1, self.replicas, self.store),
            credentials=self.credentials,
            turns=Turns(),
            clock=clock,
        )
        context = RequestContext(services, 1, "", Session("", "PLAINTEXT"))
        self.markers.write_here = lambda request: handle_write_txn_markers(request, context)
        self.dispatcher = Dispatcher(services, RequestMetrics(self.registry))
        self.memory = ConnectionMemory()
        self.listener = Listener(
            ListenerEndpoint(self.config.listeners[0].listener, "127.0.0.1", 0),
            frame_bytes_max=FRAME_BYTES_MAX,
            connections_max=20,
            idle_ms_max=60_000,
            memory=self.memory,
        )
        #: Of those who come from now on, and of who logs in, but for members.
        self.rights: Rights = UNLIMITED
        self.listener.new_session = lambda host, name: Session(host, name, rights=self.rights)
        self.waiting_room = WaitingRoom(clock)
        self.listener.login = ListenerLogins(
            login_settings(
                self.config.of_listener(self.listener.name), Provers(MEMBERSHIP, self.address.__eq__, self.credentials)
            ),
            self.waiting_room,
            ConnectionBounds(FRAME_BYTES_MAX, self.memory),
            lambda _principal, _host: self.rights,
            clock,
        )
        self.listener.start(asyncio.get_running_loop(), self.dispatcher.on_frame, self.on_closed)

    def on_closed(self, connection) -> None:
        end_login(connection)
        self.dispatcher.on_closed(connection)

    async def verify(
        self, transactional_id, producer_id, epoch, partitions, *, adds: bool = False
    ) -> dict[TopicPartition, ErrorCode]:
        """As the transaction coordinator; what it says of a partition may be a future."""
        self.verified.append((transactional_id, producer_id, epoch, tuple(partitions)))
        verdicts = {partition: self.verdicts.get(partition, ErrorCode.NONE) for partition in partitions}
        return {
            item: await verdict if isinstance(verdict, asyncio.Future) else verdict
            for item, verdict in verdicts.items()
        }

    async def client(self) -> Client:
        return Client(*await asyncio.open_connection("127.0.0.1", self.listener.port))

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.listener.port}"

    async def dial_as_member(self) -> socket.socket:
        """As another broker does it."""
        return await dialer().dial("127.0.0.1", self.listener.port, 10_000)

    async def member(self) -> Client:
        """As another broker."""
        client = await self.client()
        await client.log_in(MEMBERSHIP.dial("127.0.0.1", self.listener.port))
        return client

    def lead(self, topic: str, partitions: int = 1, leader: int = 1, leader_epoch: int = 0, topic_id=None) -> None:
        """As the controller: this broker's replica of each partition is led by `leader`."""
        states = [
            LeaderAndIsrPartitionState(
                partition_index=index, leader=leader, leader_epoch=leader_epoch, isr=[leader], replicas=[leader]
            )
            for index in range(partitions)
        ]
        topic_state = LeaderAndIsrTopicState(
            topic_name=topic, topic_id=topic_id or topic_id_of(topic), partition_states=states
        )
        apply_leader_and_isr(self.replicas, LeaderAndIsrRequest(topic_states=[topic_state]))

    def lead_with_follower(self, topic: str, follower: int, leader_epoch: int = 1) -> None:
        """As the controller: this broker leads partition 0, and `follower` is in sync."""
        both = [1, follower]
        state = LeaderAndIsrPartitionState(leader=1, leader_epoch=leader_epoch, isr=both, replicas=both)
        topic_state = LeaderAndIsrTopicState(topic_name=topic, topic_id=topic_id_of(topic), partition_states=[state])
        apply_leader_and_isr(self.replicas, LeaderAndIsrRequest(topic_states=[topic_state]))

    def tell_of(self, topic: str, partitions: int = 1, leader: int = 1, topic_id=None) -> None:
        """As the controller: what to answer to Metadata."""
        endpoint = UpdateMetadataEndpoint(host="127.0.0.1", port=self.listener.port, listener="PLAINTEXT")
        states = [
            UpdateMetadataPartitionState(partition_index=index, leader=leader, leader_epoch=0, isr=[1], replicas=[1])
            for index in range(partitions)
        ]
        tell_all(
            self.metadata,
            UpdateMetadataRequest(
                controller_id=1,
                controller_epoch=1,
                live_brokers=[UpdateMetadataBroker(id=1, endpoints=[endpoint])],
                topic_states=[
                    UpdateMetadataTopicState(
                        topic_name=topic, topic_id=topic_id or topic_id_of(topic), partition_states=states
                    )
                ],
            ),
        )

    def counted(self, name: str) -> float:
        return self.registry.get_sample_value(f"barnabas_broker_{name}_total") or 0.0

    def stop(self) -> None:
        self.listener.stop()
        self.groups.stop()
        self.transactions.stop()
        self.previews.close()
        self.logs.shutdown()


@pytest.fixture
async def served(tmp_path):
    broker = Served(tmp_path)
    yield broker
    broker.stop()

"""A Kafka client in small: knows which broker leads what, asks it over the wire, and says why it got no answer."""

from dataclasses import dataclass
from uuid import UUID

from broker.common.errors import ErrorCode, ProtocolError
from broker.common.types import TopicPartition
from broker.net.outbound import OutboundConnection, PeerUnreachable
from broker.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from broker.protocol.schema import Message
from tests.members import StrangerDialer
from tests.simulation.broker_process import PORT, ClientProcess

CONNECT_TIMEOUT_MS = 1_000
REQUEST_TIMEOUT_MS = 3_000
_METADATA_VERSION = 12


class NoAnswerError(Exception):
    """Whether the request was carried out is unknown."""


@dataclass(frozen=True)
class Leader:
    broker_id: int
    leader_epoch: int
    topic_id: UUID


class ClusterClient:
    """Connections and metadata of one client process. Everything may be old or fail at any time."""

    def __init__(self, process: ClientProcess, broker_ids: list[int]):
        self._process = process
        self.broker_ids = broker_ids
        self._connections: dict[int, OutboundConnection] = {}
        self.leaders: dict[TopicPartition, Leader] = {}
        #: Everybody a partition is assigned to, while it moves too.
        self.replicas: dict[TopicPartition, list[int]] = {}
        self.alive: list[int] = []
        #: How many partitions each topic has.
        self.topics: dict[str, int] = {}
        self._controller_id = -1
        self._newest: dict[tuple[UUID, int], Leader] = {}

    @property
    def random(self):
        return self._process.random

    async def ask(
        self, broker_id: int, message: Message, version: int, timeout_ms: int = REQUEST_TIMEOUT_MS
    ) -> Message:
        """Raises NoAnswerError."""
        connection = self._connections.get(broker_id)
        if connection is None:
            connection = OutboundConnection(StrangerDialer(), f"10.0.0.{broker_id}", PORT, self._process.name)
            self._connections[broker_id] = connection
        try:
            await connection.connect(CONNECT_TIMEOUT_MS)
            return await connection.request(message, version, timeout_ms)
        except (PeerUnreachable, ProtocolError) as error:
            raise NoAnswerError(str(error)) from error

    def another_line(self) -> "ClusterClient":
        """Connections of their own, for what must not wait behind the answers of others."""
        return ClusterClient(self._process, self.broker_ids)

    async def ask_any(self, message: Message, version: int) -> Message:
        return await self.ask(self.random.choice(self.broker_ids), message, version)

    async def ask_controller(self, message: Message, version: int) -> Message:
        """Whoever is controller by the metadata of any broker."""
        await self.refresh([])
        if self._controller_id < 0:
            raise NoAnswerError("no controller is known")
        return await self.ask(self._controller_id, message, version)

    async def refresh(self, topics: list[str] | None = None) -> bool:
        """Ask any broker for these topics, or all; whether it answered."""
        wanted = None if topics is None else [MetadataRequestTopic(name=name) for name in topics]
        request = MetadataRequest(topics=wanted, allow_auto_topic_creation=False)
        try:
            response = await self.ask_any(request, _METADATA_VERSION)
        except NoAnswerError:
            return False
        if topics is None:
            self.topics.clear()
            self.replicas.clear()
        self.alive = [broker.node_id for broker in response.brokers]
        self._controller_id = response.controller_id
        leaders = {} if topics is None else dict(self.leaders)
        for topic in response.topics:
            if topic.error_code == ErrorCode.NONE:
                self.topics[topic.name] = len(topic.partitions)
                for partition in topic.partitions:
                    where = TopicPartition(topic.name, partition.partition_index)
                    self.replicas[where] = partition.replica_nodes
                    leaders[where] = self._newer(
                        where, Leader(partition.leader_id, partition.leader_epoch, topic.topic_id)
                    )
        self.leaders = leaders
        return True

    def _newer(self, where: TopicPartition, leader: Leader) -> Leader:
        """A broker that is cut off tells of leaders of long ago: the newest that was heard of counts (KIP-320)."""
        known = self._newest.get((leader.topic_id, where.partition))
        if known is None or known.leader_epoch <= leader.leader_epoch:
            known = self._newest[leader.topic_id, where.partition] = leader
        return known

"""Brokers asked as a client asks them, this one among them: leaders are looked up each time."""

from collections.abc import Callable

from broker.common.types import TopicPartition
from broker.coordinator.partitions import partition_for
from broker.net.dialer import Dialer, PeerUnreachable
from broker.net.outbound import OutboundConnection
from broker.protocol.messages import AnyResponse
from broker.protocol.schema import Request
from broker.runtime.metadata_cache import MetadataCache
from broker.runtime.topics.internal_topics import OFFSETS_TOPIC

_CONNECT_TIMEOUT_MS = 5_000
_REQUEST_TIMEOUT_MS = 15_000

#: Where a broker is reached, None if that is not known.
AddressOf = Callable[[int], tuple[str, int] | None]


class Peers:
    """One connection to each broker, one request at a time."""

    def __init__(self, broker_id: int, metadata: MetadataCache, address_of: AddressOf, dialer: Dialer):
        self._name = f"broker-{broker_id}-audit"
        self._metadata = metadata
        self._address_of = address_of
        self._dialer = dialer
        self._connections: dict[tuple[str, int], OutboundConnection] = {}

    async def ask_leader(self, partition: TopicPartition, request: Request[AnyResponse], version: int) -> AnyResponse:
        """Raises PeerUnreachable, also while nobody leads the partition, and ProtocolError."""
        leader = self._metadata.leader_of(*partition)
        address = self._address_of(leader) if leader >= 0 else None
        if address is None:
            raise PeerUnreachable(f"{partition} has no known leader")
        return await (await self._connected(address)).request(request, version, _REQUEST_TIMEOUT_MS)

    async def ask_coordinator(self, group: str, request: Request[AnyResponse], version: int) -> AnyResponse:
        """Raises as `ask_leader`."""
        count = self._metadata.partition_count(OFFSETS_TOPIC)
        if not count:
            raise PeerUnreachable(f"there is no {OFFSETS_TOPIC}")
        return await self.ask_leader(TopicPartition(OFFSETS_TOPIC, partition_for(group, count)), request, version)

    def close(self) -> None:
        for connection in self._connections.values():
            connection.close()

    async def _connected(self, address: tuple[str, int]) -> OutboundConnection:
        known = {self._address_of(broker_id) for broker_id in self._metadata.brokers}
        for pair in self._connections.keys() - known:
            self._connections.pop(pair).close()
        connection = self._connections.get(address)
        if connection is None:
            connection = self._connections[address] = OutboundConnection(self._dialer, *address, self._name)
        await connection.connect(_CONNECT_TIMEOUT_MS)
        return connection

"""Finds the leaders of partitions: asked once for a topic, and again when a leader has moved."""

import time
from collections.abc import Iterable

from broker.client.cluster import ClusterConnections
from broker.client.connection import BrokerConnection
from broker.common.errors import ApiError, ErrorCode, error_code_of
from broker.common.types import TopicPartition
from broker.protocol.messages.metadata import MetadataResponse

#: Answers after which the leader is looked for again.
MOVED = frozenset(
    (
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.REPLICA_NOT_AVAILABLE,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
    )
)

#: What brokers answer of a topic that they have just created, or do not create.
_BEING_CREATED = frozenset((ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.LEADER_NOT_AVAILABLE))
_PAUSE_S = 0.1
Address = tuple[str, int]


class Leaders:
    """Leaders of one cluster, remembered until `forget`."""

    def __init__(self, cluster: ClusterConnections):
        self._cluster = cluster
        self._known: dict[TopicPartition, Address | None] = {}

    def partitions(self, topic: str) -> list[TopicPartition]:
        """Return all partitions of a topic.

        Raises ApiError (UNKNOWN_TOPIC_OR_PARTITION for an unknown topic), BrokerUnreachable.
        """
        self._learn(topic)
        return sorted(partition for partition in self._known if partition.topic == topic)

    def partitions_to_write(self, topic: str, patience_s: float) -> list[TopicPartition]:
        """As `partitions`, of a topic that is created where brokers create what is asked for; awaited so long."""
        deadline = time.monotonic() + patience_s
        while True:
            try:
                self._learn(topic, creates=True)
                partitions = sorted(known for known in self._known if known.topic == topic)
                if partitions and all(self._known[known] is not None for known in partitions):
                    return partitions
            except ApiError as error:
                if error.code not in _BEING_CREATED or time.monotonic() > deadline:
                    raise
            if time.monotonic() > deadline:
                return self.partitions(topic)
            time.sleep(_PAUSE_S)

    def connection(self, partition: TopicPartition, *, in_order: bool = False) -> BrokerConnection:
        """Return a connection to the leader, as `ClusterConnections.connection`.

        Raises ApiError(LEADER_NOT_AVAILABLE, UNKNOWN_TOPIC_OR_PARTITION), BrokerUnreachable.
        """
        return self._cluster.connection(*self.address(partition), in_order=in_order)

    def address(self, partition: TopicPartition) -> Address:
        if self._known.get(partition) is None:
            self._learn(partition.topic)
        address = self._known.get(partition)
        if address is None:
            known = partition in self._known
            code = ErrorCode.LEADER_NOT_AVAILABLE if known else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            raise ApiError(code, f"{partition} has no leader" if known else f"there is no partition {partition}")
        return address

    def by_address(self, partitions: Iterable[TopicPartition]) -> dict[Address, list[TopicPartition]]:
        """Return the partitions each leader has to be asked about. Raises as `connection`."""
        led: dict[Address, list[TopicPartition]] = {}
        for partition in partitions:
            led.setdefault(self.address(partition), []).append(partition)
        return led

    def forget(self, partition: TopicPartition, *, connection_broken: bool = False) -> None:
        """Forget the leader because it moved, or its connection is broken (which is made again)."""
        address = self._known.get(partition)
        if connection_broken and address is not None:
            self._cluster.forget(*address)
        self._known = {known: at for known, at in self._known.items() if known.topic != partition.topic}

    def learn(self, metadata: MetadataResponse) -> None:
        """Remember the leaders of many topics at once, so that they are not requested one by one."""
        addresses = {broker.node_id: (broker.host, broker.port) for broker in metadata.brokers}
        for described in metadata.topics:
            for partition in described.partitions:
                known = TopicPartition(described.name or "", partition.partition_index)
                self._known[known] = addresses.get(partition.leader_id)

    def _learn(self, topic: str, *, creates: bool = False) -> None:
        metadata = self._cluster.describe_topics([topic], **({"creates": True} if creates else {}))
        (described,) = metadata.topics
        self._known = {known: at for known, at in self._known.items() if known.topic != topic}
        if described.error_code:
            code = error_code_of(described.error_code)
            unknown = code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            raise ApiError(code, f"there is no topic {topic!r}" if unknown else f"{topic}: {code.meaning}")
        self.learn(metadata)

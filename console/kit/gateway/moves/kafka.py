"""Partitions on the move in a real cluster: asked of the controller over the wire, for the admin client has no moves.

Their throttles are settings of brokers and topics like any others.
"""

import logging
from collections.abc import Collection, Iterable, Mapping
from contextlib import AbstractContextManager
from typing import TypeVar

from broker.client.cluster import ClusterConnections
from broker.common.errors import ApiError, ErrorCode, error_code_of
from broker.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignableTopic,
)
from broker.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)
from broker.protocol.schema import Request
from console.kit.gateway.brokers.interface import BrokerGateway, ReplicaSizes, replica_sizes
from console.kit.gateway.connection.client import ClusterClient
from console.kit.gateway.connection.cluster_session import cluster_session
from console.kit.gateway.errors import ClusterUnreachableError, GatewayError, refusal
from console.kit.gateway.groups.interface import TopicPartition
from console.kit.gateway.moves.interface import RATE_KEYS, REPLICA_KEYS, MoveView, Throttles
from console.kit.gateway.topics.settings import TopicAdministration

logger = logging.getLogger(__name__)

ALTER_TIMEOUT_SECONDS = 10.0
#: The controller is asked for again when it has just become another.
TRIES = 3
TOPICS_PER_REQUEST = 500
MovesResponse = TypeVar("MovesResponse", AlterPartitionReassignmentsResponse, ListPartitionReassignmentsResponse)
_NOT_SERVED = "These brokers cannot move partitions while they run."


class KafkaMoves:
    """Threads may share it."""

    def __init__(
        self, client: ClusterClient, brokers: BrokerGateway, topics: TopicAdministration, timeout_seconds: float
    ):
        self._client = client
        self._brokers = brokers
        self._topics = topics
        self._timeout = timeout_seconds

    def assignments(self, topics: Iterable[str]) -> dict[TopicPartition, tuple[int, ...]]:
        names, assignments = sorted(set(topics)), {}
        with self._cluster() as cluster:
            for at in range(0, len(names), TOPICS_PER_REQUEST):
                for topic in cluster.describe_topics(names[at : at + TOPICS_PER_REQUEST]).topics:
                    if not topic.error_code and topic.name is not None:
                        for partition in topic.partitions:
                            assignments[topic.name, partition.partition_index] = tuple(partition.replica_nodes)
        return assignments

    def topic_ids(self, topics: Iterable[str]) -> dict[str, str]:
        names, topic_ids = sorted(set(topics)), {}
        with self._cluster() as cluster:
            for at in range(0, len(names), TOPICS_PER_REQUEST):
                for topic in cluster.describe_topics(names[at : at + TOPICS_PER_REQUEST]).topics:
                    if not topic.error_code and topic.name is not None and topic.topic_id.int:
                        topic_ids[topic.name] = str(topic.topic_id)
        return topic_ids

    def under_way(self) -> dict[TopicPartition, MoveView]:
        request = ListPartitionReassignmentsRequest(timeout_ms=int(self._timeout * 1_000), topics=None)
        with self._cluster() as cluster:
            answer = _ask_controller(cluster, request)
        return {
            (topic.name, partition.partition_index): MoveView(
                tuple(partition.replicas), tuple(partition.adding_replicas), tuple(partition.removing_replicas)
            )
            for topic in answer.topics
            for partition in topic.partitions
            # Brokers by other hands tell of every partition there is.
            if partition.adding_replicas or partition.removing_replicas
        }

    def alter(self, targets: Mapping[TopicPartition, tuple[int, ...] | None]) -> dict[TopicPartition, str]:
        topics: dict[str, ReassignableTopic] = {}
        for (name, partition), replicas in sorted(targets.items()):
            reassignable = topics.setdefault(name, ReassignableTopic(name=name, partitions=[]))
            wanted = None if replicas is None else list(replicas)
            reassignable.partitions.append(ReassignablePartition(partition_index=partition, replicas=wanted))
        timeout_ms = int(ALTER_TIMEOUT_SECONDS * 1_000)
        request = AlterPartitionReassignmentsRequest(timeout_ms=timeout_ms, topics=list(topics.values()))
        with self._cluster(ALTER_TIMEOUT_SECONDS + self._timeout) as cluster:
            answer = _ask_controller(cluster, request)
        return {
            (topic.name, partition.partition_index): str(refusal(partition.error_code, partition.error_message or ""))
            for topic in answer.responses
            for partition in topic.partitions
            if partition.error_code
        }

    def bytes_held(self, places: Collection[TopicPartition]) -> ReplicaSizes:
        return replica_sizes(self._brokers.log_dirs(places))

    def throttles(self, brokers: Iterable[int], topics: Iterable[str]) -> Throttles:
        settings = self._brokers.settings()
        missing = set(brokers) - settings.keys()
        if missing:
            raise ClusterUnreachableError(f"Broker {min(missing)} did not answer in time.")
        own = {
            broker: {one.name: one.values_by_source.get("broker") for one in settings[broker]}
            for broker in sorted(set(brokers))
        }
        return Throttles(
            {item: {key: values.get(key) for key in RATE_KEYS} for item, values in own.items()},
            {topic: self._throttled_replicas(topic) for topic in sorted(set(topics))},
        )

    def set_throttles(self, throttles: Throttles) -> None:
        for broker_id, values in throttles.brokers.items():
            self._brokers.change_settings(broker_id, values)
        for topic, values in throttles.topics.items():
            self._topics.change(topic, values)

    def _throttled_replicas(self, topic: str) -> dict[str, str | None]:
        own = {setting.name: setting.value for setting in self._topics.settings(topic) if setting.source == "topic"}
        return {key: own.get(key) for key in REPLICA_KEYS}

    def _cluster(self, timeout_seconds: float | None = None) -> AbstractContextManager[ClusterConnections]:
        return cluster_session(self._client, timeout_seconds or self._timeout, _NOT_SERVED)


def _ask_controller(cluster: ClusterConnections, request: Request[MovesResponse]) -> MovesResponse:
    """Raises ApiError if the request as a whole is refused, GatewayError if there is no controller."""
    for _ in range(TRIES):
        metadata = cluster.describe_topics([])
        address = next(
            ((broker.host, broker.port) for broker in metadata.brokers if broker.node_id == metadata.controller_id),
            None,
        )
        if address is None:
            raise GatewayError("The cluster has no controller at the moment.")
        answer = cluster.connection(*address).ask(request)
        if answer.error_code != ErrorCode.NOT_CONTROLLER:
            break
        logger.debug("%s:%s is not the controller any more", *address)
    if answer.error_code:
        raise ApiError(error_code_of(answer.error_code), answer.error_message)
    return answer

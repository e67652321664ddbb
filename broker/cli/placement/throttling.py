"""Throttles of moves (KIP-73), set and taken away on the brokers and topics they belong to."""

from collections.abc import Iterable, Mapping

from broker.cli.frame.answers import check
from broker.cli.placement.reassignment import (
    FOLLOWER_RATE,
    FOLLOWER_REPLICAS,
    LEADER_RATE,
    LEADER_REPLICAS,
    LOG_DIRS_RATE,
)
from broker.client.cluster import ClusterConnections
from broker.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    ConfigOperation,
    IncrementalAlterConfigsRequest,
)

_TOPIC, _BROKER = 2, 4


def throttle_topics(cluster: ClusterConnections, topics: Mapping[str, Mapping[str, str | None]]) -> None:
    """Set topic → setting → value, None for its default. Raises ApiError, BrokerUnreachable."""
    resources = [_resource(_TOPIC, topic, values) for topic, values in topics.items()]
    if resources:
        for result in cluster.ask_controller(IncrementalAlterConfigsRequest(resources=resources)).responses:
            check(result.error_code, result.error_message)


def throttle_brokers(cluster: ClusterConnections, brokers: Iterable[int], values: Mapping[str, str | None]) -> None:
    """Set the same throttle on each broker, one request for each, as Kafka wants it."""
    for broker in sorted(brokers):
        request = IncrementalAlterConfigsRequest(resources=[_resource(_BROKER, str(broker), values)])
        (result,) = cluster.ask_broker(broker, request).responses
        check(result.error_code, result.error_message)


def clear_topics(cluster: ClusterConnections, topics: Iterable[str]) -> None:
    throttle_topics(cluster, {topic: dict.fromkeys((LEADER_REPLICAS, FOLLOWER_REPLICAS)) for topic in topics})


def clear_brokers(cluster: ClusterConnections, brokers: Iterable[int]) -> None:
    throttle_brokers(cluster, brokers, dict.fromkeys((LEADER_RATE, FOLLOWER_RATE, LOG_DIRS_RATE)))


def _resource(kind: int, name: str, values: Mapping[str, str | None]) -> AlterConfigsResource:
    changes = [
        AlterableConfig(
            name=key, config_operation=ConfigOperation.DELETE if value is None else ConfigOperation.SET, value=value
        )
        for key, value in values.items()
    ]
    return AlterConfigsResource(resource_type=kind, resource_name=name, configs=changes)

"""Records of a real cluster deleted up to an offset (KIP-107), asked of the leaders over the wire."""

from collections.abc import Mapping

from broker.client.leaders import Leaders
from broker.client.record_deletion import delete_records
from broker.common.types import TopicPartition
from console.kit.gateway.connection.client import ClusterClient
from console.kit.gateway.connection.cluster_session import cluster_session
from console.kit.gateway.errors import refusal

_NOT_SERVED = "These brokers cannot delete records before an offset: Kafka does from 0.11 on."


def ask_to_delete(
    client: ClusterClient, topic: str, before: Mapping[int, int], timeout_seconds: float
) -> dict[int, str]:
    """Delete records, and return what was refused, by partition."""
    wanted = {TopicPartition(topic, partition): offset for partition, offset in before.items()}
    with cluster_session(client, timeout_seconds, _NOT_SERVED) as cluster:
        done = delete_records(Leaders(cluster), wanted, timeout_s=timeout_seconds)
    return {
        place.partition: str(refusal(item.error, item.reason)) for place, item in sorted(done.items()) if item.error
    }

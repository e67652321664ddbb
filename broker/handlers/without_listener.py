"""Partitions whose brokers live, and lack the listener by which a client asks: it cannot reach them.

As Kafka tells it (KAFKA-6546): a leader that cannot be reached is none, with LISTENER_NOT_FOUND to clients that know
the error; a replica that cannot be reached is offline.
"""

from functools import partial

from broker.common.errors import ErrorCode
from broker.protocol.made_late import made_late
from broker.protocol.messages.metadata import MetadataResponsePartition, MetadataResponseTopic
from broker.runtime.requests.context import RequestContext

_FIRST_VERSION_WITH_ERROR = 6


def as_seen_by_listener(topics: list[MetadataResponseTopic], context: RequestContext) -> list[MetadataResponseTopic]:
    """Costs one look at each broker, if all have the listener."""
    listener = context.session.listener
    brokers = context.services.metadata.brokers
    lacking = frozenset(each.broker_id for each in brokers.values() if listener not in each.endpoints)
    if not lacking:
        return topics
    has_error = context.api_version >= _FIRST_VERSION_WITH_ERROR
    error = ErrorCode.LISTENER_NOT_FOUND if has_error else ErrorCode.LEADER_NOT_AVAILABLE
    seen: list[MetadataResponseTopic] = made_late(topics, partial(_topic, lacking, error))
    return seen


def _topic(lacking: frozenset[int], error: ErrorCode, topic: MetadataResponseTopic) -> MetadataResponseTopic:
    topic.partitions = made_late(topic.partitions, partial(_partition, lacking, error))
    return topic


def _partition(
    lacking: frozenset[int], error: ErrorCode, partition: MetadataResponsePartition
) -> MetadataResponsePartition:
    offline = set(partition.offline_replicas) | (lacking & set(partition.replica_nodes))
    partition.offline_replicas = [each for each in partition.replica_nodes if each in offline]
    if partition.leader_id in lacking:
        partition.error_code = error
        partition.leader_id = -1
    return partition

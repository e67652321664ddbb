"""What `kafka-reassign-partitions` asks of the cluster: where replicas lie, which moves go on, and to begin others."""

from collections.abc import Mapping, Sequence

from broker.cli.frame.answers import check
from broker.client.cluster import ClusterConnections
from broker.common.errors import ApiError, ErrorCode
from broker.common.replica_assignment import ReplicaAssignment
from broker.common.types import TopicPartition
from broker.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from broker.protocol.messages.list_partition_reassignments import ListPartitionReassignmentsRequest


def assignments(cluster: ClusterConnections, topics: Sequence[str]) -> dict[TopicPartition, tuple[int, ...]]:
    """Return the replicas of all partitions of the topics. Raises ApiError for an unknown topic."""
    replicas = {}
    for topic in cluster.describe_topics(sorted(set(topics))).topics if topics else ():
        if topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"Topic {topic.name} not found.")
        check(topic.error_code)
        for partition in topic.partitions:
            replicas[TopicPartition(topic.name or "", partition.partition_index)] = tuple(partition.replica_nodes)
    return replicas


def moves_in_progress(cluster: ClusterConnections) -> dict[TopicPartition, ReplicaAssignment]:
    answer = cluster.ask_controller(ListPartitionReassignmentsRequest())
    check(answer.error_code, answer.error_message)
    return {
        TopicPartition(topic.name, partition.partition_index): ReplicaAssignment(
            tuple(partition.replicas), tuple(partition.adding_replicas), tuple(partition.removing_replicas)
        )
        for topic in answer.topics
        for partition in topic.partitions
    }


def alter(
    cluster: ClusterConnections, targets: Mapping[TopicPartition, Sequence[int] | None]
) -> dict[TopicPartition, tuple[int, str]]:
    """Alter reassignments; None cancels one. Return refused partitions with code and sentence."""
    topics: dict[str, list[ReassignablePartition]] = {}
    for (topic, index), replicas in sorted(targets.items()):
        topics.setdefault(topic, []).append(
            ReassignablePartition(partition_index=index, replicas=None if replicas is None else list(replicas))
        )
    request = AlterPartitionReassignmentsRequest(
        topics=[ReassignableTopic(name=name, partitions=partitions) for name, partitions in topics.items()]
    )
    answer = cluster.ask_controller(request)
    check(answer.error_code, answer.error_message)
    return {
        TopicPartition(topic.name, partition.partition_index): (
            partition.error_code,
            partition.error_message or "no reason given",
        )
        for topic in answer.responses
        for partition in topic.partitions
        if partition.error_code
    }

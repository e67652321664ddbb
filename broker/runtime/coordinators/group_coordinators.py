"""The coordinators of consumer groups, one for each partition of `__consumer_offsets`."""

import uuid
from collections.abc import Callable

from broker.common.clock import Clock
from broker.common.types import TopicIdPartition
from broker.coordinator.consumer_group.config import ConsumerGroupConfig
from broker.coordinator.consumer_group.topics import TopicDirectory
from broker.coordinator.group.config import GroupConfig
from broker.coordinator.group.coordinator import GroupCoordinator
from broker.coordinator.group.deleted_partitions import DeletedPartitions
from broker.coordinator.group.memory import GroupMemory
from broker.coordinator.outcome import CoordinatorOutcome
from broker.runtime.coordinators.coordinator_runtime import CoordinatorRuntime
from broker.runtime.replication.replica_manager import ReplicaManager
from broker.runtime.topics.internal_topics import OFFSETS_TOPIC

GroupCoordinators = CoordinatorRuntime[GroupCoordinator, CoordinatorOutcome]


def group_coordinators(
    replicas: ReplicaManager,
    config: GroupConfig,
    clock: Clock,
    memory: GroupMemory,
    deleted: DeletedPartitions,
    topic_id_of: Callable[[str], uuid.UUID],
    steady_now_ms: Callable[[], int] | None = None,
    consumer_config: ConsumerGroupConfig | None = None,
    topics: TopicDirectory | None = None,
) -> GroupCoordinators:
    """Return the coordinators. topic_id_of: NO_TOPIC_ID for an unknown topic name; the last three: as
    `GroupCoordinator` takes them.
    """

    def new_coordinator() -> GroupCoordinator:
        return GroupCoordinator(
            config,
            _new_member_id,
            clock.now_ms,
            memory,
            deleted,
            topic_id_of,
            steady_now_ms,
            consumer_config,
            topics,
        )

    groups = GroupCoordinators(OFFSETS_TOPIC, new_coordinator, replicas, clock, config.offsets_commit_timeout_ms)
    replicas.on_marker.append(groups.complete_transaction)
    return groups


def forget_partitions(
    groups: GroupCoordinators, deleted: DeletedPartitions, clock: Clock, partitions: list[TopicIdPartition]
) -> None:
    """Forget the committed offsets of deleted partitions in every coordinator, loading ones when they are loaded."""
    deleted.note(partitions, clock.now_ms())
    for partition in groups.loaded_partitions():
        groups.tell(partition, lambda coordinator, now_ms: coordinator.partitions_deleted(partitions, now_ms))


def _new_member_id(client_id: str) -> str:
    return f"{client_id}-{uuid.uuid4()}"

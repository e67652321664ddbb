"""The coordinators of consumer groups, one for each partition of `__consumer_offsets`."""

import uuid

from broker.common.clock import Clock
from broker.coordinator.group.config import GroupConfig
from broker.coordinator.group.coordinator import GroupCoordinator
from broker.runtime.coordinators.coordinator_runtime import CoordinatorRuntime
from broker.runtime.replication.replica_manager import ReplicaManager
from broker.runtime.topics.internal_topics import OFFSETS_TOPIC

GroupCoordinators = CoordinatorRuntime[GroupCoordinator]


def group_coordinators(replicas: ReplicaManager, config: GroupConfig, clock: Clock) -> GroupCoordinators:
    def new_coordinator() -> GroupCoordinator:
        return GroupCoordinator(config, _new_member_id, clock.now_ms)

    return CoordinatorRuntime(OFFSETS_TOPIC, new_coordinator, replicas, clock)


def _new_member_id(client_id: str) -> str:
    return f"{client_id}-{uuid.uuid4()}"

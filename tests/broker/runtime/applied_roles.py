"""The roles of one LeaderAndIsr request, taken at once: what `take_roles` does a few at a time, without its pauses."""

from collections.abc import Mapping
from types import MappingProxyType
from uuid import UUID

from broker.common.errors import ErrorCode
from broker.log.config import LogConfig
from broker.protocol.messages.leader_and_isr import LeaderAndIsrRequest
from broker.runtime.replication.replica_manager import ReplicaManager
from broker.runtime.replication.topic_names import note_outcome


def apply_leader_and_isr(
    replicas: ReplicaManager, request: LeaderAndIsrRequest, configs: Mapping[str, LogConfig] = MappingProxyType({})
) -> dict[UUID, dict[int, ErrorCode]]:
    """Return the outcome of each partition by topic id, see `note_outcome`. `configs` are by topic."""
    outcomes: dict[UUID, dict[int, ErrorCode]] = {}
    for topic in request.topic_states:
        for state in topic.partition_states:
            note_outcome(outcomes, topic.topic_id, state.partition_index, replicas.apply_role(topic, state, configs))
    return outcomes

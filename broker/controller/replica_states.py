"""The life of a replica (one partition on one broker), as the controller sees it.

    NON_EXISTENT -> NEW -> ONLINE <-> OFFLINE -> DELETION_STARTED -> DELETION_SUCCESSFUL -> NON_EXISTENT
                                         ^             v
                                         +--- DELETION_INELIGIBLE

| status | means | what is done on entering |
| --- | --- | --- |
| NEW | the broker has not been told of it yet | its first LeaderAndIsr says is_new |
| ONLINE | its broker is alive and may host it | LeaderAndIsr |
| OFFLINE | its broker is gone or did not take its role | taken out of the ISR unless it is the last |
| DELETION_STARTED | its topic is being deleted | StopReplica with delete |
| DELETION_SUCCESSFUL | the broker has deleted it | when all replicas of the topic are here, the topic's znodes go |
| DELETION_INELIGIBLE | its broker is gone or could not delete it | tried again when it is back, or after a pause |
"""

from enum import Enum, auto
from typing import NamedTuple

from broker.common.types import TopicPartition
from broker.controller.transitions import Machines


class Replica(NamedTuple):
    partition: TopicPartition
    broker_id: int


class ReplicaStatus(Enum):
    NON_EXISTENT = auto()
    NEW = auto()
    ONLINE = auto()
    OFFLINE = auto()
    DELETION_STARTED = auto()
    DELETION_SUCCESSFUL = auto()
    DELETION_INELIGIBLE = auto()


_LIVE_OR_NOT = frozenset({ReplicaStatus.ONLINE, ReplicaStatus.OFFLINE})

#: From -> to.
MAY_FOLLOW = {
    ReplicaStatus.NON_EXISTENT: frozenset({ReplicaStatus.NEW}),
    ReplicaStatus.NEW: _LIVE_OR_NOT,
    ReplicaStatus.ONLINE: _LIVE_OR_NOT,
    ReplicaStatus.OFFLINE: _LIVE_OR_NOT | {ReplicaStatus.DELETION_STARTED, ReplicaStatus.DELETION_INELIGIBLE},
    ReplicaStatus.DELETION_STARTED: frozenset({ReplicaStatus.DELETION_SUCCESSFUL, ReplicaStatus.DELETION_INELIGIBLE}),
    ReplicaStatus.DELETION_SUCCESSFUL: frozenset({ReplicaStatus.NON_EXISTENT}),
    ReplicaStatus.DELETION_INELIGIBLE: _LIVE_OR_NOT,
}


def replica_machines() -> Machines[Replica, ReplicaStatus]:
    return Machines(MAY_FOLLOW, ReplicaStatus.NON_EXISTENT)

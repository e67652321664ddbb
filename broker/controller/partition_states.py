"""The life of a partition, as the controller sees it.

    NON_EXISTENT -> NEW -> ONLINE <-> OFFLINE -> NON_EXISTENT
                     \\-------------->/

| status | means | what is done on entering |
| --- | --- | --- |
| NEW | in the topic's znode, no state znode yet | leader and ISR are chosen from the live replicas and written |
| ONLINE | has a leader that is alive | replicas get LeaderAndIsr, all brokers UpdateMetadata |
| OFFLINE | has no live leader | leader -1 is written and told; an election is tried when a replica comes |
| NON_EXISTENT | unknown, or its topic was deleted | nothing is kept |
"""

from enum import Enum, auto

from broker.common.types import TopicPartition
from broker.controller.transitions import Machines


class PartitionStatus(Enum):
    NON_EXISTENT = auto()
    NEW = auto()
    ONLINE = auto()
    OFFLINE = auto()


#: From -> to.
MAY_FOLLOW = {
    PartitionStatus.NON_EXISTENT: frozenset({PartitionStatus.NEW}),
    PartitionStatus.NEW: frozenset({PartitionStatus.ONLINE, PartitionStatus.OFFLINE}),
    PartitionStatus.ONLINE: frozenset({PartitionStatus.ONLINE, PartitionStatus.OFFLINE}),
    PartitionStatus.OFFLINE: frozenset({PartitionStatus.ONLINE, PartitionStatus.OFFLINE, PartitionStatus.NON_EXISTENT}),
}


def partition_machines() -> Machines[TopicPartition, PartitionStatus]:
    return Machines(MAY_FOLLOW, PartitionStatus.NON_EXISTENT)

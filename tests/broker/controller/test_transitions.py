"""The tables of legal transitions are complete, and what they forbid is our error."""

import pytest

from broker.common.errors import InvariantViolation
from broker.common.types import TopicPartition
from broker.controller import partition_states, replica_states
from broker.controller.partition_states import PartitionStatus, partition_machines
from broker.controller.replica_states import Replica, ReplicaStatus, replica_machines

T0 = TopicPartition("t", 0)


@pytest.mark.parametrize(
    ("table", "statuses"),
    [(partition_states.MAY_FOLLOW, PartitionStatus), (replica_states.MAY_FOLLOW, ReplicaStatus)],
)
def test_every_status_can_be_entered_and_left(table, statuses):
    assert set(table) == set(statuses)
    assert set().union(*table.values()) == set(statuses)
    assert all(table.values())


def test_partition_cannot_lead_before_it_is_new():
    machines = partition_machines()
    with pytest.raises(InvariantViolation, match="t-0 cannot go from NON_EXISTENT to ONLINE"):
        machines.move([T0], PartitionStatus.ONLINE)


def test_replica_that_is_online_cannot_be_deleted():
    machines = replica_machines()
    machines.find(Replica(T0, 1), ReplicaStatus.ONLINE)
    with pytest.raises(InvariantViolation):
        machines.move([Replica(T0, 1)], ReplicaStatus.DELETION_STARTED)


def test_what_is_gone_is_not_kept():
    machines = partition_machines()
    for status in (PartitionStatus.NEW, PartitionStatus.OFFLINE, PartitionStatus.NON_EXISTENT, PartitionStatus.NEW):
        machines.move([T0], status)
        assert machines[T0] is status
    machines.forget([T0, TopicPartition("unknown", 0)])
    assert machines[T0] is PartitionStatus.NON_EXISTENT

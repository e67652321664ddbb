"""Consumers are sent to a replica in their rack, if there is one that can serve them (KIP-392, trap 45)."""

from broker.common.types import TopicPartition
from broker.replication.closest_replica import closest_replica
from broker.replication.partition import LeadershipState, ReplicaPartition

LEADER, NEAR, NEARER, FAR = 1, 2, 3, 4
RACKS = {LEADER: "a", NEAR: "b", NEARER: "b", FAR: "c"}


def led(isr=(LEADER, NEAR, NEARER, FAR), **ends) -> ReplicaPartition:
    partition = ReplicaPartition(TopicPartition("t", 0), LEADER)
    partition.apply(LeadershipState(LEADER, 0, isr, (LEADER, NEAR, NEARER, FAR), 0, 0), log_end_offset=100)
    for replica, end in {NEAR: 80, NEARER: 90, FAR: 100, **{int(k[1:]): v for k, v in ends.items()}}.items():
        partition.record_fetch(replica, end, now_ms=1)
    return partition


def test_the_replica_in_the_rack_that_has_come_furthest_is_chosen():
    assert closest_replica(led(), "b", RACKS, fetch_offset=10) == NEARER


def test_trap_45_a_replica_that_does_not_hold_the_offset_yet_is_not_chosen():
    assert closest_replica(led(), "b", RACKS, fetch_offset=90) == NEARER
    assert closest_replica(led(), "b", RACKS, fetch_offset=91) is None


def test_trap_45_a_replica_outside_the_isr_is_not_chosen():
    assert closest_replica(led(isr=(LEADER, NEAR)), "b", RACKS, fetch_offset=10) == NEAR


def test_the_leader_serves_its_own_rack_itself():
    assert closest_replica(led(), "a", RACKS, fetch_offset=10) is None


def test_a_rack_without_replica_is_served_by_the_leader():
    assert closest_replica(led(), "z", RACKS, fetch_offset=10) is None
    assert closest_replica(led(), "", RACKS, fetch_offset=10) is None


def test_of_equals_the_lowest_broker_is_chosen():
    assert closest_replica(led(b2=90), "b", RACKS, fetch_offset=10) == NEAR

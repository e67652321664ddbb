import pytest

from broker.common.errors import ApiError, ErrorCode, InvariantViolation
from broker.common.types import TopicPartition
from broker.replication.partition import LeadershipState, ReplicaPartition

ME, OTHER = 1, 2


def state(leader=ME, leader_epoch=5, isr=(ME,), replicas=(ME,)):
    return LeadershipState(leader, leader_epoch, isr, replicas, controller_epoch=1, zk_version=0)


def partition(**given) -> ReplicaPartition:
    fresh = ReplicaPartition(TopicPartition("t", 0), ME)
    fresh.apply(state(**given), log_end_offset=10)
    return fresh


def refusal(partition, *epoch):
    with pytest.raises(ApiError) as refused:
        partition.check_leader(*epoch)
    return refused.value.code


def test_a_sole_replica_commits_what_it_holds():
    led = partition()
    assert led.high_watermark == 10
    assert led.record_append(13)
    assert led.high_watermark == 13


def test_records_are_not_committed_before_every_in_sync_replica_was_heard_of():
    led = partition(isr=(ME, OTHER), replicas=(ME, OTHER))
    assert not led.record_append(13)
    assert led.high_watermark == 0


def test_a_leader_alone_in_sync_commits_what_it_holds_though_there_are_other_replicas():
    leader = partition(isr=(ME,), replicas=(ME, 2, 3))
    assert leader.record_append(17)
    assert leader.high_watermark == 17
    leader.pending_isr = (ME, 2)
    assert not leader.record_append(19)
    assert leader.high_watermark == 17


def test_high_watermark_survives_a_new_leader_epoch():
    led = partition()
    led.apply(state(leader_epoch=6), log_end_offset=10)
    assert led.high_watermark == 10


def test_an_older_leader_epoch_is_ignored():
    led = partition(leader_epoch=5)
    assert not led.apply(state(leader=OTHER, leader_epoch=4), log_end_offset=10)
    assert led.is_leader


def test_a_replica_without_role_serves_nobody():
    assert refusal(ReplicaPartition(TopicPartition("t", 0), ME)) is ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_a_follower_is_not_the_leader():
    assert refusal(partition(leader=OTHER)) is ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_trap_04_leader_epochs_of_requests_are_fenced():
    led = partition(leader_epoch=5)
    led.check_leader(5)
    led.check_leader()
    assert refusal(led, 4) is ErrorCode.FENCED_LEADER_EPOCH
    assert refusal(led, 6) is ErrorCode.UNKNOWN_LEADER_EPOCH


def test_a_log_end_that_moves_backwards_is_a_fault_of_ours():
    with pytest.raises(InvariantViolation):
        partition().record_append(9)


def test_what_followers_held_before_the_leader_is_committed_when_the_leader_has_it_fsynced():
    led = partition(isr=(ME, OTHER), replicas=(ME, OTHER))
    assert led.record_fetch(OTHER, 13, 0)
    assert led.high_watermark == 10
    assert led.record_flushed(13)
    assert led.high_watermark == 13
    assert not led.record_flushed(15)
    assert led.high_watermark == 13


def test_a_log_that_starts_over_begins_and_ends_there():
    follower = partition(leader=OTHER)
    follower.started_over(50)
    assert (follower.log_end_offset, follower.high_watermark) == (50, 50)

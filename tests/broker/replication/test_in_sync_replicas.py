"""Who is in sync, what is therefore committed, and which ISR a leader wants (traps 5, 6, 7)."""

import pytest

from broker.common.errors import ApiError, ErrorCode
from broker.common.types import TopicPartition
from broker.replication.partition import LeadershipState, ReplicaPartition

ME, NEAR, FAR = 1, 2, 3
LAG_MAX = 10_000


def state(leader=ME, leader_epoch=5, isr=(ME, NEAR, FAR), replicas=(ME, NEAR, FAR), zk_version=0):
    return LeadershipState(leader, leader_epoch, isr, replicas, controller_epoch=1, zk_version=zk_version)


def led(log_end_offset=10, high_watermark=0, **given) -> ReplicaPartition:
    partition = ReplicaPartition(TopicPartition("t", 0), ME, high_watermark)
    partition.apply(state(**given), log_end_offset, now_ms=0)
    return partition


def test_high_watermark_is_the_smallest_log_end_of_the_isr():
    partition = led()
    partition.record_append(20)
    assert not partition.record_fetch(NEAR, 20, now_ms=1)
    assert partition.record_fetch(FAR, 15, now_ms=1)
    assert partition.high_watermark == 15


def test_a_follower_outside_the_isr_does_not_hold_the_high_watermark_back():
    partition = led(isr=(ME, NEAR))
    partition.record_append(20)
    partition.record_fetch(FAR, 3, now_ms=1)
    assert partition.record_fetch(NEAR, 20, now_ms=1)
    assert partition.high_watermark == 20


def test_high_watermark_never_moves_backwards_within_an_epoch():
    partition = led()
    for follower in (NEAR, FAR):
        partition.record_fetch(follower, 10, now_ms=1)
    partition.record_fetch(FAR, 4, now_ms=2)
    assert partition.high_watermark == 10


def test_a_new_leader_keeps_the_high_watermark_it_followed_with():
    follower = ReplicaPartition(TopicPartition("t", 0), ME)
    follower.apply(state(leader=NEAR, leader_epoch=4), log_end_offset=10)
    follower.record_fetched(12, leader_high_watermark=9)
    follower.apply(state(leader_epoch=5), log_end_offset=12)
    assert follower.high_watermark == 9
    assert not follower.is_high_watermark_established
    for replica in (NEAR, FAR):
        follower.record_fetch(replica, 12, now_ms=1)
    assert follower.is_high_watermark_established


def test_a_follower_knows_no_more_committed_than_it_holds():
    follower = ReplicaPartition(TopicPartition("t", 0), ME)
    follower.apply(state(leader=NEAR), log_end_offset=0)
    follower.record_fetched(5, leader_high_watermark=100)
    assert follower.high_watermark == 5


def test_trap_05_a_member_that_is_just_joining_holds_the_high_watermark_back():
    partition = led(isr=(ME, NEAR))
    partition.record_fetch(NEAR, 10, now_ms=1)
    partition.record_fetch(FAR, 10, now_ms=1)
    partition.pending_isr = partition.isr_with(FAR)
    partition.record_append(20)
    assert not partition.record_fetch(NEAR, 20, now_ms=2), "FAR may count already: it must hold what is committed"
    assert partition.high_watermark == 10
    assert partition.record_fetch(FAR, 20, now_ms=2)


def test_a_member_that_is_just_leaving_holds_the_high_watermark_back_until_that_is_written():
    partition = led()
    partition.record_append(20)
    partition.record_fetch(NEAR, 20, now_ms=1)
    partition.pending_isr = (ME, NEAR)
    assert partition.high_watermark == 0
    assert partition.isr_written((ME, NEAR), zk_version=1)
    assert partition.high_watermark == 20


def test_trap_06_too_few_in_sync_replicas_are_refused():
    partition = led(isr=(ME,))
    partition.check_enough_in_sync()
    partition.require_in_sync(2)
    with pytest.raises(ApiError) as refused:
        partition.check_enough_in_sync()
    assert refused.value.code is ErrorCode.NOT_ENOUGH_REPLICAS


def test_a_minimum_above_the_number_of_replicas_asks_for_all_of_them():
    partition = led(isr=(ME,), replicas=(ME,))
    partition.require_in_sync(2)
    partition.check_enough_in_sync()
    assert partition.record_append(20)


def test_nothing_more_is_committed_while_the_isr_is_smaller_than_the_minimum():
    partition = led(isr=(ME, NEAR))
    partition.require_in_sync(2)
    partition.record_append(20)
    partition.record_fetch(NEAR, 15, now_ms=1)
    partition.pending_isr = (ME,)
    assert not partition.isr_written((ME,), zk_version=1)
    assert not partition.record_append(30)
    assert not partition.record_fetch(NEAR, 25, now_ms=2)
    assert partition.high_watermark == 15
    assert partition.isr_with(NEAR) == (ME, NEAR), "what it lacks is not committed"
    partition.pending_isr = (ME, NEAR)
    assert partition.isr_written((ME, NEAR), zk_version=2)
    assert partition.high_watermark == 25


def test_a_leader_that_begins_below_the_minimum_commits_nothing():
    partition = ReplicaPartition(TopicPartition("t", 0), ME, high_watermark=3)
    partition.require_in_sync(2)
    partition.apply(state(isr=(ME,)), log_end_offset=10)
    assert partition.high_watermark == 3
    assert not partition.is_high_watermark_established


def test_a_minimum_that_is_lowered_commits_what_waited_for_it():
    partition = led(isr=(ME,))
    partition.require_in_sync(2)
    partition.record_append(20)
    assert partition.high_watermark == 10
    assert partition.require_in_sync(1)
    assert partition.high_watermark == 20
    assert not partition.require_in_sync(2)
    assert partition.high_watermark == 20, "what was committed stays so"


def test_a_minimum_is_nothing_to_a_follower():
    follower = ReplicaPartition(TopicPartition("t", 0), ME)
    follower.apply(state(leader=NEAR, isr=(NEAR,)), log_end_offset=10)
    assert not follower.require_in_sync(2)
    assert follower.record_fetched(10, leader_high_watermark=10)


def test_who_has_no_role_any_more_wants_no_isr():
    partition = led(isr=(ME, NEAR))
    partition.record_fetch(FAR, 10, now_ms=1)
    partition.resign()
    assert partition.isr_with(FAR) is None
    assert partition.isr_without_laggards(LAG_MAX * 2, LAG_MAX) is None
    assert not partition.record_fetch(NEAR, 10, now_ms=2)


def test_trap_07_a_follower_leaves_by_the_time_since_it_was_caught_up_and_not_by_how_far_it_is_behind():
    partition = led()
    partition.record_append(1_000_000)
    partition.record_fetch(NEAR, 10, now_ms=9_000)
    partition.record_fetch(NEAR, 1_000_000, now_ms=10_000)
    assert partition.isr_without_laggards(10_000, LAG_MAX) is None
    assert partition.isr_without_laggards(10_001, LAG_MAX) == (ME, NEAR)


def test_a_follower_that_keeps_up_with_a_steady_stream_stays_in_sync():
    partition = led()
    for step in range(1, 20):
        partition.record_append(10 + 100 * step)
        for follower in (NEAR, FAR):
            partition.record_fetch(follower, 10 + 100 * (step - 1), now_ms=step * 1_000)
    assert partition.isr_without_laggards(20_000, LAG_MAX) is None


def test_an_idle_partition_loses_no_follower_by_time():
    partition = led()
    for follower in (NEAR, FAR):
        partition.record_fetch(follower, 10, now_ms=1)
    assert partition.isr_without_laggards(10**9, LAG_MAX) is None


def test_the_first_append_after_a_long_silence_counts_nobody_out():
    partition = led()
    partition.record_fetch(NEAR, 10, now_ms=1)
    partition.record_append(20, now_ms=50_000)
    assert partition.isr_without_laggards(50_001, LAG_MAX) == (ME, NEAR), "FAR has never held what there was"
    partition.record_append(30, now_ms=55_000)
    assert partition.isr_without_laggards(60_001, LAG_MAX) == (ME,), "the second append is no excuse"


def test_trap_07_a_follower_joins_only_with_all_that_is_committed_and_all_from_before_this_epoch():
    partition = led(log_end_offset=10, high_watermark=4, isr=(ME, NEAR))
    partition.record_fetch(FAR, 9, now_ms=1)
    assert partition.isr_with(FAR) is None, "it has what is committed, but the leader had more when it began"
    partition.record_fetch(FAR, 10, now_ms=1)
    assert partition.isr_with(FAR) == (ME, NEAR, FAR)


def test_one_change_of_the_isr_is_wanted_at_a_time():
    partition = led(isr=(ME,))
    for follower in (NEAR, FAR):
        partition.record_fetch(follower, 10, now_ms=1)
    partition.pending_isr = partition.isr_with(NEAR)
    assert partition.isr_with(FAR) is None
    partition.isr_written((ME, NEAR), zk_version=1)
    assert partition.isr_with(FAR) == (ME, NEAR, FAR)


def test_what_a_replica_without_assignment_fetches_counts_for_nothing():
    partition = led()
    assert not partition.record_fetch(99, 10, now_ms=1)
    assert partition.isr_with(99) is None


def test_the_controller_repeating_an_older_isr_does_not_undo_a_newer_one():
    partition = led(isr=(ME,), zk_version=3)
    partition.isr_written((ME, NEAR), zk_version=4)
    partition.apply(state(isr=(ME,), zk_version=3), log_end_offset=10)
    assert partition.state.isr == (ME, NEAR)
    assert partition.state.zk_version == 4


def test_a_new_epoch_forgets_what_followers_held():
    partition = led()
    for follower in (NEAR, FAR):
        partition.record_fetch(follower, 10, now_ms=1)
    partition.apply(state(leader_epoch=6), log_end_offset=10)
    partition.record_append(20)
    assert partition.high_watermark == 10
    assert not partition.record_fetch(NEAR, 20, now_ms=2)


def test_trap_5_an_isr_being_written_stays_pending_though_the_controller_repeats_itself():
    """Its write may stand already: without the joining member nothing may count as committed."""
    partition = led(isr=(ME,), high_watermark=10)
    partition.record_fetch(NEAR, 10, now_ms=1)
    partition.pending_isr = partition.isr_with(NEAR)
    partition.apply(state(isr=(ME,)), log_end_offset=10)
    assert partition.pending_isr == (ME, NEAR)
    assert not partition.record_append(20)
    assert partition.high_watermark == 10


def test_what_a_new_controller_read_of_our_own_write_settles_it():
    partition = led(isr=(ME,), high_watermark=10)
    partition.record_fetch(NEAR, 10, now_ms=1)
    partition.pending_isr = partition.isr_with(NEAR)
    partition.apply(state(isr=(ME, NEAR), zk_version=1), log_end_offset=10)
    assert (partition.state.isr, partition.pending_isr) == ((ME, NEAR), None)


def test_nothing_is_committed_while_replicas_outside_the_isr_are_eligible_to_lead():
    partition = led(isr=(ME,))
    partition.require_in_sync(1)
    partition.isr_written((ME,), 1, elr=(NEAR,))
    committed = partition.high_watermark
    assert not partition.record_append(20)
    assert partition.high_watermark == committed
    assert partition.isr_to_write_without_elr() == (ME,)
    assert partition.isr_written((ME,), 2)
    assert partition.high_watermark == 20


def test_a_state_that_a_leader_writes_has_an_elr_while_its_isr_is_below_the_minimum():
    partition = led(isr=(ME, NEAR))
    partition.require_in_sync(2)
    assert partition.elr_beside((ME,)) == (NEAR,)
    partition.isr_written((ME,), 1, elr=(NEAR,))
    assert partition.isr_to_write_without_elr() is None, "it stays, below the minimum"
    assert partition.elr_beside((ME, FAR)) == ()
    partition.require_in_sync(3)
    assert partition.elr_beside((ME, FAR)) == (NEAR,)


def test_a_follower_is_not_concerned_with_the_elr():
    follower = ReplicaPartition(TopicPartition("t", 0), ME)
    follower.apply(LeadershipState(NEAR, 5, (NEAR,), (ME, NEAR), 1, 0, elr=(ME,)), log_end_offset=10)
    assert not follower.has_eligible
    assert follower.isr_to_write_without_elr() is None

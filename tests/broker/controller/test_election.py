"""Who may lead, over every assignment, ISR and set of live brokers of three."""

import itertools

import pytest

from broker.common.cluster import LeaderAndIsr
from broker.controller.election import first_state, next_state, preferred_state, state_after_loss

BROKERS = (1, 2, 3)


def _subsets(members):
    return [subset for size in range(len(members) + 1) for subset in itertools.combinations(members, size)]


def _situations():
    for assignment in itertools.permutations(BROKERS):
        for isr in _subsets(BROKERS)[1:]:
            for leader in (*isr, -1):
                for online in _subsets(BROKERS):
                    yield assignment, LeaderAndIsr(leader, 5, isr, 1, 9), set(online)


def test_leader_is_always_online_and_in_sync():
    for assignment, state, online in _situations():
        after = next_state(assignment, state, online, 2) or state
        if online & set(state.isr):
            assert after.leader in online & set(state.isr)
            assert set(after.isr) == online & set(state.isr)
        else:
            assert after.leader == -1
            assert after.isr == state.isr


def test_every_change_raises_the_leader_epoch_by_one_and_is_the_last():
    for assignment, state, online in _situations():
        after = next_state(assignment, state, online, 2)
        if after is not None:
            assert (after.leader_epoch, after.controller_epoch, after.zk_version) == (6, 2, 9)
            assert next_state(assignment, after, online, 2) is None


def test_leader_that_can_stay_stays():
    for assignment, state, online in _situations():
        if state.leader in online:
            assert (next_state(assignment, state, online, 2) or state).leader == state.leader


def test_the_first_of_the_assignment_is_preferred():
    after = next_state((3, 1, 2), LeaderAndIsr(1, 0, (1, 2, 3), 1), {2, 3}, 1)
    assert (after.leader, after.isr) == (3, (2, 3))


@pytest.mark.parametrize(
    ("online", "leader", "isr"), [({1, 2, 3}, 2, (2, 1, 3)), ({1, 3}, 1, (1, 3)), ({3, 9}, 3, (3,))]
)
def test_new_partition_is_led_by_its_first_live_replica(online, leader, isr):
    assert first_state((2, 1, 3), online, 4) == LeaderAndIsr(leader, 0, isr, 4)


def test_new_partition_without_live_replica_has_no_state():
    assert first_state((2, 1), {3}, 4) is None


def test_trap_11_who_may_have_lost_records_leaves_the_isr_to_all_others_of_it():
    for _, state, _ in _situations():
        after = state_after_loss(state, 1)
        assert set(after.isr) == (set(state.isr) - {1} or {1})
        assert after.leader == (-1 if state.leader == 1 else state.leader)
        assert after.leader_epoch == state.leader_epoch + ((after.leader, after.isr) != (state.leader, state.isr))


def test_trap_11_who_lost_records_is_not_elected_while_a_member_that_kept_its_log_is_away():
    left = state_after_loss(LeaderAndIsr(1, 5, (1, 2), 1), 1)
    assert next_state((1, 2, 3), left, {1, 3}, 2) is None
    assert next_state((1, 2, 3), left, {1, 2, 3}, 2).leader == 2


def test_trap_11_last_of_the_isr_leads_on_but_in_a_later_epoch():
    left = state_after_loss(LeaderAndIsr(1, 5, (1,), 1), 1)
    again = next_state((1, 2, 3), left, {1, 2}, 2)
    assert (again.leader, again.isr, again.leader_epoch) == (1, (1,), 7)


def test_a_leader_without_room_hands_over_to_whoever_of_the_isr_has_room_and_no_other_state_changes_for_it():
    for assignment, state, online in _situations():
        for full in map(set, _subsets(BROKERS)):
            in_sync = online & set(state.isr)
            with_room = in_sync - full
            after = next_state(assignment, state, online, 2, full) or state
            if state.leader in in_sync & full and with_room:
                assert after.leader == next(one for one in assignment if one in with_room)
                assert set(after.isr) == in_sync - {state.leader}
                assert next_state(assignment, after, online, 2, full) is None, "one election, and it stays there"
            elif state.leader in in_sync:
                assert after == (next_state(assignment, state, online, 2) or state)
            else:
                assert (after.leader in with_room) == bool(with_room)
                assert set(after.isr) == (in_sync or set(state.isr))


def test_a_preferred_replica_without_room_is_not_elected():
    state = LeaderAndIsr(2, 5, (1, 2), 1)
    assert preferred_state((1, 2), state, {1, 2}, 1, full={1}) is None
    assert preferred_state((1, 2), state, {1, 2}, 1, full={2}).leader == 1

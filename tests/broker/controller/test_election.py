"""Who may lead, over every assignment, ISR and set of live brokers of three."""

import itertools

import pytest

from broker.common.cluster import NO_LOG, RECOVERED, RECOVERING, LeaderAndIsr, LogLoss
from broker.controller.election import (
    first_state,
    may_lead_empty,
    next_state,
    preferred_state,
    state_after_loss,
    unclean_state,
)

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


def _loss(broker_id: int, end_offset: int = NO_LOG, epoch: int = 5) -> LogLoss:
    return LogLoss(broker_id, -1 if end_offset == NO_LOG else epoch, end_offset)


def test_trap_11_who_may_have_lost_records_leaves_the_isr_to_all_others_of_it():
    for _, state, _ in _situations():
        for loss, is_noted in itertools.product((_loss(1), _loss(1, 90)), (False, True)):
            after = state_after_loss(state, loss, is_noted=is_noted)
            assert set(after.isr) == (set(state.isr) - {1} or {1})
            assert after.leader == (-1 if state.leader == 1 else state.leader)
            assert after.leader_epoch == state.leader_epoch + (after != state)


def test_trap_11_who_lost_records_is_not_elected_while_a_member_that_kept_its_log_is_away():
    left = state_after_loss(LeaderAndIsr(1, 5, (1, 2), 1), _loss(1, 90), is_noted=True)
    assert next_state((1, 2, 3), left, {1, 3}, 2) is None
    assert next_state((1, 2, 3), left, {1, 2, 3}, 2).leader == 2


def test_trap_11_last_of_the_isr_leads_on_but_in_a_later_epoch_and_as_one_that_recovers():
    left = state_after_loss(LeaderAndIsr(1, 5, (1,), 1), _loss(1, 90), is_noted=True)
    again = next_state((1, 2, 3), left, {1, 2}, 2)
    assert (again.leader, again.isr, again.leader_epoch, again.leader_recovery_state) == (1, (1,), 7, RECOVERING)
    assert next_state((1, 2, 3), again, {1, 2}, 2) is None


def test_of_brokers_that_all_report_losses_the_one_whose_log_reaches_furthest_leads_whoever_starts_last():
    ends = {1: (5, 90), 2: (5, 100), 3: (4, 200)}
    for order in itertools.permutations(BROKERS):
        state = LeaderAndIsr(1, 5, BROKERS, 1, 9)
        for broker_id in order:
            epoch, end_offset = ends[broker_id]
            state = state_after_loss(state, LogLoss(broker_id, epoch, end_offset), is_noted=True)
        elected = next_state(BROKERS, state, set(BROKERS), 2)
        assert (elected.leader, elected.isr, elected.log_losses) == (2, (2,), ())


def test_a_broker_without_its_log_that_starts_last_leaves_the_isr_to_the_log_that_reaches_furthest():
    for order in itertools.permutations(BROKERS):
        state = LeaderAndIsr(1, 5, BROKERS, 1, 9)
        for broker_id in order:
            loss = _loss(broker_id) if broker_id == order[-1] else _loss(broker_id, 100 + broker_id)
            state = state_after_loss(state, loss, is_noted=True)
        assert state.isr == (max(order[:-1]),)


def test_the_last_of_the_isr_prefers_its_own_log_to_one_that_reaches_as_far_and_may_not_be_back():
    state = state_after_loss(LeaderAndIsr(1, 5, (0, 1), 1), _loss(1, 90), is_noted=True)
    assert state_after_loss(state, _loss(0, 90), is_noted=True).isr == (0,)


def test_a_chosen_replica_that_reports_another_loss_leaves_to_the_next_best():
    state = LeaderAndIsr(3, 5, BROKERS, 1)
    for loss in (_loss(2, 100), _loss(3, 90), _loss(1), _loss(2)):
        state = state_after_loss(state, loss, is_noted=True)
    assert state.isr == (3,)


def test_only_when_every_replica_has_reported_that_it_has_no_log_may_one_lead_without():
    state = LeaderAndIsr(1, 5, (1,), 1)
    for order in itertools.permutations(BROKERS):
        left = state
        for broker_id in order:
            assert may_lead_empty(left, BROKERS, 1) == (broker_id == 1 and set(order[:2]) == {2, 3}), order
            left = state_after_loss(left, _loss(broker_id), is_noted=True)
        assert left.isr == (1,)
        assert may_lead_empty(left, BROKERS, 1)
        assert not may_lead_empty(left, (*BROKERS, 4), 1)


def test_an_unclean_election_chooses_the_log_that_reaches_furthest_and_else_the_first_of_the_assignment():
    state = LeaderAndIsr(-1, 5, (9,), 1)
    for extents, leader in (
        ({}, 3),
        ({1: (4, 100), 2: (5, 10), 3: (4, 200)}, 2),
        ({1: (4, 100), 2: (4, 100)}, 1),
        ({3: (-1, 0), 1: (0, 1)}, 1),
        ({3: (-1, 0)}, 1),
        ({3: (-1, 0), 1: (-1, 0), 2: (-1, 0)}, 3),
    ):
        elected = unclean_state((3, 1, 2), state, {1, 2, 3}, 2, extents)
        assert (elected.leader, elected.isr, elected.leader_recovery_state) == (leader, (leader,), RECOVERING)
    assert unclean_state((3, 1, 2), state, {1, 3}, 2, {2: (9, 900)}).leader == 3
    assert unclean_state((3, 1, 2), state, {4}, 2, {}) is None
    in_sync = unclean_state((3, 1, 9), state, {1, 3, 9}, 2, {3: (4, 100)})
    assert (in_sync.leader, in_sync.leader_recovery_state) == (9, RECOVERED)


def test_a_loss_under_a_live_leader_is_not_noted_and_losses_are_forgotten_as_soon_as_there_is_a_leader():
    state = LeaderAndIsr(1, 5, (1, 2), 1)
    assert state_after_loss(state, _loss(2, 100), is_noted=False).log_losses == ()
    noted = state_after_loss(state, _loss(2, 100), is_noted=True)
    assert noted.log_losses == (_loss(2, 100),)
    assert next_state(BROKERS, noted, {1, 2}, 2).log_losses == (), "broker 1 is back and has kept its log"
    assert noted.with_isr((1, 2)).log_losses == ()
    away = next_state(BROKERS, noted, {2}, 2)
    assert (away.leader, away.log_losses) == (-1, noted.log_losses)


def test_a_leader_without_room_hands_over_to_whoever_of_the_isr_has_room_and_no_other_state_changes_for_it():
    for assignment, state, online in _situations():
        for full in map(set, _subsets(BROKERS)):
            in_sync = online & set(state.isr)
            with_room = in_sync - full
            after = next_state(assignment, state, online, 2, full) or state
            if state.leader in in_sync & full and with_room:
                assert after.leader == next(one for one in assignment if one in with_room)
                assert set(after.isr) == (in_sync - {state.leader} if len(in_sync) > 2 else in_sync)
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

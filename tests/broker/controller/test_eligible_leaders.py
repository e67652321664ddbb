"""Eligible leader replicas (KIP-966): who is one, who leads of them, and what a loss takes away. Over all of three."""

import itertools

import pytest

from broker.common.cluster import RECOVERED, RECOVERING, LeaderAndIsr, LogLoss
from broker.common.replica_assignment import ReplicaAssignment
from broker.controller.election import (
    last_state,
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
    """Yield each assignment with each legal state, set of online brokers and min.insync.replicas."""
    states = []
    for isr in _subsets(BROKERS):
        for elr in _subsets([broker for broker in BROKERS if broker not in isr]):
            for leader in (*isr, -1):
                for last_known in ((), *((broker,) for broker in BROKERS)) if leader == -1 else ((),):
                    states.append(LeaderAndIsr(leader, 5, isr, 1, 9, elr=elr, last_known_elr=last_known))
    for assignment in ((1, 2, 3), (3, 1, 2)):
        for state, online, min_isr in itertools.product(states, _subsets(BROKERS), (1, 2, 3)):
            yield assignment, state, set(online), min_isr


def state_of(isr, elr=(), leader=None, **given) -> LeaderAndIsr:
    return LeaderAndIsr((isr or (-1,))[0] if leader is None else leader, 5, tuple(isr), 1, elr=tuple(elr), **given)


def test_the_leader_is_of_the_isr_then_of_the_elr_and_then_the_last_leader_as_one_that_recovers():
    for assignment, state, online, min_isr in _situations():
        after = next_state(assignment, state, online, 2, min_isr=min_isr) or state
        if online & set(state.isr):
            assert after.leader in online & set(state.isr)
        elif online & set(state.elr):
            assert after.leader in online & set(state.elr)
            assert after.isr == (after.leader,)
            assert after.leader_recovery_state == RECOVERED
        elif not state.lossless_candidates and online & set(state.last_known_elr):
            assert (after.leader, after.leader_recovery_state) == (state.last_known_elr[0], RECOVERING)
        else:
            assert (after.leader, after.isr) == (-1, ())


def test_no_candidate_is_forgotten_and_none_is_made_up_while_the_isr_is_below_its_minimum():
    for assignment, state, online, min_isr in _situations():
        after = next_state(assignment, state, online, 2, min_isr=min_isr) or state
        assert not set(after.isr) & set(after.elr)
        if state.lossless_candidates:
            assert set(after.lossless_candidates) <= set(state.lossless_candidates)
            if len(after.isr) < min_isr:
                assert set(after.lossless_candidates) == set(state.lossless_candidates)
        if after != state and len(after.isr) >= min_isr:
            assert after.elr == ()
        assert after.last_known_elr == () or not after.has_leader


def test_every_change_raises_the_leader_epoch_by_one_and_is_the_last():
    for assignment, state, online, min_isr in _situations():
        after = next_state(assignment, state, online, 2, min_isr=min_isr)
        if after is not None:
            assert (after.leader_epoch, after.controller_epoch, after.zk_version) == (6, 2, 9)
            assert next_state(assignment, after, online, 2, min_isr=min_isr) is None


def test_who_led_last_is_known_of_a_partition_without_a_leader():
    after = next_state(BROKERS, state_of((2,), (3,)), {1}, 2, min_isr=2)
    assert (after.leader, after.isr, after.elr, after.last_known_elr) == (-1, (), (2, 3), (2,))
    assert next_state(BROKERS, after, {1, 2}, 2, min_isr=2).last_known_elr == ()


def test_an_elected_elr_member_has_a_full_isr_of_one_where_one_is_enough():
    left = next_state(BROKERS, state_of((1,)), {2, 3}, 2, min_isr=1)
    assert (left.isr, left.elr) == ((), (1,))
    again = next_state(BROKERS, left, {1}, 2, min_isr=1)
    assert (again.leader, again.isr, again.elr) == (1, (1,), ())


def test_without_the_feature_an_empty_isr_is_filled_with_the_candidates_and_nothing_else_changes():
    for assignment, state, online, _ in _situations():
        after = next_state(assignment, state, online, 2) or state
        assert (after.elr, after.last_known_elr) == ((), ())
        if state.elr == state.last_known_elr == ():
            assert (next_state(assignment, state, online, 2) or state).isr == after.isr
    closed = next_state(BROKERS, state_of((), (2, 3), last_known_elr=(1,)), {1}, 2)
    assert (closed.leader, closed.isr) == (-1, (2, 3))
    opened = next_state(BROKERS, state_of((), (), last_known_elr=(1,)), {1}, 2)
    assert (opened.leader, opened.isr) == (1, (1,))


def _loss(broker_id: int, end_offset: int = 90, epoch: int = 5) -> LogLoss:
    return LogLoss(broker_id, epoch, end_offset)


def test_the_last_of_the_isr_that_lost_its_tail_leaves_the_lead_to_who_left_the_isr_before():
    alone = next_state(BROKERS, state_of((1, 2)), {1}, 1, min_isr=2)
    assert (alone.leader, alone.isr, alone.elr) == (1, (1,), (2,))
    away = next_state(BROKERS, alone, set(), 1, min_isr=2)
    back = state_after_loss(away, _loss(1), is_noted=True, keeps_eligible=True)
    assert (back.isr, back.elr, back.last_known_elr) == ((), (2,), (1,))
    assert next_state(BROKERS, back, {1, 3}, 1, min_isr=2) is None, "it does not lead, and broker 2 is waited for"
    elected = next_state(BROKERS, back, {1, 2}, 1, min_isr=2)
    assert (elected.leader, elected.isr, elected.elr, elected.leader_recovery_state) == (2, (2,), (), RECOVERED)


def test_the_same_when_no_controller_saw_it_go():
    back = state_after_loss(state_of((1,), (2,)), _loss(1), is_noted=True, keeps_eligible=True)
    assert (back.leader, back.isr, back.elr, back.last_known_elr) == (-1, (), (2,), (1,))


def test_who_may_have_lost_records_leaves_isr_and_elr():
    for _, state, _, _ in _situations():
        for is_noted in (False, True):
            after = state_after_loss(state, _loss(1), is_noted=is_noted, keeps_eligible=True)
            assert set(after.lossless_candidates) == set(state.lossless_candidates) - {1}
            assert after.leader == (-1 if state.leader == 1 else state.leader)
            assert after.leader_epoch == state.leader_epoch + (after != state)
            assert after.has_known_isr == state.has_known_isr


def test_when_all_candidates_lost_records_the_log_that_reaches_furthest_leads_as_one_that_recovers():
    ends = {1: (5, 90), 2: (5, 100), 3: (4, 200)}
    for order in itertools.permutations(BROKERS):
        state = state_of((1,), (2, 3))
        for broker_id in order:
            epoch, end_offset = ends[broker_id]
            state = state_after_loss(state, _loss(broker_id, end_offset, epoch), is_noted=True, keeps_eligible=True)
        assert (state.isr, state.elr, state.last_known_elr) == ((), (), (2,))
        elected = next_state(BROKERS, state, set(BROKERS), 2, min_isr=2)
        assert (elected.leader, elected.isr, elected.leader_recovery_state) == (2, (2,), RECOVERING)
        assert (elected.elr, elected.last_known_elr, elected.log_losses) == ((), (), ())


def test_a_last_known_leader_that_reports_another_loss_leaves_to_the_next_best():
    state = state_of((3,), (1, 2))
    for loss in (_loss(2, 100), _loss(3, 80), _loss(1, 90), LogLoss(2, -1, -1)):
        state = state_after_loss(state, loss, is_noted=True, keeps_eligible=True)
    assert state.last_known_elr == (1,)
    assert not may_lead_empty(state, BROKERS, 1)


def test_a_partition_of_which_no_replica_ever_had_a_log_recovers_nothing():
    state = state_of((1,), (2, 3))
    for broker_id in BROKERS:
        state = state_after_loss(state, LogLoss(broker_id, -1, -1), is_noted=True, keeps_eligible=True)
    elected = next_state(BROKERS, state, {3}, 2, min_isr=2)
    assert (elected.leader, elected.leader_recovery_state) == (3, RECOVERED)


def test_losses_without_the_feature_are_as_before_and_take_what_is_left_of_the_elr():
    after = state_after_loss(state_of((1,), (2,)), _loss(1), is_noted=True)
    assert (after.isr, after.elr, after.last_known_elr) == ((2,), (), ())


def test_an_unclean_election_prefers_an_eligible_leader_and_else_leaves_nobody_eligible():
    state = state_of((), (2,), last_known_elr=(1,))
    clean = unclean_state(BROKERS, state, {2, 3}, 2, {3: (9, 900)})
    assert (clean.leader, clean.elr, clean.leader_recovery_state) == (2, (), RECOVERED)
    unclean = unclean_state(BROKERS, state, {1, 3}, 2, {3: (9, 900)})
    assert (unclean.leader, unclean.isr, unclean.elr, unclean.leader_recovery_state) == (3, (3,), (), RECOVERING)


def test_the_preferred_leader_is_of_the_isr():
    assert preferred_state(BROKERS, state_of((2,), (1,)), {1, 2}, 2) is None


@pytest.mark.parametrize(("min_isr", "elr"), [(2, ()), (3, (2,))])
def test_a_move_that_ends_leaves_only_its_targets_eligible(min_isr, elr):
    assignment = ReplicaAssignment((1, 2, 4, 3), adding=(4,), removing=(3,))
    after = last_state(assignment, state_of((1, 4, 3), (2,)), {1, 3, 4}, 2, min_isr)
    assert after is None, "not all of the target is in sync"
    back = ReplicaAssignment((1, 2, 3, 4), adding=(4,), removing=(4,))
    after = last_state(back, state_of((1, 4, 3), (2,)), {1, 3, 4}, 2, min_isr)
    assert (after.isr, after.elr) == ((1, 3), elr)

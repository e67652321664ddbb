"""One step of a member towards its target: it gives up first, then it gets."""

from uuid import UUID

import pytest

from broker.common.errors import ApiError, ErrorCode
from broker.coordinator.consumer_group.member import ConsumerGroupMember, MemberState
from broker.coordinator.consumer_group.reconciliation import Reconciliation

A, B = UUID(int=1), UUID(int=2)


def member(state=MemberState.STABLE, epoch=5, assigned=None, pending=None):
    return ConsumerGroupMember("m", epoch=epoch, previous_epoch=4, state=state, **_fields(assigned, pending))


def _fields(assigned, pending):
    return {"assigned": assigned or {}, "pending_revocation": pending or {}}


def step(member, target, *, reported=None, taken=(), subscribed=(A, B), changed=False):
    reconciliation = Reconciliation(
        {topic_id: frozenset(indexes) for topic_id, indexes in target.items()},
        6,
        lambda topic_id, index: (topic_id, index) not in taken,
        subscribed.__contains__,
        None if reported is None else {topic_id: frozenset(indexes) for topic_id, indexes in reported.items()},
        changed,
    )
    return reconciliation.next_of(member)


def test_member_that_has_its_target_stays_as_it_is():
    stable = member(epoch=6, assigned={A: {0: 3}})
    assert step(stable, {A: [0]}) is stable


def test_member_gets_what_is_free_and_remembers_in_which_epoch():
    after = step(member(assigned={A: {0: 3}}), {A: [0, 1]})
    assert (after.epoch, after.previous_epoch, after.state) == (6, 5, MemberState.STABLE)
    assert after.assigned == {A: {0: 3, 1: 6}}


def test_member_gives_up_before_it_gets_anything():
    after = step(member(assigned={A: {0: 3, 1: 3}}), {A: [0], B: [0]}, reported={A: [0, 1]})
    assert (after.epoch, after.state) == (5, MemberState.UNREVOKED_PARTITIONS)
    assert (after.assigned, after.pending_revocation) == ({A: {0: 3}}, {A: {1: 3}})


@pytest.mark.parametrize("reported", [None, {A: [0, 1]}])
def test_member_that_does_not_say_that_it_gave_up_waits(reported):
    before = member(MemberState.UNREVOKED_PARTITIONS, assigned={A: {0: 3}}, pending={A: {1: 3}})
    assert step(before, {A: [0]}, reported=reported) is before


def test_member_that_gave_up_goes_on_to_the_target():
    before = member(MemberState.UNREVOKED_PARTITIONS, assigned={A: {0: 3}}, pending={A: {1: 3}})
    after = step(before, {A: [0], B: [0]}, reported={A: [0]})
    assert (after.epoch, after.state, after.pending_revocation) == (6, MemberState.STABLE, {})
    assert after.assigned == {A: {0: 3}, B: {0: 6}}


def test_member_that_was_to_give_up_what_it_is_to_have_again_keeps_it_as_new():
    before = member(MemberState.UNREVOKED_PARTITIONS, assigned={}, pending={A: {1: 3}})
    after = step(before, {A: [1]}, reported={}, taken={(A, 1)})
    assert after.assigned == {A: {1: 6}}


def test_member_waits_for_what_others_have_not_given_up():
    waiting = step(member(), {A: [0, 1]}, taken={(A, 1)})
    assert (waiting.epoch, waiting.state) == (6, MemberState.UNRELEASED_PARTITIONS)
    assert waiting.assigned == {A: {0: 6}}
    assert step(waiting, {A: [0, 1]}, taken={(A, 1)}) is waiting
    assert step(waiting, {A: [0, 1]}).assigned == {A: {0: 6, 1: 6}}


def test_member_waits_for_a_target_it_has_nothing_of_yet():
    assert step(member(), {A: [0]}, taken={(A, 0)}).state is MemberState.UNRELEASED_PARTITIONS


def test_topics_that_are_subscribed_to_no_more_are_given_up_although_the_target_has_them():
    before = member(epoch=6, assigned={A: {0: 3}, B: {0: 4}})
    after = step(before, {A: [0], B: [0]}, subscribed=(A,), reported={A: [0], B: [0]}, changed=True)
    assert (after.epoch, after.state) == (6, MemberState.UNREVOKED_PARTITIONS)
    assert (after.assigned, after.pending_revocation) == ({A: {0: 3}}, {B: {0: 4}})
    assert step(before, {A: [0], B: [0]}, subscribed=(A,), reported={A: [0]}, changed=True).assigned == {A: {0: 3}}


def test_member_of_an_unknown_state_is_fenced_until_it_owns_nothing():
    unknown = member(MemberState.UNKNOWN, assigned={})
    with pytest.raises(ApiError) as refused:
        step(unknown, {A: [0]}, reported={A: [0]})
    assert refused.value.code is ErrorCode.FENCED_MEMBER_EPOCH
    assert step(unknown, {A: [0]}, reported={}).assigned == {A: {0: 6}}

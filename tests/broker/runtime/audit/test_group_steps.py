"""What is told of a group's commits."""

from hypothesis import given
from hypothesis import strategies as st

from broker.audit.increment import AuditTier, Chain, Increment
from broker.audit.path import GroupPath
from broker.common.types import TopicPartition
from broker.runtime.audit.group_steps import STEPS_MAX, GroupSteps

HERE = TopicPartition("t", 0)


def steps_of(*commits, before=None):
    """`commits` are offsets, or (offset, False) for one by nobody who is a member."""
    steps = GroupSteps()
    for commit in commits:
        offset, by_member = commit if isinstance(commit, tuple) else (commit, True)
        steps.note("g", HERE, before, offset, by_member=by_member)
        before = offset
    return [step for _, taken in steps.take(10) for step in taken]


def test_a_group_that_goes_on_makes_one_step():
    assert steps_of(5, 5, 9, before=3) == [[3, 9]]
    assert steps_of(5, 9) == [[5, 9]]


def test_a_group_that_goes_back_begins_another():
    assert steps_of(9, 4, 7, before=3) == [[3, 9], [4, 7]]


def test_who_is_no_member_goes_over_nothing():
    assert steps_of((9, False), 12, before=3) == [[3, 3], [9, 12]]


def test_an_offset_that_is_none_is_no_step():
    assert steps_of(-1, before=3) == []


def test_what_is_taken_is_gone_and_the_next_step_goes_on_from_it():
    steps = GroupSteps()
    steps.note("g", HERE, None, 5, by_member=True)
    assert steps.topics() == {"t"}
    assert [*steps.take(10)] == [(("g", HERE), [[5, 5]])]
    assert len(steps) == 0
    steps.note("g", HERE, 5, 8, by_member=True)
    assert [*steps.take(10)] == [(("g", HERE), [[5, 8]])]


def test_a_group_that_goes_to_and_fro_is_bounded():
    assert len(steps_of(*[5, 3] * 100)) == STEPS_MAX


@given(st.lists(st.tuples(st.integers(0, 20), st.booleans()), max_size=STEPS_MAX // 2), st.lists(st.integers(0, 12)))
def test_a_path_is_where_the_group_is_and_covers_what_its_members_went_over(commits, tellings):
    steps, path, sequence = GroupSteps(), GroupPath(), 0
    before, gone_over = None, set()

    def tell():
        nonlocal sequence
        for _, taken in steps.take(10):
            for start, end in taken:
                assert path.add(Increment(Chain(AuditTier.COMMITTED, "g", "t", 0), "e", sequence, 0, {}, start, end))
                sequence += 1

    for number, (offset, by_member) in enumerate(commits):
        steps.note("g", HERE, before, offset, by_member=by_member)
        if by_member and before is not None:
            gone_over |= set(range(before, offset))
        before = offset
        if number in tellings:
            tell()
    tell()
    if before is not None:
        assert path.position == before
        assert {index for index in range(21) if path.covers(index, index + 1)} == gone_over

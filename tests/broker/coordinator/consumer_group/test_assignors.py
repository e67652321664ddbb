"""The assignors of consumer groups: everything assigned once, balanced, and as little moved as that takes."""

from collections import Counter
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker.coordinator.consumer_group.assignors import ASSIGNORS, AssignableMember, assign_range, assign_uniform

A, B, C = UUID(int=1), UUID(int=2), UUID(int=3)


def member(member_id, *topic_ids, target=None, instance_id=None):
    target = {topic_id: frozenset(indexes) for topic_id, indexes in (target or {}).items()}
    return AssignableMember(member_id, instance_id, frozenset(topic_ids), target)


def listed(assigned):
    return {
        member_id: {topic_id: sorted(indexes) for topic_id, indexes in partitions.items()}
        for member_id, partitions in assigned.items()
    }


def test_range_gives_the_same_partitions_of_every_topic():
    members = [member("m1", A, B), member("m0", A, B)]
    assert listed(assign_range(members, {A: 3, B: 3})) == {
        "m0": {A: [0, 1], B: [0, 1]},
        "m1": {A: [2], B: [2]},
    }


def test_range_puts_static_members_first_by_their_names():
    members = [member("a", A), member("z", A, instance_id="i1"), member("y", A, instance_id="i2")]
    assert listed(assign_range(members, {A: 3})) == {"z": {A: [0]}, "y": {A: [1]}, "a": {A: [2]}}


def test_range_looks_at_the_subscribers_of_each_topic_alone():
    assigned = assign_range([member("m0", A), member("m1", A, B), member("m2", B)], {A: 2, B: 3})
    assert listed(assigned) == {"m0": {A: [0]}, "m1": {A: [1], B: [0, 1]}, "m2": {B: [2]}}


def test_more_members_than_partitions_leave_some_with_nothing():
    for assign in ASSIGNORS.values():
        assigned = assign([member(f"m{n}", A) for n in range(3)], {A: 2})
        assert sorted(sum(map(len, partitions.values())) for partitions in assigned.values()) == [0, 1, 1]


def test_uniform_takes_from_a_member_only_what_it_has_too_much_of():
    old = [member("m0", A, target={A: [0, 1, 2]}), member("m1", A, target={A: [3, 4, 5]})]
    assigned = listed(assign_uniform([*old, member("m2", A)], {A: 6}))
    assert set(assigned["m0"][A]) < {0, 1, 2}
    assert set(assigned["m1"][A]) < {3, 4, 5}
    assert len(assigned["m2"][A]) == 2


def test_uniform_changes_nothing_where_all_is_balanced():
    members = [member("m0", A, target={A: [1, 4]}), member("m1", A, target={A: [0, 2, 3]})]
    assert listed(assign_uniform(members, {A: 5})) == {"m0": {A: [1, 4]}, "m1": {A: [0, 2, 3]}}


def test_uniform_gives_what_a_member_left_to_the_others():
    members = [member("m0", A, target={A: [0, 1]}), member("m1", A, target={A: [2, 3]})]
    assert listed(assign_uniform(members, {A: 6})) == {"m0": {A: [0, 1, 5]}, "m1": {A: [2, 3, 4]}}


def test_uniform_takes_away_partitions_that_are_gone_and_topics_without_subscription():
    members = [member("m0", B, target={A: [0], B: [0, 7]})]
    assert listed(assign_uniform(members, {B: 2})) == {"m0": {B: [0, 1]}}


def test_uniform_balances_what_subscriptions_allow():
    members = [member("m0", A, B, target={A: [0, 1], B: [0, 1]}), member("m1", B)]
    assert listed(assign_uniform(members, {A: 2, B: 2})) == {"m0": {A: [0, 1]}, "m1": {B: [0, 1]}}


SUBSCRIPTIONS = st.lists(st.frozensets(st.sampled_from([A, B, C])), min_size=1, max_size=6)
COUNTS = st.fixed_dictionaries({topic_id: st.integers(1, 9) for topic_id in (A, B, C)})


@pytest.mark.parametrize("assign", ASSIGNORS.values(), ids=ASSIGNORS)
@given(before=SUBSCRIPTIONS, after=SUBSCRIPTIONS, counts=COUNTS)
@settings(max_examples=150, deadline=None)
def test_every_subscribed_partition_is_assigned_once_to_a_subscriber(assign, before, after, counts):
    earlier = assign([member(f"m{n}", *topic_ids) for n, topic_ids in enumerate(before)], counts)
    members = [
        member(f"m{n}", *topic_ids, target=earlier.get(f"m{n}"))
        for n, topic_ids in enumerate(after, start=len(after) % 3)
    ]
    assigned = assign(members, counts)
    owners = Counter(
        (topic_id, index)
        for partitions in assigned.values()
        for topic_id, indexes in partitions.items()
        for index in indexes
    )
    subscribed = frozenset().union(*after)
    assert owners == Counter((topic_id, index) for topic_id in subscribed for index in range(counts[topic_id]))
    assert all(assigned[m.member_id].keys() <= m.topic_ids for m in members)


@given(before=st.integers(1, 7), after=st.integers(1, 7), counts=COUNTS)
@settings(max_examples=100, deadline=None)
def test_uniform_differs_by_one_at_most_and_moves_no_more_than_it_must(before, after, counts):
    earlier = assign_uniform([member(f"m{n}", A, B, C) for n in range(before)], counts)
    assigned = assign_uniform([member(f"m{n}", A, B, C, target=earlier.get(f"m{n}")) for n in range(after)], counts)
    sizes = {member_id: sum(map(len, partitions.values())) for member_id, partitions in assigned.items()}
    assert max(sizes.values()) - min(sizes.values()) <= 1
    kept = sum(
        len(indexes & earlier.get(m, {}).get(t, frozenset())) for m, p in assigned.items() for t, indexes in p.items()
    )
    stayed = [sum(map(len, earlier[f"m{n}"].values())) for n in range(min(before, after))]
    quota, extra = divmod(sum(counts.values()), after)
    assert kept == sum(min(held, quota + (place < extra)) for place, held in enumerate(sorted(stayed, reverse=True)))


def _owned(assigned):
    return {
        (member_id, topic_id, index)
        for member_id, partitions in assigned.items()
        for topic_id, indexes in partitions.items()
        for index in indexes
    }

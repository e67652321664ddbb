"""Round robin over brokers, against the table in Kafka's own documentation and against every small cluster."""

import itertools
from collections import Counter

import pytest

from broker.common.errors import ApiError, ErrorCode
from broker.controller.placement import check_assignment, place_replicas


def test_ten_partitions_on_five_brokers_are_kafkas_example():
    assert place_replicas([0, 1, 2, 3, 4], 10, 3, start_index=0, shift=0) == {
        0: (0, 1, 2),
        1: (1, 2, 3),
        2: (2, 3, 4),
        3: (3, 4, 0),
        4: (4, 0, 1),
        5: (0, 2, 3),
        6: (1, 3, 4),
        7: (2, 4, 0),
        8: (3, 0, 1),
        9: (4, 1, 2),
    }


def test_start_index_moves_the_first_replica():
    assert place_replicas([10, 20, 30], 3, 1, start_index=2, shift=0) == {0: (30,), 1: (10,), 2: (20,)}


def test_one_broker_takes_all():
    assert place_replicas([7], 3, 1, start_index=0, shift=5) == {0: (7,), 1: (7,), 2: (7,)}


def test_partitions_added_go_on_where_the_topic_ended():
    added = place_replicas([1, 2, 3], 2, 1, start_index=1, shift=0, first_partition=3)
    assert added == {3: (2,), 4: (3,)}


@pytest.mark.parametrize("brokers", range(1, 6))
def test_replicas_are_distinct_and_leaders_even(brokers):
    for factor, start, shift in itertools.product(range(1, brokers + 1), range(brokers), range(brokers)):
        placed = place_replicas(range(brokers), 2 * brokers, factor, start, shift)
        assert all(len(set(replicas)) == factor for replicas in placed.values())
        assert set(Counter(replicas[0] for replicas in placed.values()).values()) == {2}


@pytest.mark.parametrize(
    ("partitions", "factor", "code"),
    [
        (0, 1, ErrorCode.INVALID_PARTITIONS),
        (1, 0, ErrorCode.INVALID_REPLICATION_FACTOR),
        (1, 3, ErrorCode.INVALID_REPLICATION_FACTOR),
    ],
)
def test_what_cannot_be_placed_is_refused(partitions, factor, code):
    with pytest.raises(ApiError) as refusal:
        place_replicas([1, 2], partitions, factor, 0, 0)
    assert refusal.value.code is code


def test_no_brokers_cannot_hold_anything():
    with pytest.raises(ApiError) as refusal:
        place_replicas([], 1, 1, 0, 0)
    assert refusal.value.code is ErrorCode.INVALID_REPLICATION_FACTOR


def test_assignment_by_hand_is_taken_as_it_is():
    assert check_assignment({1: [2], 0: [1]}, {1, 2}) == {0: (1,), 1: (2,)}


@pytest.mark.parametrize("assignment", [{}, {1: [1]}, {0: []}, {0: [1, 1]}, {0: [1, 2], 1: [1]}, {0: [3]}], ids=str)
def test_assignment_that_cannot_be_is_refused(assignment):
    with pytest.raises(ApiError) as refusal:
        check_assignment(assignment, {1, 2})
    assert refusal.value.code is ErrorCode.INVALID_REPLICA_ASSIGNMENT

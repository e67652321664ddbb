"""Round robin over brokers, against the table in Kafka's own documentation and against every small cluster."""

import itertools
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as draw

from broker.common.errors import ApiError, ErrorCode
from broker.controller.placement import alternate_racks, check_assignment, place_replicas


def no_racks(*broker_ids: int) -> dict[int, None]:
    return dict.fromkeys(broker_ids)


def test_ten_partitions_on_five_brokers_are_kafkas_example():
    assert place_replicas(no_racks(0, 1, 2, 3, 4), 10, 3, start_index=0, shift=0) == {
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
    assert place_replicas(no_racks(10, 20, 30), 3, 1, start_index=2, shift=0) == {0: (30,), 1: (10,), 2: (20,)}


def test_one_broker_takes_all():
    assert place_replicas(no_racks(7), 3, 1, start_index=0, shift=5) == {0: (7,), 1: (7,), 2: (7,)}


def test_partitions_added_go_on_where_the_topic_ended():
    added = place_replicas(no_racks(1, 2, 3), 2, 1, start_index=1, shift=0, first_partition=3)
    assert added == {3: (2,), 4: (3,)}


@pytest.mark.parametrize("brokers", range(1, 6))
def test_replicas_are_distinct_and_leaders_even(brokers):
    for factor, start, shift in itertools.product(range(1, brokers + 1), range(brokers), range(brokers)):
        placed = place_replicas(no_racks(*range(brokers)), 2 * brokers, factor, start, shift)
        assert all(len(set(replicas)) == factor for replicas in placed.values())
        assert set(Counter(replicas[0] for replicas in placed.values()).values()) == {2}


#: Six brokers in three racks, as in the text of KIP-36.
KIP_36 = {0: "rack1", 1: "rack3", 2: "rack3", 3: "rack2", 4: "rack2", 5: "rack1"}


def test_brokers_are_taken_in_turn_from_each_rack_as_in_kip_36():
    assert alternate_racks(KIP_36) == [0, 3, 1, 5, 4, 2]


def test_three_replicas_in_three_racks_are_the_example_of_kip_36():
    assert place_replicas(KIP_36, 7, 3, start_index=0, shift=0) == {
        0: (0, 3, 1),
        1: (3, 1, 5),
        2: (1, 5, 4),
        3: (5, 4, 2),
        4: (4, 2, 0),
        5: (2, 0, 3),
        6: (0, 4, 2),
    }


def test_racks_that_only_some_brokers_name_do_not_count():
    some = {1: "a", 2: "a", 3: None}
    assert place_replicas(some, 4, 2, 1, 1) == place_replicas(no_racks(1, 2, 3), 4, 2, 1, 1)


@given(draw.data(), draw.integers(0, 20), draw.integers(0, 20), draw.integers(0, 30))
def test_replicas_stand_in_as_many_racks_as_there_are(data, start, shift, first):
    racks = data.draw(draw.dictionaries(draw.integers(0, 40), draw.sampled_from("abcd"), min_size=1, max_size=9))
    factor = data.draw(draw.integers(1, len(racks)))
    placed = place_replicas(racks, 12, factor, start, shift, first)
    assert list(placed) == list(range(first, first + 12))
    for replicas in placed.values():
        assert len(set(replicas)) == factor
        assert len({racks[replica] for replica in replicas}) == min(factor, len(set(racks.values())))


@given(draw.integers(1, 4), draw.integers(1, 3), draw.integers(0, 20), draw.integers(0, 20))
def test_racks_of_one_size_get_leaders_and_replicas_evenly(rack_count, rack_size, start, shift):
    racks = {number: "abcd"[number % rack_count] for number in range(rack_count * rack_size)}
    for factor in range(1, rack_count + 1):
        placed = place_replicas(racks, 2 * len(racks), factor, start, shift)
        leaders = Counter(replicas[0] for replicas in placed.values())
        assert set(leaders.values()) == {2}
        in_rack = Counter(racks[replica] for replicas in placed.values() for replica in replicas)
        assert set(in_rack.values()) == {2 * rack_size * factor}


@given(draw.integers(2, 8), draw.integers(0, 20), draw.integers(0, 20))
def test_every_broker_gets_as_many_replicas_over_full_rounds(brokers, start, shift):
    for factor in range(1, brokers + 1):
        placed = place_replicas(no_racks(*range(brokers)), brokers * (brokers - 1), factor, start, shift)
        held = Counter(replica for replicas in placed.values() for replica in replicas)
        assert set(held.values()) == {(brokers - 1) * factor}


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
        place_replicas(no_racks(1, 2), partitions, factor, 0, 0)
    assert refusal.value.code is code


def test_no_brokers_cannot_hold_anything():
    with pytest.raises(ApiError) as refusal:
        place_replicas({}, 1, 1, 0, 0)
    assert refusal.value.code is ErrorCode.INVALID_REPLICATION_FACTOR


def test_assignment_by_hand_is_taken_as_it_is():
    assert check_assignment({1: [2], 0: [1]}, {1, 2}) == {0: (1,), 1: (2,)}


@pytest.mark.parametrize("assignment", [{}, {1: [1]}, {0: []}, {0: [1, 1]}, {0: [1, 2], 1: [1]}, {0: [3]}], ids=str)
def test_assignment_that_cannot_be_is_refused(assignment):
    with pytest.raises(ApiError) as refusal:
        check_assignment(assignment, {1, 2})
    assert refusal.value.code is ErrorCode.INVALID_REPLICA_ASSIGNMENT

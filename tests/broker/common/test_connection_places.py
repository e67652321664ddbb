"""Which connection gives way when a server has no place left."""

import pytest

from broker.common.connection_places import ConnectionPlaces


@pytest.fixture
def places():
    """Four places, at most three for one address."""
    return ConnectionPlaces(most=4, per_address=3)


def taken(places, *connections):
    return [places.take(connection[0], connection) for connection in connections]


def test_nothing_gives_way_while_there_is_room(places):
    assert taken(places, "a1", "a2", "a3", "b1") == [None] * 4


def test_the_longest_idle_connection_of_the_address_with_the_most_gives_way(places):
    taken(places, "b1", "a1", "a2", "a3")
    places.touch("a", "a1")
    assert taken(places, "c1", "d1", "e1") == ["a2", "a3", "b1"]


def test_an_address_at_its_bound_gives_way_to_itself(places):
    assert taken(places, "a1", "a2", "a3", "a4", "a5") == [None, None, None, "a1", "a2"]


def test_an_address_with_as_many_as_another_takes_nothing_from_it(places):
    taken(places, "a1", "a2", "b1", "b2")
    assert taken(places, "b3") == ["b1"]


def test_of_addresses_with_one_connection_each_the_longest_idle_one_gives_way(places):
    taken(places, "a1", "b1", "c1", "d1")
    places.touch("a", "a1")
    assert taken(places, "e1", "f1") == ["b1", "c1"]


def test_a_released_place_is_free_once(places):
    taken(places, "a1", "a2", "a3", "b1")
    for _ in range(3):
        places.release("a", "a1")
    assert taken(places, "a4", "c1") == [None, "a2"]


def test_an_evicted_connection_takes_no_place_back_by_its_end_or_a_late_byte(places):
    taken(places, "a1", "a2", "a3", "a4")
    places.touch("a", "a1")
    places.release("a", "a1")
    assert taken(places, "b1", "c1") == [None, "a2"]


def test_a_connection_that_waits_for_its_answer_gives_way_after_all_idle_ones():
    answering = {"a1", "a3"}
    places = ConnectionPlaces(4, 3, answering.__contains__)
    assert taken(places, "a1", "a2", "a3", "a4", "a5") == [None, None, None, "a2", "a4"]
    answering |= {"a5"}
    assert taken(places, "a6") == ["a1"], "one of them has to"
    assert taken(places, "b1", "b2") == [None, "a6"]

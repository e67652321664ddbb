"""Bytes that came in, from the sizes of the leaders' logs."""

from console.cluster.brokers.growth import appended_bytes

PLACE, OTHER = ("orders", 0), ("orders", 1)


def test_only_the_leaders_log_counts():
    before, after = {PLACE: {1: 100, 2: 50}}, {PLACE: {1: 160, 2: 100}}
    assert appended_bytes(before, after, {PLACE: 1}) == {1: 60}


def test_a_log_that_retention_cut_takes_nothing_away_from_others():
    before, after = {PLACE: {1: 100}, OTHER: {1: 10}}, {PLACE: {1: 20}, OTHER: {1: 15}}
    assert appended_bytes(before, after, {PLACE: 1, OTHER: 1}) == {1: 5}


def test_a_log_seen_for_the_first_time_or_without_leader_has_not_grown():
    assert appended_bytes({}, {PLACE: {1: 100}, OTHER: {1: 5}}, {PLACE: 1, OTHER: None}) == {}

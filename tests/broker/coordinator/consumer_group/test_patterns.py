"""Subscriptions by patterns of RE2: whole names, each once, and what is none of RE2's."""

import time

import pytest

from broker.common.errors import ApiError, ErrorCode
from broker.coordinator.consumer_group.patterns import topics_matching

NAMES = ["a", "ab", "b.c", "orders", "orders.eu.v10", "Orders-1", "été"]


@pytest.mark.parametrize(
    ("pattern", "matching"),
    [
        ("orders", {"orders"}),
        ("order", set()),
        (r"orders(\..*)?", {"orders", "orders.eu.v10"}),
        ("(?i)orders.*", {"orders", "orders.eu.v10", "Orders-1"}),
        (r"\Qb.c\E|[[:lower:]]", {"a", "b.c"}),
        (r"\pL+", {"a", "ab", "orders", "été"}),
        ("", set()),
    ],
)
def test_a_pattern_matches_whole_names(pattern, matching):
    assert topics_matching(pattern, NAMES) == matching


def test_names_that_come_and_go_are_matched_anew():
    assert topics_matching("a.*", ["ab", "b"]) == {"ab"}
    assert topics_matching("a.*", ["ac", "b"]) == {"ac"}
    assert topics_matching("a.*", []) == set()


@pytest.mark.parametrize("pattern", ["(", "a**", "(?=a)", r"(a)\1", "a{1001}", "[z-a]", "((a{100}){100}){100}"])
def test_what_is_none_of_re2_is_refused_with_its_reason(pattern):
    with pytest.raises(ApiError, match=r"is not a valid regular expression: [a-z]") as refused:
        topics_matching(pattern, NAMES)
    assert refused.value.code is ErrorCode.INVALID_REGULAR_EXPRESSION


def test_a_pattern_of_many_ways_takes_no_longer_than_any():
    began = time.process_time()
    assert topics_matching("(a*)*(a*)*(a|aa)+c", ["a" * 249]) == set()
    assert time.process_time() - began < 2

"""Patterns mean what they mean in Python, and hold nobody up."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker.common.bounded_patterns import BoundedPattern, PatternProcess, TooManyWays, has_few_ways
from tests.examples import examples

HOSTILE = "a" * 60 + "!"


def bounded(pattern, flags=re.ASCII):
    return BoundedPattern(re.compile(pattern, flags))


MANY = [r"(a+)+", r"(?:a|a)*", "(a|a)" * 60, "(a?)" * 60 + "a" * 60, r"(?x)(a+) +", r"(a+)(?#it)+", ".*" * 9 + "b"]
FEW = [".*", "orders.*", r"__.*", r".*[\-\.]internal", "(orders|clicks)-.*", r"t-(\d+)", r"orders(-.*)?", "a|b|c"]


@pytest.mark.parametrize("pattern", MANY)
def test_a_pattern_with_more_ways_than_time_is_given_up(pattern):
    hostile = bounded(pattern)
    for _ in range(2):
        with pytest.raises(TooManyWays, match="too many ways to match"):
            hostile.fullmatch(HOSTILE)


def test_who_is_given_up_once_is_not_asked_again(monkeypatch):
    requests = []
    ask = PatternProcess.ask
    monkeypatch.setattr(PatternProcess, "ask", lambda *question: requests.append(question) or ask(*question))
    hostile = bounded("(a+)+")
    for _ in range(100):
        with pytest.raises(TooManyWays):
            hostile.fullmatch(HOSTILE)
    assert list(hostile.fullmatch("aaa")) == ["aaa", "aaa"]
    assert len(requests) == 2


@pytest.mark.parametrize("pattern", FEW)
def test_what_people_write_is_matched_on_the_spot(pattern):
    assert has_few_ways(pattern)


@pytest.mark.parametrize(
    "pattern", ["(a+)+", "(a|b)*", "(a){9}", "(a)" + "|(b)" * 20, ".*.*.*", "[)]+(b+)+", r"\)+(b+)+", "(?i)(a)"]
)
def test_what_may_have_many_ways_is_asked_elsewhere(pattern):
    assert not has_few_ways(pattern)


_PIECES = ["a", "b", ".", "-", r"\d", "[ab]", "[^a]", "(", "(?:", "(?=", "(?!", ")", "*", "+", "?", "{2}", "|", "(?i)"]


@settings(max_examples=examples(60))
@given(st.lists(st.sampled_from(_PIECES), max_size=9).map("".join), st.text("ab-A1", max_size=6))
def test_both_ways_to_an_answer_agree_with_python(pattern, name):
    try:
        expected = re.compile(pattern, re.ASCII)
    except (re.error, FutureWarning):
        return
    match = expected.fullmatch(name)
    bounded_match = bounded(pattern).fullmatch(name)
    assert (bounded_match and list(bounded_match)) == (match and [match.group(), *match.groups()])


def test_an_old_name_is_forgotten_before_there_are_too_many(monkeypatch):
    monkeypatch.setattr("broker.common.bounded_patterns.PATTERN_ANSWERS_MAX", 3)
    pattern = bounded("(a+)+b")
    for count in range(1, 9):
        assert pattern.fullmatch("a" * count + "b")
    assert len(pattern._known) <= 3


def test_a_process_that_died_is_begun_again():
    process = PatternProcess()
    assert process.ask("search", "b", "abc", 1.0) == ["b"]
    process._process.kill()
    process._process.wait()
    assert process.ask("search", "b", "abc", 1.0) == ["b"]
    process.close()


def test_letters_and_digits_are_those_of_the_flags():
    assert bounded(r"(\w+)+").fullmatch("é") is None
    assert bounded(r"(\w+)+", 0).fullmatch("é")

"""Patterns of RE2 over names of topics: what they match, what is none, and that none takes long."""

import re
import string
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker.common.re2.matcher import TopicPattern
from broker.common.re2.parser import Re2Error

NAMES = ["", "a", "A", "ab", "aab", "b.c", "orders", "Orders-1", "orders_2", "orders.eu.v10", "0", "x-y-z"]


@pytest.mark.parametrize(
    "pattern",
    [
        "", "a", ".*", "a+b", "a?b", "(a|b).*", "orders(-1|_2)?", "[a-z]+", "[^a-z]+", "[[:alpha:]]+", r"\w+",
        r"\d", r"\D+", r"a{1,2}b", "a{2}b", "a{1,}b", "(?i)orders.*", "(?i:O)rders.*", "o(?i)RDERS", "(?P<n>a)b",
        "(?:ab)*", "^orders$", r"\Aorders\z", r"orders\b.*", r"\Borders", r"orders\B.*", r"\Qorders.eu\E.*", r"\x61b",
        r"\x{61}b", r"\141b", r"orders\.eu\..*", "a{", "[]a]", "[a-]+", "[.-]", "a||b", "()", "a*?b",
        "x(-[yz])+", "[^]a]", r"[\d.]+", "(a*)*b", "(|a)+", "((a|b)|c)*",
    ],
)  # fmt: skip
def test_matches_what_python_s_engine_matches(pattern):
    """Where both have the same syntax; what RE2 writes in another way is said in Python's."""
    in_python = pattern.replace("[[:alpha:]]", "[A-Za-z]").replace(r"\z", r"\Z").replace(r"\x{61}", "a")
    in_python = in_python.replace(r"\Qorders.eu\E", r"orders\.eu").replace("o(?i)RDERS", "o(?i:RDERS)")
    matching = {name for name in NAMES if re.fullmatch(in_python, name)}
    assert TopicPattern(pattern).matching(NAMES) == matching


@pytest.mark.parametrize(
    ("pattern", "matching"),
    [
        (r"\pL+", {"a", "A", "ab", "aab", "orders"}),
        (r"\p{Lu}", {"A"}),
        (r"\p{^Lu}", {"a", "0"}),
        (r"\PN", {"a", "A"}),
        (r"\p{Greek}", set()),
        ("é", set()),
        (r"\s*", {""}),
        (r"[[:^digit:]]", {"a", "A"}),
        ("a{,2}", set()),
    ],
)
def test_classes_of_re2_are_known(pattern, matching):
    assert TopicPattern(pattern).matching(NAMES) == matching


@pytest.mark.parametrize(
    "pattern",
    [
        "(", ")", "a)", "[", "[a", "*", "a**", "a*+", "+a", "(?=a)", "(?!a)", "(?<=a)", "(?>a)", r"(a)\1", r"\k<n>",
        r"\Z", r"\y", "\\", "a{1001}", "a{2,1}", "[z-a]", "[[:nope:]]", r"\p{x}", r"\p", "(?P<n>a)(?P<n>b)", "(?x)a",
        "^*+", "(" * 200, "((a{100}){100}){100}",
    ],
)  # fmt: skip
def test_what_is_none_of_re2_is_refused(pattern):
    with pytest.raises(Re2Error):
        TopicPattern(pattern)


def test_pattern_of_many_ways_takes_no_longer_than_any():
    began = time.process_time()
    assert TopicPattern("(a*)*(a*)*(a|aa)+c").matching(["a" * 249]) == set()
    assert time.process_time() - began < 2


def test_pattern_that_takes_too_long_is_refused():
    names = [
        "".join(letters) * 60
        for letters in zip("abcdefgh" * 90, string.ascii_lowercase * 30, "xyz" * 240, strict=False)
    ]
    with pytest.raises(Re2Error, match="too long"):
        TopicPattern("(.*[a-m].{0,150}[n-z].{0,150}){8}-").matching(names)


def test_names_are_matched_once():
    pattern = TopicPattern("a.*")
    assert pattern.matching(["ab", "b"]) == {"ab"}
    assert pattern.matching(["ac", "b"]) == {"ac"}
    assert pattern.matching([]) == set()


PIECES = st.sampled_from(
    ["a", "b", "-", ".", "[ab]", "[^a]", "a*", "(a|b)+", "(ab){1,2}", "(?:a|-)?", r"\w", "|", r"\b"]
)


@given(st.lists(PIECES, max_size=6), st.lists(st.text("ab-_.", max_size=6), max_size=6))
@settings(max_examples=200, deadline=None)
def test_any_pattern_matches_as_in_python(pieces, names):
    pattern = "".join(pieces)
    assert TopicPattern(pattern).matching(names) == {name for name in names if re.fullmatch(pattern, name)}

"""java.util.regex in Python's `re`; tests/reference compares thousands of cases with a JVM."""

import pytest

from broker.common.java.patterns import PatternError, UnsupportedPattern, compile_pattern


@pytest.mark.parametrize(
    ("pattern", "text", "is_match"),
    [
        (r"^\p{L}+$", "äö", True),
        (r"(?<year>\d{4})", "2024", True),
        (r"\cA", "\x01", True),
        (r"abc(?i)d", "abcD", True),
        (r"^a\z", "a", True),
        (r"\Qa.b\E", "a.b", True),
        (r"\Qa.b\E", "axb", False),
        (r"\p{Alpha}+", "ab", True),
        (r"[a-z&&[^b]]+", "abc", False),
        (r"[\[\]a-z]+", "[a]", True),
        (r"\h\R", " \r\n", True),
        (r"\d", "٣", False),
        (r"a{2}{3}", "aa", True),
        (r"(?x) a b # comment", "ab", True),
        (r"(?i)straße", "STRASSE", False),
        (r"(?iu)Ä", "ä", True),
        (r".", "\u2028", False),
    ],
)
def test_a_pattern_matches_what_java_lets_it_match(pattern, text, is_match):
    assert (compile_pattern(pattern).fullmatch(text) is not None) is is_match


@pytest.mark.parametrize("pattern", ["a**", "(", "a)", "[", "{", r"\y", "(?<n>a)(?<n>b)", r"\k<n>", "[z-a]", "a{2,1}"])
def test_what_is_no_pattern_is_refused(pattern):
    with pytest.raises(PatternError):
        compile_pattern(pattern)


@pytest.mark.parametrize("pattern", [r"\X", "(?U)a", r"\p{IsOgham}", "(?<=a+)b"])
def test_what_has_no_equal_here_is_said_to_have_none(pattern):
    with pytest.raises(UnsupportedPattern):
        compile_pattern(pattern)


def test_groups_within_groups_are_bounded():
    with pytest.raises(PatternError):
        compile_pattern("(" * 500 + ")" * 500)

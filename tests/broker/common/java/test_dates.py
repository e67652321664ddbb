"""SimpleDateFormat: what it reads and writes; tests/reference compares thousands of cases with a JVM."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.common.java.dates import DateFormat

NOW_MS = 1_700_000_000_000


@given(st.integers(-62_000_000_000_000, 7_000_000_000_000))
def test_a_format_reads_what_it_writes(ms):
    for pattern in (
        "G yyyy-MM-dd'T'HH:mm:ss.SSSXXX",
        "GyyyyMMddHHmmssSSS",
        "dd MMM yyyy hh:mm:ss.SSS a z G",
        "yyyy DDD HH mm ss SSS G",
    ):
        form = DateFormat(pattern, NOW_MS)
        assert form.parse(form.format(ms)) == ms


@pytest.mark.parametrize(
    ("pattern", "text", "same_as"),
    [
        ("yyyy-MM-dd", "2023-02-30", "2023-03-02"),
        ("yyyy-MM-dd", " 2023-11-14", "2023-11-14"),
        ("yyyy-MM-dd HH:mm z", "2023-11-14 10:00 GMT+02:00", "2023-11-14 08:00 UTC"),
        ("yyyy-MM-dd HH:mm z", "2023-11-14 10:00 PST", "2023-11-14 18:00 UTC"),
        ("YYYY-'W'ww-u", "2023-W46-2", "2023-W46-2"),
        ("yyyyMMdd", "20231114", "20231114"),
    ],
)
def test_texts_are_read_leniently_and_with_their_zone(pattern, text, same_as):
    form = DateFormat(pattern, NOW_MS)
    assert form.format(form.parse(text)) == same_as


@pytest.mark.parametrize("pattern", ["b", "yyyy'", "J"])
def test_what_is_no_pattern_is_refused(pattern):
    with pytest.raises(ValueError, match=r"Illegal|Unterminated"):
        DateFormat(pattern, NOW_MS)


def test_days_before_october_1582_are_julian():
    form = DateFormat("yyyy-MM-dd", NOW_MS)
    assert form.format(form.parse("1582-10-15") - 86_400_000) == "1582-10-04"


def test_years_of_two_digits_are_within_eighty_before_and_twenty_after():
    form = DateFormat("yy", NOW_MS)
    years = DateFormat("yyyy", NOW_MS)
    assert [years.format(form.parse(text)) for text in ("42", "44", "99", "00", "23")] == [
        *("2042", "1944", "1999", "2000", "2023")
    ]

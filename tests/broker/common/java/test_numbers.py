"""Numbers as Java reads and writes them; tests/reference compares thousands of cases with a JVM."""

import pytest

from broker.common.java.numbers import (
    decimal_text,
    double_text,
    float_text,
    parse_decimal,
    parse_double,
    parse_float,
    parse_integer,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1e7, "1.0E7"), (1e-5, "1.0E-5"), (0.001, "0.001"), (float("nan"), "NaN"), (-0.0, "-0.0"),
        (5e-324, "4.9E-324"), (9_999_999.0, "9999999.0"), (float("-inf"), "-Infinity"),
    ],
)  # fmt: skip
def test_doubles_are_written_as_java_writes_them(value, text):
    assert double_text(value) == text


@pytest.mark.parametrize(("value", "text"), [(0.10000000149011612, "0.1"), (16777216.0, "1.6777216E7"), (4.7, "4.7")])
def test_floats_have_the_digits_of_32_bits(value, text):
    assert float_text(value) == text


@pytest.mark.parametrize("text", ["1_000", " 42", "", "+", "1.0", "128", "0x10"])
def test_what_java_takes_for_no_byte_is_refused(text):
    with pytest.raises(ValueError, match=r"input|range"):
        parse_integer(text, 8)


def test_digits_of_other_scripts_count():
    assert parse_integer("\u0664\u0662", 32) == 42


@pytest.mark.parametrize("text", ["inf", "nan", "1_0.5", "0x10", "1e", ""])
def test_what_java_takes_for_no_double_is_refused(text):
    with pytest.raises(ValueError, match="input"):
        parse_double(text)


@pytest.mark.parametrize(("text", "value"), [(" 5f ", 5.0), ("0x1p3", 8.0), (".5", 0.5), ("1e400", float("inf"))])
def test_doubles_are_read_as_java_reads_them(text, value):
    assert parse_double(text) == value


def test_a_float_is_rounded_once():
    assert parse_float("1.000000059604644775390625000000000000001") == 1.0000001192092896


def test_a_decimal_keeps_its_scale_and_a_zero_has_no_sign():
    assert [decimal_text(parse_decimal(text)) for text in ("1.50", "-0", "1E+3")] == ["1.50", "0", "1E+3"]

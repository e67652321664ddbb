"""What a pattern of a configuration and a value of a record cost is bounded: one match holds every thread up."""

import subprocess
import sys

import pytest

from broker.connect.api import ConfigError, DataError
from broker.connect.transforms.patterns import PATTERN_LENGTH_MAX, DateFormat, java_regex

FORMATS = {
    "numbers between equal digits": ("'1'".join(["y"] * 30) + "'x'", "1" * 90),
    "names side by side": ("MMMEEE" * 20 + "'0'", "MayMonMaySun" * 9),
}


@pytest.mark.parametrize("name", FORMATS)
def test_a_date_that_does_not_match_is_refused_without_trying_every_way(name):
    """In a process of its own: a match that goes on for years keeps Python from ending it."""
    code = (
        "import sys\n"
        "from broker.connect.api import DataError\n"
        "from broker.connect.transforms.patterns import DateFormat\n"
        "try:\n"
        "    DateFormat('format', sys.argv[1]).parse(sys.argv[2])\n"
        "except DataError:\n"
        "    print('refused')\n"
    )
    ended = subprocess.run([sys.executable, "-c", code, *FORMATS[name]], capture_output=True, text=True, timeout=30)
    assert ended.stdout == "refused\n", ended.stderr


def test_dates_are_read_as_before():
    assert (
        DateFormat("f", "yyyyMMdd'T'HHmmss.SSS")
        .parse("20240229T235958.120")
        .isoformat()
        .startswith("2024-02-29T23:59:58.12")
    )
    assert DateFormat("f", "EEE, d MMM yyyy").parse("Mon, 5 Feb 2024").isoformat().startswith("2024-02-05")
    assert DateFormat("f", "dMMM'T'HH").parse("3mayT05").isoformat().startswith("1970-05-03T05")
    assert DateFormat("f", "EEEEMMMMd").parse("MondayJanuary5").isoformat().startswith("1970-01-05")
    with pytest.raises(DataError):
        DateFormat("f", "yyyy-MM").parse("2024")


@pytest.mark.parametrize("read", [java_regex, DateFormat])
def test_a_pattern_that_is_too_long_is_refused_before_it_is_read(read):
    with pytest.raises(ConfigError, match="too long"):
        read("key", "[" * 900_000)
    with pytest.raises(ConfigError, match="too long"):
        read("key", "a" * (PATTERN_LENGTH_MAX + 1))

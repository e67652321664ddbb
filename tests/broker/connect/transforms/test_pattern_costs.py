"""What a pattern of a configuration and a value of a record cost is bounded: one match holds every thread up."""

import subprocess
import sys

import pytest

from broker.connect.api import ConfigError
from broker.connect.transforms.patterns import PATTERN_LENGTH_MAX, date_format, java_regex

FORMATS = {
    "numbers between equal digits": ("'1'".join(["y"] * 30) + "'x'", "1" * 90),
    "names side by side": ("MMMEEE" * 20 + "'0'", "MayMonMaySun" * 9),
}


@pytest.mark.parametrize("name", FORMATS)
def test_a_date_that_does_not_match_is_refused_without_trying_every_way(name):
    """In a process of its own: a match that goes on for years keeps Python from ending it."""
    code = (
        "import sys\n"
        "from broker.connect.transforms.patterns import date_format\n"
        "try:\n"
        "    date_format('format', sys.argv[1]).parse(sys.argv[2])\n"
        "except ValueError:\n"
        "    print('refused')\n"
    )
    ended = subprocess.run([sys.executable, "-c", code, *FORMATS[name]], capture_output=True, text=True, timeout=30)
    assert ended.stdout == "refused\n", ended.stderr


@pytest.mark.parametrize("read", [java_regex, date_format])
def test_a_pattern_that_is_too_long_is_refused_before_it_is_read(read):
    with pytest.raises(ConfigError, match="too long"):
        read("key", "[" * 900_000)
    with pytest.raises(ConfigError, match="too long"):
        read("key", "a" * (PATTERN_LENGTH_MAX + 1))

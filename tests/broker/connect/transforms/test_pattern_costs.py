"""What a pattern or a list of a configuration and a value of a record cost is bounded: a match holds all threads up."""

import subprocess
import sys

import pytest

from broker.connect.api import ConfigError, SinkRecord
from broker.connect.transforms.headers import HeaderFromValue
from broker.connect.transforms.patterns import PATTERN_LENGTH_MAX, date_format, java_regex
from broker.connect.transforms.replace_field import ReplaceFieldValue

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


class CountedName(str):
    """A field's name that counts how often any is compared."""

    comparisons = 0

    def __eq__(self, other: object) -> bool:
        CountedName.comparisons += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


@pytest.mark.parametrize(
    ("transform", "props"),
    [
        (ReplaceFieldValue, {"exclude": "{names}"}),
        (ReplaceFieldValue, {"include": "{names}"}),
        (HeaderFromValue, {"fields": "{names}", "headers": "{names}", "operation": "move"}),
    ],
)
def test_a_list_of_fields_is_not_gone_through_for_each_field_of_a_record(transform, props):
    count = 1_000
    names = ",".join(f"f{number}" for number in range(count))
    configured = transform()
    configured.configure({key: value.format(names=names) for key, value in props.items()})
    value = {CountedName(f"f{number}"): number for number in range(count)}
    CountedName.comparisons = 0
    configured.apply(SinkRecord("t", 0, 0, None, None, None, value, 0, ()))
    assert CountedName.comparisons <= 10 * count


@pytest.mark.parametrize("read", [java_regex, date_format])
def test_a_pattern_that_is_too_long_is_refused_before_it_is_read(read):
    with pytest.raises(ConfigError, match="too long"):
        read("key", "[" * 900_000)
    with pytest.raises(ConfigError, match="too long"):
        read("key", "a" * (PATTERN_LENGTH_MAX + 1))

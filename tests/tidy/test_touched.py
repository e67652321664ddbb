import re
from pathlib import Path

import pytest

from tests.tidy.sources import ROOT
from tests.touched import SHOWS, called_for


@pytest.mark.parametrize(
    ("changed", "places"),
    [
        (["README.md", "broker/log/README.md"], []),
        (["broker/audit/verdict.py"], ["tests/broker/audit/", "tests/broker/spark/"]),
        (["templates/base.html"], ["tests/browser/"]),
        (["tests/browser/test_kill.py"], ["tests/browser/"]),
        (["broker/cli/kafka_topics.py"], ["tests/interop/"]),
    ],
)
def test_a_change_calls_for_the_long_tests_that_show_what_it_touched(changed, places):
    assert called_for(changed) == places


def test_a_change_of_the_log_calls_for_whoever_judges_data():
    assert {"tests/faults/", "tests/simulation/", "tests/interop/", "tests/chaos/"} <= {
        *called_for(["broker/log/log.py"])
    }


def test_each_long_test_is_in_a_place_that_some_change_calls_for():
    tests = Path(ROOT) / "tests"
    long_ones = [path for path in tests.rglob("test_*.py") if re.search(r"mark\.long\b", path.read_text())]
    left = [str(path) for path in long_ones if not str(path.relative_to(tests)).startswith(tuple(SHOWS))]
    assert long_ones
    assert left == []


def test_what_a_change_is_compared_with_is_there():
    sources = [
        str(path.relative_to(ROOT)) for room in ("broker", "console") for path in (Path(ROOT) / room).rglob("*.py")
    ]
    for place, pattern in SHOWS.items():
        assert (Path(ROOT) / "tests" / place).is_dir()
        assert any(re.match(pattern, each) for each in sources)

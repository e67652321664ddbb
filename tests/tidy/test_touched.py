import re
from pathlib import Path

import pytest

from tests.tidy.sources import ROOT
from tests.touched import SHOWS, called_for, digests, passed

FILES = {
    "broker/log/log.py": "1",
    "broker/log/README.md": "1",
    "templates/base.html": "1",
    "tests/chaos/test_chaos.py": "1",
}


@pytest.mark.parametrize(
    ("changed", "places"),
    [
        ("broker/log/README.md", set()),
        ("broker/audit/verdict.py", {"broker/audit/", "broker/spark/"}),
        ("templates/base.html", {"browser/"}),
        ("tests/browser/test_kill.py", {"browser/"}),
        ("broker/cli/kafka_topics.py", {"interop/"}),
    ],
)
def test_a_file_that_changes_or_is_new_calls_for_the_long_tests_that_show_it(changed, places):
    assert set(called_for(digests(FILES | {changed: "2"}), shown=digests(FILES))) == places


def test_a_file_that_is_gone_calls_for_the_long_tests_that_showed_it():
    left = {path: content for path, content in FILES.items() if path != "broker/log/log.py"}
    assert {"faults/", "simulation/", "interop/", "chaos/"} <= set(called_for(digests(left), shown=digests(FILES)))


def test_what_was_never_shown_is_called_for():
    assert called_for(digests(FILES), shown={}) == list(SHOWS)


def test_a_test_that_fails_leaves_other_places_shown():
    failed = {"tests/broker/mirror/test_mirror_kills.py::test_records_come_once[12]"}
    assert passed(["broker/mirror/", "broker/spark/"], failed) == ["broker/spark/"]


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

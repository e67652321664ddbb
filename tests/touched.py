"""Which of the long tests a change calls for: those that show what it touched; `make touched` runs them.

`.ci/shown` has a digest for each place of long tests: of the files it shows anything about, as they were when all its
tests passed last. Files are compared and no commits: a tree without history knows as much.
"""

import hashlib
import re
import sys
from collections.abc import Collection, Mapping
from pathlib import Path

import pytest

_SHOWN = Path(".ci/shown")
_ROOMS = ("broker", "console", "templates", "static", "tests")
_FILES = ("Makefile", "pyproject.toml", "requirements.lock")
_LEFT_BY_RUNS = frozenset({"__pycache__", "output"})
#: The formats, vocabulary and clients that everything stands on.
_BASE = r"broker/(protocol|records|common|config|net|security|keystores|client)/"
_BROKER = rf"{_BASE}|broker/(server|handlers|runtime|log|zookeeper|coordinator|controller|replication)/"
_CONSOLE = r"console/|templates/|static/"
#: By place below tests/: a change of which files its long tests show anything about.
SHOWS = {
    "broker/audit/": rf"{_BROKER}|broker/audit/",
    "broker/connect/": rf"{_BASE}|broker/(connect|registry)/",
    "broker/mirror/": rf"{_BASE}|broker/(connect|mirror)/",
    "broker/spark/": r"broker/(spark|client|protocol|records|audit)/",
    "broker/zookeeper/": r"broker/zookeeper/",
    "browser/": _CONSOLE,
    "chaos/": rf"{_BROKER}|console/(processes|operations|collector|live|launch)/",
    "console/": r"console/",
    "faults/": _BROKER,
    "install/": r"pyproject\.toml|Makefile|requirements\.lock|broker/(install|barnabas)\.py|console/launch/(up|redis)",
    "interop/": rf"{_BROKER}|broker/cli/",
    "simulation/": r"broker/(log|coordinator|controller|replication|runtime)/",
    "tidy/": r"pyproject\.toml|Makefile|broker/barnabas\.py|console/launch/",
}


class Failures:
    """Of a run of pytest, whichever of its workers tells them."""

    def __init__(self) -> None:
        self.tests: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.tests.add(report.nodeid)


def shown_by(place: str, files: Collection[str]) -> list[str]:
    """Those of the files which the long tests of a place show anything about, its own among them."""
    pattern = re.compile(SHOWS[place])
    mine = (each for each in files if pattern.match(each) or each.startswith(f"tests/{place}"))
    return sorted(each for each in mine if not each.endswith(".md"))


def digests(contents: Mapping[str, str]) -> dict[str, str]:
    """By place; contents are the hashes of all files by path."""
    return {
        place: hashlib.sha256(
            "".join(f"{each} {contents[each]}\n" for each in shown_by(place, contents)).encode()
        ).hexdigest()[:16]
        for place in SHOWS
    }


def called_for(now: Mapping[str, str], shown: Mapping[str, str]) -> list[str]:
    return [place for place, digest in now.items() if shown.get(place) != digest]


def passed(places: Collection[str], failed: Collection[str]) -> list[str]:
    """Places none of whose tests failed."""
    return [place for place in places if not any(each.startswith(f"tests/{place}") for each in failed)]


def _contents() -> dict[str, str]:
    """Of the tree as it is, without what runs leave in it."""
    found = [*map(Path, _FILES), *(each for room in _ROOMS for each in Path(room).rglob("*"))]
    files = sorted(each for each in found if each.is_file() and not _LEFT_BY_RUNS.intersection(each.parts))
    return {str(each): hashlib.sha256(each.read_bytes()).hexdigest() for each in files}


def _read() -> dict[str, str]:
    lines = _SHOWN.read_text().splitlines() if _SHOWN.exists() else []
    return dict(line.split() for line in lines)


def _note(shown: Mapping[str, str]) -> None:
    _SHOWN.write_text("".join(f"{place} {shown[place]}\n" for place in sorted(shown) if place in SHOWS))


def main(arguments: list[str]) -> int:
    """The exit status of the run; arguments are pytest's, or --noted alone after a run of everything."""
    now, shown = digests(_contents()), _read()
    if arguments == ["--noted"]:
        _note(now)
        return 0
    places = called_for(now, shown)
    if not places:
        print("Nothing that long tests show has changed since they passed.")
        return 0
    print(f"Long tests of what has changed since they passed: {' '.join(places)}", flush=True)
    failures = Failures()
    status = pytest.main([*arguments, "-m", "long", *(f"tests/{each}" for each in places)], plugins=[failures])
    if status in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        _note(shown | {place: now[place] for place in passed(places, failures.tests)})
    return int(status)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

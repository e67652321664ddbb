"""The table of findings names tests that there are."""

import re

from tests.tidy.sources import ROOT

_NAMED = re.compile(r"`([\w/.]+\.py)(?:::(\w+))?")


def test_every_test_that_shows_a_finding_is_there():
    named = _NAMED.findall((ROOT / "tests" / "FINDINGS.md").read_text())
    missing = [f"{file}::{name}" for file, name in named if not _is_there(file, name)]
    assert named
    assert missing == []


def _is_there(file: str, name: str) -> bool:
    path = ROOT / "tests" / file
    return path.exists() and re.search(rf"(def|class) {name}\b" if name else "", path.read_text()) is not None

"""The tables of findings and of features name tests that there are, and every feature has its line."""

import re

import pytest

from tests.tidy.sources import ROOT

_NAMED = re.compile(r"`([\w/.]+\.py)(?:::(\w+))?(?:::(\w+))?`")
_ROW = re.compile(r"^\| (\d+) \|(.*)\|$", re.MULTILINE)
#: Of the two tables of features: how many rows each has.
_FEATURES = (91, 22)


@pytest.mark.parametrize("document", ["FINDINGS.md", "browser/README.md"])
def test_every_test_that_a_table_names_is_there(document):
    rows = [line for line in (ROOT / "tests" / document).read_text().splitlines() if line.startswith("|")]
    named = _NAMED.findall("\n".join(rows))
    missing = ["::".join(filter(None, item)) for item in named if not _is_there(*item)]
    assert named
    assert missing == []


def test_every_feature_has_a_line_that_is_honest():
    features = _ROW.findall((ROOT / "tests" / "browser" / "README.md").read_text())
    expected = [str(number) for count in _FEATURES for number in range(1, count + 1)]
    assert [number for number, _ in features] == expected
    for number, cells in features:
        _name, _place, state, tried, shown_by = (part.strip() for part in cells.split("|"))
        assert re.fullmatch("yes|no|partly: .+", state), number
        assert re.fullmatch(r"[\w ]+, \d{4}-\d{2}-\d{2}", tried), number
        assert bool(_NAMED.search(shown_by)) == (state != "no"), number


def _is_there(file, *names):
    path = ROOT / "tests" / file
    text = path.read_text() if path.exists() else ""
    return bool(text) and all(re.search(rf"(def|class) {name}\b", text) for name in names if name)

"""Each bound has a row in SHARED_BOUNDS.md: whether clients share it, and if so, what gives each of them a share."""

import re

from broker.common import limits, security_limits
from tests.tidy.sources import ROOT

DOCUMENT = ROOT / "broker" / "common" / "SHARED_BOUNDS.md"


def rows() -> list[list[str]]:
    """The cells of every row of a table, without the headings."""
    lines = [line for line in DOCUMENT.read_text().splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def here() -> list[list[str]]:
    return [row for row in rows() if "` in `" not in row[0]]


def test_every_bound_has_one_row():
    bounds = sorted(name for module in (limits, security_limits) for name in vars(module) if name.isupper())
    listed = sorted(name for row in here() for name in re.findall(r"`(\w+)`", row[0]))
    assert listed == bounds


def test_every_row_says_what_one_client_can_do_and_what_prevents_it():
    assert len({len(row) for row in here()} | {2, 3}) == 2
    assert all(len(cell) > 5 for row in rows() for cell in row)


def test_a_bound_that_stands_elsewhere_stands_there():
    elsewhere = [row for row in rows() if "` in `" in row[0]]
    assert elsewhere
    for row in elsewhere:
        name, path = re.fullmatch(r"`(\w+)` in `([\w/.]+)`", row[0]).groups()
        assert re.search(rf"^{name}\b|, {name} = ", (ROOT / path).read_text(), re.MULTILINE), row[0]


def test_what_the_document_says_of_shares_is_what_the_code_does():
    from broker.common.shared_budget import SHARE

    assert SHARE == 3
    assert "less than three\ntimes what is left" in DOCUMENT.read_text()

"""Each bound has a row in SHARED_BOUNDS.md: whether clients share it, and if so, what gives each of them a share."""

import re

import pytest

from broker.common import limits, security_limits, telemetry_limits
from tests.tidy.sources import ROOT

DOCUMENT = ROOT / "broker" / "common" / "SHARED_BOUNDS.md"


def rows() -> list[list[str]]:
    """The cells of every row of a table, without the headings."""
    lines = [line for line in DOCUMENT.read_text().splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def here() -> list[list[str]]:
    return [row for row in rows() if "` in `" not in row[0]]


def test_every_bound_has_one_row():
    bounds = sorted(
        name for module in (limits, security_limits, telemetry_limits) for name in vars(module) if name.isupper()
    )
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
    from broker.common.shared_budget import PRINCIPAL_FLOORS, PRINCIPAL_SHARE, RESERVE, SHARE

    assert (SHARE, PRINCIPAL_SHARE / SHARE, PRINCIPAL_FLOORS, RESERVE) == (3, 2, 8, 4)
    text = " ".join(DOCUMENT.read_text().split())
    assert "The last quarter of a bound is a reserve" in text
    assert "holds at most three times what is left. A principal has two such shares and eight floors" in text


@pytest.mark.parametrize(
    ("size", "floor", "clients"),
    [
        (limits.GROUP_MEMBERS_BYTES_MAX, limits.GROUP_NEWCOMER_BYTES, 1_500),
        (limits.GROUP_OFFSETS_BYTES_MAX, limits.GROUP_NEWCOMER_BYTES, 1_500),
        (limits.SIMPLE_OFFSETS_BYTES_MAX, limits.GROUP_NEWCOMER_BYTES, 1_500),
        (limits.TRANSACTIONAL_IDS_MAX, limits.TRANSACTIONAL_NEWCOMER_IDS, 1_500),
        (security_limits.CLIENT_TRAFFIC_COUNTERS_MAX, security_limits.CLIENT_TRAFFIC_NEWCOMER_COUNTERS, 1_000),
        (limits.TRANSACTION_PARTITIONS_MAX, limits.TRANSACTION_NEWCOMER_PARTITIONS, 1_250),
    ],
)
def test_the_reserve_has_as_many_floors_as_the_document_says(size, floor, clients):
    from broker.common.shared_budget import RESERVE

    assert size // RESERVE >= clients * floor

"""A short slice of `make faults`: real attacks on a real broker, each for a second."""

import pytest

from tests.faults.hostile import run_attacks

SHORT = ("200 deaf readers", "every API asked of very many")
LONG = (
    "3,000 half-sent frames",
    "5 decompression bombs a second",
    "orders by who is no controller",
    "topics that are paths",
)
#: Far from what any machine makes of a turn in bounds; the bounds themselves are `make faults`' business.
STANDS_STILL_MS = 500


@pytest.mark.timeout(180)
@pytest.mark.parametrize("names", [SHORT, pytest.param(LONG, marks=pytest.mark.long)], ids=["two", "the others"])
def test_a_well_behaved_client_is_served_while_others_attack(tmp_path, names):
    survived = list(run_attacks(tmp_path, seconds=1, names=names))
    assert [each.attack for each in survived] == list(names)
    assert not any(each.violations for each in survived), "\n".join(map(str, survived))
    assert max(each.stall_ms for each in survived) < STANDS_STILL_MS, "\n".join(map(str, survived))

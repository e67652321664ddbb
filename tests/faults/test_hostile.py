"""A short slice of `make faults`: real attacks on a real broker, each for a second."""

import pytest

from tests.faults.hostile import run_attacks

SHORT = (
    "3,000 half-sent frames",
    "200 deaf readers",
    "5 decompression bombs a second",
    "orders by who is no controller",
    "topics that are paths",
    "every API asked of very many",
)
#: Far from what any machine makes of a turn in bounds; the bounds themselves are `make faults`' business.
STANDS_STILL_MS = 500


@pytest.mark.timeout(180)
def test_a_well_behaved_client_is_served_while_others_attack(tmp_path):
    survived = list(run_attacks(tmp_path, seconds=1, names=SHORT))
    assert [each.attack for each in survived] == list(SHORT)
    assert not any(each.violations for each in survived), "\n".join(map(str, survived))
    assert max(each.stall_ms for each in survived) < STANDS_STILL_MS, "\n".join(map(str, survived))

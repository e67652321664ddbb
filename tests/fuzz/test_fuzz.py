"""A short slice of `make fuzz`: a broker, strangers and members of its cluster that send what was made up."""

import pytest

from tests.fuzz.run import run_fuzz
from tests.fuzz.victim import summary_of

#: Far from what any machine makes of a turn in bounds; the bounds themselves are `make fuzz`' business.
STANDS_STILL_MS = 500


@pytest.mark.timeout(240)
def test_whatever_is_sent_a_broker_lives_and_keeps_to_its_directories(tmp_path):
    run = run_fuzz(tmp_path, seconds=8, seed=4)
    assert not run.violations, str(run)
    assert not [stall for stall in run.stalls if stall.computed_ms > STANDS_STILL_MS], summary_of(run.stalls)
    assert run.counts.answered.total() > 50

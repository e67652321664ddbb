"""A short slice of `make faults`: a broker killed a few times under load has everything it acknowledged."""

import pytest

from tests.examples import examples
from tests.faults.crash import run_crashes
from tests.faults.own_process import in_own_process


@pytest.mark.timeout(300)
def test_a_killed_broker_has_every_acknowledged_record_where_it_was(tmp_path):
    run = in_own_process(run_crashes, tmp_path, examples(8), seed=11)
    assert run.verdict.violations == [], str(run)
    assert run.verdict.counts["acknowledged and in place"] > 1_000

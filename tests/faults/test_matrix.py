"""A short slice of the fault matrix, three brokers under load: a leader and all brokers are killed, a leader is cut off
from its peers, a disk is full.
"""

import random

import pytest

from tests.faults.matrix.rows import ROWS
from tests.faults.matrix.run import play


@pytest.mark.timeout(300)
@pytest.mark.parametrize("number", [1, 8, 9, 16])
def test_a_row_of_the_fault_matrix_loses_nothing(tmp_path, number):
    if missing := ROWS[number].missing():
        pytest.skip(f"not played: needs {missing}")
    seed = random.randrange(10**6)
    played = play(ROWS[number], tmp_path, seed)
    assert played.verdict.violations == [], f"seed {seed}, history in {tmp_path}"
    assert played.verdict.counts["acknowledged and in place"] > 500

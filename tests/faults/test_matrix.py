"""A short slice of the fault matrix: a leader, and all brokers at once, killed under load on three brokers."""

import random

import pytest

from tests.faults.matrix.rows import ROWS
from tests.faults.matrix.run import play


@pytest.mark.timeout(300)
@pytest.mark.parametrize("number", [1, 8])
def test_a_row_of_the_fault_matrix_loses_nothing(tmp_path, number):
    seed = random.randrange(10**6)
    played = play(ROWS[number], tmp_path, seed)
    assert played.verdict.violations == [], f"seed {seed}, history in {tmp_path}"
    assert played.verdict.counts["acknowledged and in place"] > 500

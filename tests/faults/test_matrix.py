"""A short slice of the fault matrix, three brokers under load: all brokers are killed; in the long run also a leader, a
leader is cut off from its peers, the last of an ISR has lost its tail, a disk is full.
"""

from dataclasses import replace

import pytest

from tests.faults.matrix import table
from tests.faults.matrix.rows import ROWS
from tests.faults.matrix.run import play

LONG = [pytest.param(number, marks=pytest.mark.long) for number in (1, 14, 9, 16)]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("number", [8, *LONG])
def test_a_row_of_the_fault_matrix_loses_nothing(tmp_path, number):
    if missing := ROWS[number].missing():
        pytest.skip(f"not played: needs {missing}")
    played = play(ROWS[number], tmp_path, seed=number)
    assert played.verdict.violations == [], f"history in {tmp_path}"
    assert played.verdict.counts["acknowledged and in place"] > 500


def test_a_row_that_cannot_be_played_here_says_what_it_needs_and_not_that_it_holds(tmp_path, monkeypatch):
    monkeypatch.setattr(table, "TABLE", tmp_path / "faults.txt")
    played = play(replace(ROWS[9], missing=lambda: "root and iproute2"), tmp_path, seed=1)
    text = table.write_table([played])
    assert "not played: needs root and iproute2" in text
    assert "hold" not in text

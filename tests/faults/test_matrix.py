"""A slice of the fault matrix for the long run, three brokers under load: all brokers are killed, or a leader, a leader
is cut off from its peers, the last of an ISR has lost its tail, a disk is full, hands are foreign.
"""

import sys
from dataclasses import replace

import pytest

from tests.faults import __main__ as command
from tests.faults.checker import Verdict
from tests.faults.matrix import table
from tests.faults.matrix.rows import ROWS
from tests.faults.matrix.run import Played, play
from tests.faults.own_process import in_own_process

LONG = [pytest.param(number, marks=pytest.mark.long) for number in (8, 1, 14, 9, 16, 29, 30, 31, 32, 33, 34)]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("number", LONG)
def test_a_row_of_the_fault_matrix_loses_nothing(tmp_path, number):
    if missing := ROWS[number].missing():
        pytest.skip(f"not played: needs {missing}")
    verdict = in_own_process(_verdict_of, number, tmp_path)
    assert verdict.violations == [], f"history in {tmp_path}"
    assert verdict.counts["acknowledged and in place"] > 500


def _verdict_of(number, directory):
    return play(ROWS[number], directory, seed=number).verdict


def test_a_row_that_cannot_be_played_here_says_what_it_needs_and_not_that_it_holds(tmp_path, monkeypatch):
    monkeypatch.setattr(table, "TABLE", tmp_path / "faults.txt")
    played = play(replace(ROWS[9], missing=lambda: "root and iproute2"), tmp_path, seed=1)
    text = table.write_table([played])
    assert "not played: needs root and iproute2" in text
    assert "hold" not in text


def test_each_row_says_how_it_ended_before_the_next_is_played(tmp_path, monkeypatch, capsys):
    """A round takes half an hour, and one that is interrupted has no table."""
    shown = []

    def played(row, _directory, seed):
        shown.append(capsys.readouterr().out)
        return Played(row, seed, Verdict([f"I9: too slow in {row.number}"] if row.number == 1 else []), took_s=2)

    monkeypatch.setattr(command, "play", played)
    monkeypatch.setattr(table, "TABLE", tmp_path / "faults.txt")
    monkeypatch.setattr(sys, "argv", ["faults", "--row", "1", "--row", "2", "--seed", "7"])
    assert command.main() == 1
    assert "I9: too slow in 1" not in shown[0]
    assert "row 1: 1 VIOLATIONS, 2 s\nrow 1, seed 7: I9: too slow in 1\n" in shown[1]
    assert "row 2: I1-I6 I8-I10 hold, 2 s\n" in capsys.readouterr().out

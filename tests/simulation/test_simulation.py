"""Whole runs. `conftest.py` says which seeds."""

from tests.simulation.python_process import run_seeds


def test_every_promise_holds_under_the_faults_of_a_seed(seed):
    run = run_seeds([seed])
    assert run.returncode == 0, run.stdout


def test_the_same_seed_gives_the_same_history_whatever_ran_before_it():
    once, twice = run_seeds([9], "--history").stdout, run_seeds([9, 9], "--history").stdout
    assert len(once.splitlines()) > 500
    assert twice == once + once

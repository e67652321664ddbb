"""Whole runs. `conftest.py` says which seeds."""

from tests.simulation.python_process import run_seeds


def test_every_promise_holds_under_the_faults_of_a_seed(seed):
    run = run_seeds([seed])
    assert run.returncode == 0, run.stdout


def test_the_same_seed_gives_the_same_history_whatever_ran_before_it():
    alone, behind = run_seeds([7], "--history").stdout, run_seeds([9, 7], "--history").stdout
    assert len(alone.splitlines()) > 500
    assert behind.endswith(alone)

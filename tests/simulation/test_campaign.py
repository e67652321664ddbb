"""With stand-ins for the workers: what a seed costs is not to be paid here."""

import itertools
import subprocess
import sys
from collections.abc import Iterator

from tests.simulation.campaign import Campaign, run_campaign

#: Seed 3 fails, at seed 5 the process dies; Ctrl-C comes as SIGINT.
_WORKER = """
import json, sys
for seed in map(int, sys.stdin):
    if seed == 5:
        sys.exit(7)
    violations = ["a record is lost"] if seed == 3 else []
    print(json.dumps({"seed": seed, "violations": violations, "tally": {"kills": seed}}), flush=True)
"""


class _Started:
    def __init__(self) -> None:
        self.workers: list[subprocess.Popen] = []

    def __call__(self) -> subprocess.Popen:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
        self.workers.append(subprocess.Popen([sys.executable, "-c", _WORKER], **pipes))
        return self.workers[-1]


def test_a_seed_that_fails_is_told_and_stops_nobody(capsys):
    started, campaign = _Started(), Campaign(4, None)
    assert run_campaign(campaign, iter(range(1, 5)), 2, started) == 1
    assert (campaign.held, campaign.failed, campaign.tally["kills"]) == (3, [3], 10)
    printed = capsys.readouterr().out
    assert "python -m tests.simulation 3 --history\n  a record is lost" in printed
    assert "4 of 4 seeds, 1 failed" in printed
    assert "10 kills" in printed
    assert len(started.workers) == 2  # they are used again


def test_a_seed_whose_process_dies_has_failed_and_another_process_goes_on(capsys):
    started, campaign = _Started(), Campaign(3, None)
    assert run_campaign(campaign, iter(range(4, 7)), 1, started) == 1
    assert (campaign.held, campaign.failed, len(started.workers)) == (2, [5], 2)
    assert "its process has ended with status 7" in capsys.readouterr().out


def test_a_process_runs_a_bounded_number_of_seeds():
    started, campaign = _Started(), Campaign(100, None)
    assert run_campaign(campaign, itertools.repeat(1, 100), 1, started) == 0
    assert (campaign.held, len(started.workers)) == (100, 2)
    assert [worker.returncode for worker in started.workers] == [0, 0]


def test_ctrl_c_ends_the_workers_and_shows_what_has_run(capsys):
    def seeds() -> Iterator[int]:
        yield from (1, 2)
        raise KeyboardInterrupt

    started = _Started()
    assert run_campaign(Campaign(100, None), seeds(), 1, started) == 130
    assert "2 of 100 seeds, 0 failed" in capsys.readouterr().out
    assert all(worker.returncode is not None for worker in started.workers)


def test_no_seed_begins_when_the_time_is_over(capsys):
    started = _Started()
    assert run_campaign(Campaign(None, 0), iter(range(1, 5)), 1, started) == 0
    assert "0 seeds, 0 failed" in capsys.readouterr().out
    assert not started.workers

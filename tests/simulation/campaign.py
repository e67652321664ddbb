"""`python -m tests.simulation.campaign`: many seeds over a few processes; `make simulate` calls it.

A seed that fails is told at once and stops nobody. Ctrl-C ends the campaign with the summary of what has run.
"""

import argparse
import contextlib
import itertools
import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial

from tests.simulation.defects import DEFECTS
from tests.simulation.python_process import start_worker

_PROGRESS_EVERY_S = 10
_ENDS_WITHIN_S = 10
#: A run leaves some megabytes behind; to start Python costs less than one.
_SEEDS_PER_PROCESS = 50

Start = Callable[[], subprocess.Popen]


class Campaign:
    """What has become of the seeds so far."""

    def __init__(self, seeds: int | None, minutes: float | None):
        self._seeds = seeds
        self._minutes = minutes
        self._began_s = time.monotonic()
        self._told_s = self._began_s
        self.held = 0
        self.failed: list[int] = []
        self.tally: Counter[str] = Counter()

    @property
    def _elapsed_s(self) -> float:
        return time.monotonic() - self._began_s

    @property
    def is_out_of_time(self) -> bool:
        return self._minutes is not None and self._elapsed_s > 60 * self._minutes

    @property
    def _done(self) -> int:
        return self.held + len(self.failed)

    def take(self, outcome: dict) -> None:
        self.tally.update(outcome["tally"])
        if not outcome["violations"]:
            self.held += 1
            return
        seed = outcome["seed"]
        self.failed.append(seed)
        print(f"seed {seed} fails: PYTHONHASHSEED=0 python -m tests.simulation {seed} --history")
        for violation in outcome["violations"]:
            print(f"  {violation}")
        sys.stdout.flush()

    def tell_progress(self) -> None:
        """One line, now and then."""
        if time.monotonic() - self._told_s < _PROGRESS_EVERY_S or not self._done:
            return
        self._told_s = time.monotonic()
        per_s = self._done / self._elapsed_s
        left_s = []
        if self._seeds is not None:
            left_s.append((self._seeds - self._done) / per_s)
        if self._minutes is not None:
            left_s.append(60 * self._minutes - self._elapsed_s)
        print(f"{self}, {3600 * per_s:.0f} an hour, {_duration(min(left_s))} left", flush=True)

    def __str__(self) -> str:
        of = "" if self._seeds is None else f" of {self._seeds}"
        return f"{self._done}{of} seeds, {len(self.failed)} failed"

    def summary(self) -> str:
        lines = [f"{self} in {_duration(self._elapsed_s)}"]
        lines += [f"{count:12,} {what}" for what, count in sorted(self.tally.items())]
        if self.failed:
            lines.append(f"failed: {' '.join(map(str, sorted(self.failed)))}")
        return "\n".join(lines)


def main(argv: list[str]) -> int:
    """1 when a seed has failed, 130 after Ctrl-C."""
    arguments = _parser().parse_args(argv)
    if arguments.seeds is None and arguments.minutes is None:
        arguments.seeds = 500
    campaign = Campaign(arguments.seeds, arguments.minutes)
    seeds = itertools.islice(itertools.count(arguments.first), arguments.seeds)
    start = partial(start_worker, arguments.defect) if arguments.defect else start_worker
    return run_campaign(campaign, seeds, arguments.jobs, start)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation.campaign", description=__doc__)
    parser.add_argument("--first", type=int, default=1, help="the first seed (default 1)")
    parser.add_argument("--seeds", type=int, help="how many (default 500; with --minutes no end)")
    parser.add_argument("--minutes", type=float, help="begin none after that time")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at a time (default: cores)")
    parser.add_argument("--defect", choices=DEFECTS, help="put a defect back that was mended: some seeds must fail")
    return parser


def run_campaign(campaign: Campaign, seeds: Iterator[int], jobs: int, start: Start = start_worker) -> int:
    """Prints as it goes on, and the summary at the end. Returns what `main` does."""
    workers = Workers(start)
    status = 0
    try:
        while True:
            while len(workers) < jobs and not campaign.is_out_of_time and (seed := next(seeds, None)) is not None:
                workers.give(seed)
            if not workers:
                break
            for outcome in workers.outcomes(_PROGRESS_EVERY_S):
                campaign.take(outcome)
            campaign.tell_progress()
    except KeyboardInterrupt:
        status = 130
    workers.end()
    print(campaign.summary(), flush=True)
    return 1 if campaign.failed else status


class Workers:
    """Processes with a seed each, and those that have done theirs and wait for another."""

    def __init__(self, start: Start):
        self._start = start
        self._selector = selectors.DefaultSelector()
        self._idle: list[subprocess.Popen] = []
        #: How many seeds each has been given.
        self._given: Counter[subprocess.Popen] = Counter()

    def __len__(self) -> int:
        """How many are at work."""
        return len(self._selector.get_map())

    def give(self, seed: int) -> None:
        worker = self._idle.pop() if self._idle else self._start()
        self._selector.register(worker.stdout, selectors.EVENT_READ, (worker, seed))
        with contextlib.suppress(BrokenPipeError):  # a dead one has no outcome either
            worker.stdin.write(f"{seed}\n")
            worker.stdin.flush()
        self._given[worker] += 1

    def outcomes(self, timeout_s: float) -> Iterator[dict]:
        """Of seeds that are done; none if none is within that time."""
        for key, _ in self._selector.select(timeout_s):
            worker, seed = key.data
            self._selector.unregister(worker.stdout)
            line = worker.stdout.readline()
            if line:
                self._lay_aside(worker)
                yield json.loads(line)
            else:
                violation = f"its process has ended with status {worker.wait()}"
                yield {"seed": seed, "violations": [violation], "tally": {}}

    def _lay_aside(self, worker: subprocess.Popen) -> None:
        if self._given[worker] < _SEEDS_PER_PROCESS:
            self._idle.append(worker)
        else:
            del self._given[worker]
            worker.communicate()

    def end(self) -> None:
        """What they are at is left where it is."""
        busy = [key.data[0] for key in self._selector.get_map().values()]
        for worker in self._idle:
            worker.stdin.close()
        for worker in busy:
            worker.send_signal(signal.SIGINT)
        for worker in [*self._idle, *busy]:
            try:
                worker.wait(_ENDS_WITHIN_S)
            except subprocess.TimeoutExpired:
                worker.kill()
                worker.wait()


def _duration(seconds: float) -> str:
    minutes, seconds = divmod(max(0, round(seconds)), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

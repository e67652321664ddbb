"""`python -m tests.simulation.campaign`: many seeds over a few processes, until one fails; `make simulate` calls it."""

import argparse
import sys
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice

from tests.simulation.python_process import run_seeds

#: Seeds one process runs after the other: starting Python is half as dear as a run.
_BATCH = 5


def main(argv: list[str]) -> int:
    """1 when a seed fails; its history is printed."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation.campaign", description=__doc__)
    parser.add_argument("--seeds", type=int, default=500, help="how many")
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time")
    arguments = parser.parse_args(argv)
    failed = _first_failure(range(arguments.first, arguments.first + arguments.seeds), arguments.jobs)
    if failed is None:
        return 0
    print(run_seeds([failed], "--history").stdout)
    print(f"Again: PYTHONHASHSEED=0 python -m tests.simulation {failed} --history")
    return 1


def _first_failure(seeds: range, jobs: int) -> int | None:
    batches = iter([seeds[at : at + _BATCH] for at in range(0, len(seeds), _BATCH)])
    passed = 0
    with ThreadPoolExecutor(jobs) as pool:
        running: set[Future] = {pool.submit(run_seeds, batch) for batch in islice(batches, jobs)}
        while running:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for run in (future.result() for future in done):
                if run.returncode:
                    print(run.stdout)
                    return _failed_seed(run.stdout)
                passed += len(run.stdout.splitlines())
                running |= {pool.submit(run_seeds, batch) for batch in islice(batches, 1)}
            print(f"{passed} of {len(seeds)} seeds hold", flush=True)
    return None


def _failed_seed(output: str) -> int:
    """From a line `seed N failed …`."""
    return next(int(line.split()[1]) for line in output.splitlines() if line.startswith("seed ") and " failed " in line)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

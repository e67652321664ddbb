"""`python -m tests.faults crash --kills 50 --seed N`: long runs of faults against real processes; `make faults`."""

import argparse
import random
import sys
import tempfile
from pathlib import Path

from tests.faults.crash import run_crashes


def main() -> int:
    arguments = _parser().parse_args()
    seed = random.randrange(10**6) if arguments.seed is None else arguments.seed
    directory = Path(tempfile.mkdtemp(prefix="barnabas-faults-"))
    print(f"{arguments.scenario}: seed {seed}, in {directory}", flush=True)
    run = run_crashes(directory, arguments.kills, seed)
    print(run)
    return int(bool(run.verdict.violations))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__.partition(":")[2].strip())
    parser.add_argument("scenario", choices=["crash"])
    parser.add_argument("--kills", type=int, default=50, help="how often a broker is killed (default 50)")
    parser.add_argument("--seed", type=int, help="repeats the moments of an earlier run")
    return parser


if __name__ == "__main__":
    sys.exit(main())

"""`make faults`: long runs of faults against real processes.

python -m tests.faults crash --kills 50 --seed N
python -m tests.faults hostile
"""

import argparse
import random
import sys
import tempfile
from pathlib import Path

from tests.faults.crash import run_crashes
from tests.faults.hostile import run_attacks


def main() -> int:
    """0 if every check held."""
    arguments = _parser().parse_args()
    chosen = [arguments.scenario] if arguments.scenario else list(_SCENARIOS)
    violations = 0
    for name in chosen:
        directory = Path(tempfile.mkdtemp(prefix=f"barnabas-faults-{name}-"))
        print(f"{name}, in {directory}", flush=True)
        violations += _SCENARIOS[name](directory, arguments)
    return int(violations > 0)


def _crash(directory: Path, arguments: argparse.Namespace) -> int:
    seed = random.randrange(10**6) if arguments.seed is None else arguments.seed
    print(f"seed {seed}", flush=True)
    run = run_crashes(directory, arguments.kills, seed)
    print(run)
    return len(run.verdict.violations)


def _hostile(directory: Path, arguments: argparse.Namespace) -> int:
    violations = 0
    for survived in run_attacks(directory, arguments.seconds):
        print(survived, flush=True)
        violations += len(survived.violations)
    return violations


_SCENARIOS = {"crash": _crash, "hostile": _hostile}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.faults", description="Long runs of faults against real processes."
    )
    parser.add_argument("scenario", nargs="?", choices=sorted(_SCENARIOS), help="all, unless one is named")
    parser.add_argument("--kills", type=int, default=50, help="crash: how often a broker is killed (default 50)")
    parser.add_argument("--seed", type=int, help="crash: repeats the moments of an earlier run")
    parser.add_argument("--seconds", type=float, default=10, help="hostile: how long each attack lasts (default 10)")
    return parser


if __name__ == "__main__":
    sys.exit(main())

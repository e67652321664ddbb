"""`make chaos`: kill and suspend everything at random, then see whether the console and the truth agree.

python -m tests.chaos --seconds 600 --seed N
"""

import argparse
import random
import sys
import tempfile
from pathlib import Path

from tests.chaos.run import run_chaos


def main() -> int:
    """0 if they agree."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=None)
    arguments = parser.parse_args()
    seed = random.randrange(10**6) if arguments.seed is None else arguments.seed
    directory = Path(tempfile.mkdtemp(prefix="bchaos-"))
    print(f"seed {seed}, {arguments.seconds:g} s, in {directory}", flush=True)
    run = run_chaos(directory, arguments.seconds, seed)
    print("\n".join(run.faults))
    print(run)
    return int(bool(run.violations))


if __name__ == "__main__":
    sys.exit(main())

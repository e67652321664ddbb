"""`make fuzz`: made-up requests of every API to a running broker.

python -m tests.fuzz --minutes 60 --seed N
"""

import argparse
import random
import signal
import sys
import tempfile
from pathlib import Path

from tests.fuzz.run import run_fuzz


def main() -> int:
    """0 if nothing was violated and the loop never stood still."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Made-up requests to a running broker.")
    parser.add_argument("--minutes", type=float, default=10, help="how long (default 10)")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6), help="makes the same requests again")
    arguments = parser.parse_args()
    for ended_by in (signal.SIGINT, signal.SIGTERM):  # also in the background, where SIGINT is ignored
        signal.signal(ended_by, signal.default_int_handler)
    directory = Path(tempfile.mkdtemp(prefix="barnabas-fuzz-"))
    print(f"seed {arguments.seed}, in {directory}", flush=True)
    run = run_fuzz(directory, 60 * arguments.minutes, arguments.seed, lambda text: print(text, flush=True))
    print(run)
    return int(bool(run.violations or run.stalls))


if __name__ == "__main__":
    sys.exit(main())

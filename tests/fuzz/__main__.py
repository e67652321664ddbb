"""`make fuzz`: made-up requests of every API to a running broker.

python -m tests.fuzz --minutes 60 --seed N
python -m tests.fuzz growth --minutes 10     inputs that double, to every parser and comparer (`growth.py`)
"""

import argparse
import importlib
import os
import random
import signal
import sys
import tempfile
from pathlib import Path

import django

from tests.fuzz.growth import held, look_for
from tests.fuzz.growth_inputs import PACKED_PARTS, packed_pump
from tests.fuzz.run import run_fuzz


def main() -> int:
    """0 if nothing was violated and the loop never stood still."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Made-up requests to a running broker.")
    parser.add_argument("what", nargs="?", choices=("requests", "growth"), default="requests")
    parser.add_argument("--minutes", type=float, default=10, help="how long (default 10)")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6), help="makes the same requests again")
    arguments = parser.parse_args()
    if arguments.what == "growth":
        return _grow(60 * arguments.minutes, arguments.seed)
    for ended_by in (signal.SIGINT, signal.SIGTERM):  # also in the background, where SIGINT is ignored
        signal.signal(ended_by, signal.default_int_handler)
    directory = Path(tempfile.mkdtemp(prefix="barnabas-fuzz-"))
    print(f"seed {arguments.seed}, in {directory}", flush=True)
    run = run_fuzz(directory, 60 * arguments.minutes, arguments.seed, lambda text: print(text, flush=True))
    print(run)
    return int(bool(run.violations or run.stalls))


def _grow(seconds: float, seed: int) -> int:
    """0 if nothing grew too fast, and no reader held more of a packed batch than is bounded."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings")
    django.setup()
    module = importlib.import_module("tests.fuzz.growth_targets")
    print(f"seed {seed}", flush=True)
    grown = look_for(module.TARGETS, seed, seconds, lambda text: print(text, flush=True))
    swollen = [held(target, packed_pump(part)) for target in module.PACKED_TARGETS for part in PACKED_PARTS]
    for growth in filter(None, swollen):
        print(growth, flush=True)
    return int(bool(grown or any(swollen)))


if __name__ == "__main__":
    sys.exit(main())

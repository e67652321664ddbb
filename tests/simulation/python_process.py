"""Runs seeds in Python processes of their own, as `kernel.py` wants it."""

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

_ROOT = Path(__file__).parent.parent.parent


def run_seeds(seeds: Iterable[int], *options: str) -> subprocess.CompletedProcess:
    """`python -m tests.simulation SEED …`; the exit status is 0 if every seed holds."""
    return subprocess.run(
        [sys.executable, "-m", "tests.simulation", *map(str, seeds), *options],
        cwd=_ROOT,
        env={**os.environ, "PYTHONHASHSEED": "0"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )

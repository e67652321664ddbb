"""Runs seeds in Python processes of their own, as `kernel.py` wants it."""

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

_HOW = {"cwd": Path(__file__).parent.parent.parent, "env": {**os.environ, "PYTHONHASHSEED": "0"}, "text": True}


def run_seeds(seeds: Iterable[int], *options: str) -> subprocess.CompletedProcess:
    """`python -m tests.simulation SEED …`; the exit status is 0 if every seed holds."""
    return subprocess.run(
        [sys.executable, "-m", "tests.simulation", *map(str, seeds), *options],
        **_HOW,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )


def start_worker(*defects: str) -> subprocess.Popen:
    """`worker.py` with these `defects`, to be written seeds to.

    It ends with its standard input, or by SIGINT; Ctrl-C does not reach it.
    """
    return subprocess.Popen(
        [sys.executable, "-m", "tests.simulation.worker", *defects],
        **_HOW,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )

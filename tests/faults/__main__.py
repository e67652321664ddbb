"""`make faults`: long runs of faults against real processes.

python -m tests.faults crash --kills 50 --seed N
python -m tests.faults hostile
python -m tests.faults --row 4 --seed N
python -m tests.faults copy --minutes 10 --seed N
python -m tests.faults streams --kills 20 --query pass-through --seed N
"""

import argparse
import random
import shutil
import sys
import tempfile
from pathlib import Path

from tests.faults.copy.run import run_copy
from tests.faults.crash import run_crashes
from tests.faults.hostile import HEADING, run_attacks
from tests.faults.matrix.rows import ROWS
from tests.faults.matrix.run import play
from tests.faults.matrix.table import outcome, write_table
from tests.faults.streams.queries import QUERIES
from tests.faults.streams.run import run_stream_kills


def main() -> int:
    """0 if every check held."""
    arguments = _parser().parse_args()
    if arguments.row:
        arguments.scenario = "matrix"
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
    print(HEADING, flush=True)
    for survived in run_attacks(directory, arguments.seconds):
        print(survived, flush=True)
        violations += len(survived.violations) + len(survived.slow)
    return violations


def _copy(directory: Path, arguments: argparse.Namespace) -> int:
    seed = random.randrange(10**6) if arguments.seed is None else arguments.seed
    print(f"seed {seed}", flush=True)
    run = run_copy(directory, 60 * arguments.minutes, seed)
    print(run, flush=True)
    return len(run.violations)


def _streams(directory: Path, arguments: argparse.Namespace) -> int:
    violations = 0
    for query in arguments.query or QUERIES:
        home = directory / query
        home.mkdir()
        seed = random.randrange(10**6) if arguments.seed is None else arguments.seed
        run = run_stream_kills(home, query, arguments.kills, seed)
        print(run, flush=True)
        violations += len(run.violations)
    return violations


def _matrix(directory: Path, arguments: argparse.Namespace) -> int:
    """Every history stays in `directory`; of a row without violations nothing else does.

    A row that cannot be played on this machine counts as violated if it was asked for by its number.
    """
    played = []
    for _ in range(arguments.times):
        for number in arguments.row or ROWS:
            seed = random.randrange(10**6) if arguments.seed is None else arguments.seed
            home = directory / f"{number:02}-{seed}"
            home.mkdir()
            print(f"row {number}, seed {seed}: {ROWS[number].fault}", flush=True)
            played.append(play(ROWS[number], home, seed))
            print(outcome(played[-1]), flush=True)
            if not played[-1].verdict.violations:
                _keep_the_history_only(home)
    print(write_table(played))
    unplayed = sum(bool(item.missing) for item in played) if arguments.row else 0
    return unplayed + sum(len(item.verdict.violations) for item in played)


def _keep_the_history_only(home: Path) -> None:
    for path in home.iterdir():
        if path.is_dir():
            shutil.rmtree(path)


_SCENARIOS = {"crash": _crash, "hostile": _hostile, "matrix": _matrix, "copy": _copy, "streams": _streams}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.faults", description="Long runs of faults against real processes."
    )
    parser.add_argument("scenario", nargs="?", choices=sorted(_SCENARIOS), help="all, unless one is named")
    parser.add_argument("--kills", type=int, default=50, help="crash, streams: how often (default 50)")
    parser.add_argument("--seed", type=int, help="crash, copy, matrix: repeats the moments of an earlier run")
    parser.add_argument("--minutes", type=float, default=10, help="copy: how long faults go on (default 10)")
    parser.add_argument("--seconds", type=float, default=10, help="hostile: how long each attack lasts (default 10)")
    parser.add_argument("--row", type=int, action="append", choices=sorted(ROWS), help="matrix: only this row, or rows")
    parser.add_argument("--query", action="append", choices=sorted(QUERIES), help="streams: only this query")
    parser.add_argument("--times", type=int, default=1, help="matrix: how often the rows are played (default 1)")
    return parser


if __name__ == "__main__":
    sys.exit(main())

"""`python -m tests.simulation SEED …`: run seeds one after the other in this process, print what became of each.

`--history` prints the whole history, `--faults 0,3` leaves out all faults but these, by their numbers in the history.
"""

import argparse
import os
import sys
import tempfile
import traceback
import warnings
from pathlib import Path

from tests.simulation.broker_logs import record_logs
from tests.simulation.kernel import simulated_kernel
from tests.simulation.world import World


def main(argv: list[str]) -> int:
    """1 if a seed has failed."""
    arguments = _parser().parse_args(argv)
    warnings.simplefilter("ignore", RuntimeWarning)  # of coroutines that a kill left where they were
    failed = 0
    for seed in arguments.seeds:
        failed += not _run(seed, arguments)
    return int(failed > 0)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("seeds", type=int, nargs="+", metavar="SEED")
    parser.add_argument("--history", action="store_true", help="print every event")
    parser.add_argument("--faults", help="numbers of the faults to keep, comma separated; empty: none")
    return parser


def _run(seed: int, arguments: argparse.Namespace) -> bool:
    shared_memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(dir=shared_memory, prefix="simulation-") as directory, simulated_kernel(seed):
        world = World(seed, Path(directory))
        record_logs(world.history, directory)
        faults = world.faults
        if arguments.faults is not None:
            kept = {int(number) for number in arguments.faults.split(",") if number}
            faults = [fault for number, fault in enumerate(faults) if number in kept]
        try:
            world.run(faults)
        except Exception:
            world.history.violate("the run broke off: " + traceback.format_exc())
    _report(seed, world, with_history=arguments.history)
    return not world.history.violations


def _report(seed: int, world: World, *, with_history: bool) -> None:
    if with_history:
        for number, fault in enumerate(world.faults):
            print(f"fault {number}: {fault}")
        for entry in world.history.entries:
            print(entry)
    history = world.history
    verdict = "failed" if history.violations else "ok"
    print(f"seed {seed} {verdict} {history.digest()} {history.entries[-1]}", flush=True)
    for violation in history.violations[:20]:
        print(f"  {violation}", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

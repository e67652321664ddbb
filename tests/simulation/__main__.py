"""`python -m tests.simulation SEED …`: run seeds one after the other in this process, print what became of each.

`--history` prints the whole history, `--faults 0,3` leaves out all faults but these, by their numbers in the history;
`--shrink` looks for the fewest faults with which a seed still fails. `--defect` puts back what was mended:
some seeds must fail then.
"""

import argparse
import sys
import warnings

from tests.simulation.defects import DEFECTS, put_back
from tests.simulation.run import run_seed
from tests.simulation.scenarios import SCENARIOS, Scenario
from tests.simulation.shrink import shrink
from tests.simulation.syscalls import BOUNDS
from tests.simulation.world import World


def main(argv: list[str]) -> int:
    """1 if a seed has failed."""
    arguments = _parser().parse_args(argv)
    warnings.simplefilter("ignore", RuntimeWarning)  # of coroutines that a kill left where they were
    kept = None if arguments.faults is None else [int(number) for number in arguments.faults.split(",") if number]
    if arguments.defect:
        put_back(arguments.defect)
    scenario = SCENARIOS[arguments.scenario] if arguments.scenario else None
    failed = 0
    for seed in arguments.seeds:
        world = run_seed(seed, kept, scenario, ends_at_violation=arguments.until_one_fails)
        _report(seed, world, with_history=arguments.history)
        if arguments.worst:
            _report_worst(world)
        if world.history.violations:
            failed += 1
            if arguments.shrink:
                _shrink(seed, len(world.faults), scenario)
            if arguments.until_one_fails:
                break
    return int(failed > 0)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("seeds", type=int, nargs="+", metavar="SEED")
    parser.add_argument("--history", action="store_true", help="print every event")
    parser.add_argument("--worst", action="store_true", help="print what the dearest callbacks asked of the disk")
    parser.add_argument("--faults", help="numbers of the faults to keep, comma separated; empty: none")
    parser.add_argument("--shrink", action="store_true", help="look for the fewest faults with which it still fails")
    parser.add_argument("--defect", choices=DEFECTS, help="put a defect back that was mended")
    parser.add_argument("--scenario", choices=SCENARIOS, help="direct the runs at the defect of that name")
    parser.add_argument("--until-one-fails", action="store_true", help="run no further than to the first violation")
    return parser


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


def _report_worst(world: World) -> None:
    for what, worst in world.syscalls.worst.items():
        print(f"  {worst.count} {what} in one callback (bound {BOUNDS[what]})\n{''.join(worst.stack)}", flush=True)


def _shrink(seed: int, faults: int, scenario: Scenario | None) -> None:
    needed = shrink(range(faults), lambda kept: bool(run_seed(seed, kept, scenario).history.violations))
    print(f"It still fails with --faults {','.join(map(str, needed))}", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""The attacks of `python -m tests.faults hostile`, each for a moment, on a broker of their own."""

from pathlib import Path

from tests.faults.checker import Verdict
from tests.faults.hostile import run_attacks

_SECONDS = 1.0


def attack(directory: Path) -> Verdict:
    """What that scenario finds; it checks memory, the log, and that a well-behaved client is served meanwhile."""
    verdict = Verdict()
    for survived in run_attacks(directory, _SECONDS):
        print(survived, flush=True)
        verdict.counts["attacks"] += 1
        verdict.violations += [f"{survived.attack}: {each}" for each in (*survived.violations, *survived.slow)]
    if not verdict.counts["attacks"]:
        verdict.violations.append("nothing attacked")
    return verdict

"""The attacks of `python -m tests.faults hostile`, each for a moment, on a broker of their own."""

from collections.abc import Iterable
from pathlib import Path

from tests.faults.checker import Verdict
from tests.faults.hostile import Survived, run_attacks, run_attacks_at_doors

_SECONDS = 1.0


def attack(directory: Path) -> Verdict:
    """What that scenario finds; it checks memory, the log, and that a well-behaved client is served meanwhile."""
    return _verdict_on(run_attacks(directory, _SECONDS))


def attack_doors(directory: Path) -> Verdict:
    """The same of who stands before listeners that want a certificate or a login; getting in is a violation."""
    return _verdict_on(run_attacks_at_doors(directory, _SECONDS))


def _verdict_on(attacks: Iterable[Survived]) -> Verdict:
    verdict = Verdict()
    for survived in attacks:
        print(survived, flush=True)
        verdict.counts["attacks"] += 1
        verdict.violations += [
            f"{survived.attack}: {violation}" for violation in (*survived.violations, *survived.slow)
        ]
    if not verdict.counts["attacks"]:
        verdict.violations.append("nothing attacked")
    return verdict

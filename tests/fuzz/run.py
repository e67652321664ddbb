"""One run of the fuzzer: attackers, the victim, and what came of it."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.fuzz.attacker import Attacker, Counts
from tests.fuzz.values import Pools
from tests.fuzz.victim import TOPICS, Stall, Victim, running_victim, summary_of

_LOOK_EVERY = 50
#: How many connections speak as a member of the cluster.
_MEMBERS_SHARE = 0.4
#: Of the violations only the first tell something.
_VIOLATIONS_MAX = 5


@dataclass
class Run:
    seed: int
    counts: Counts
    stalls: list[Stall]
    rss_max_mb: float
    violations: list[str]

    def __str__(self) -> str:
        stalls = summary_of(self.stalls) or "  none"
        verdict = "\n".join(f"VIOLATION {violation}" for violation in self.violations) or "nothing was violated"
        return (
            f"seed {self.seed}\n{self.counts.table()}\nRSS at most {self.rss_max_mb:.0f} MB\n"
            f"the loop stood still:\n{stalls}\n{verdict}"
        )


def run_fuzz(directory: Path, seconds: float, seed: int, say: Callable[[str], None] = lambda text: None) -> Run:
    """Attack a broker for `seconds` or until something does not hold."""
    chance = random.Random(seed)
    with running_victim(directory) as victim:
        pools = Pools(chance, TOPICS, str(victim.outside))
        pools.know(**victim.facts)
        attacker = Attacker(lambda: victim.connect(as_member=chance.random() < _MEMBERS_SHARE), pools, chance)
        violations = _attack(attacker, victim, seconds, say)
        attacker.close()
        violations = violations or victim.final_violations()
        return Run(seed, attacker.counts, victim.stalls(), victim.rss_max_mb, violations[:_VIOLATIONS_MAX])


def _attack(attacker: Attacker, victim: Victim, seconds: float, say: Callable[[str], None]) -> list[str]:
    until = time.monotonic() + seconds
    reported_s = 0.0
    while time.monotonic() < until:
        for _ in range(_LOOK_EVERY):
            try:
                attacker.send_one()
            except ConnectionError:
                break
        if violations := victim.violations():
            return violations
        if time.monotonic() - reported_s > 60:
            reported_s = time.monotonic()
            sent, stalls = attacker.counts.sent.total(), len(victim.stalls())
            say(f"{sent:,} requests, {stalls} stalls, RSS {victim.rss_max_mb:.0f} MB")
    return []

"""Whether a process that ended by itself is started again, and when. Pure.

After 1, 2, 4 … 60 s. Running forgives deaths, one every 15 s and all after five minutes: who is killed now and
then is back at once, who does not come up is tried ever more rarely. What only an operator can change (a wrong
configuration: the process says so by its exit status) is not tried for ever. What an operator ended stays ended.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from broker.common.backoff import pause_after

FIRST_DELAY_S = 1
LONGEST_DELAY_S = 60
#: Running that long forgives one death, and all of them.
FORGIVES_ONE_S = 15
FORGIVES_ALL_S = 300
#: So many deaths within the window, and it is called flapping.
FLAPPING_DEATHS = 3
FLAPPING_WINDOW_S = 600
#: Tries for a process that says its configuration is wrong.
MISCONFIGURED_TRIES = 3
#: EX_CONFIG of sysexits.h: a StartupError that only an operator can cure (broker/common/errors.py).
MISCONFIGURED_STATUS = 78


class Policy(StrEnum):
    """Set by an operator for each process."""

    ALWAYS = "always"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class Restart:
    """`at` is when it is started again; None: it is not, and `gave_up` says whether that is for too many tries."""

    at: datetime | None
    why: str
    gave_up: bool = False


def plan_restart(policy: Policy, deaths_in_a_row: int, exit_status: int | None, now: datetime) -> Restart:
    """Plan what follows a death, which `deaths_in_a_row` includes."""
    if policy is Policy.NEVER:
        return Restart(None, "it is not started again: auto-restart is off")
    if exit_status == MISCONFIGURED_STATUS and deaths_in_a_row >= MISCONFIGURED_TRIES:
        return Restart(
            None, f"gave up after {deaths_in_a_row} tries: correct its configuration and start it", gave_up=True
        )
    delay_s = restart_delay_s(deaths_in_a_row)
    at = now + timedelta(seconds=delay_s)
    return Restart(at, f"started again in {delay_s} s (try {deaths_in_a_row}), at {clock_time(at)}")


def count_death(deaths_in_a_row: int, ran_s: float) -> int:
    """Return deaths in a row when one more comes after `ran_s` of running."""
    forgiven = deaths_in_a_row if ran_s >= FORGIVES_ALL_S else int(max(0.0, ran_s) // FORGIVES_ONE_S)
    return max(0, deaths_in_a_row - forgiven) + 1


def restart_delay_s(deaths_in_a_row: int) -> int:
    """Return seconds before the start that follows the `deaths_in_a_row`-th death."""
    return int(pause_after(deaths_in_a_row, FIRST_DELAY_S, LONGEST_DELAY_S))


def is_due(at: datetime | None, now: datetime) -> bool:
    """Return whether it is due, also if it is further ahead than any delay: the clock was set back."""
    return at is None or now >= at or at - now > timedelta(seconds=LONGEST_DELAY_S)


def deaths_within(deaths_ms: list[int], now_ms: int) -> list[int]:
    """Return the deaths that still count, oldest first, without future ones: the clock was set back."""
    return [at_ms for at_ms in deaths_ms if 0 <= now_ms - at_ms <= FLAPPING_WINDOW_S * 1000]


def clock_time(moment: datetime | None) -> str:
    """Format 12:03:04 UTC: the zone is written, because the reader may sit in another."""
    return f"{moment:%H:%M:%S %Z}".strip() if moment else "an unknown time"

"""What a process is and what to do about it, decided from facts. Pure: the step asks, this answers.

The one rule behind the table: an operator's wish is carried out once. A process that ends by itself stays ended, with
the reason in its sentence, until somebody presses Start.
"""

import signal
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Desired(StrEnum):
    """What an operator wants to last; `manage.py up` starts whatever should be running."""

    RUNNING = "running"
    STOPPED = "stopped"


class Request(StrEnum):
    """A wish not yet carried out. `STOP` while RUNNING is desired: the console goes down; the next `up` starts it."""

    NONE = ""
    START = "start"
    STOP = "stop"
    RESTART = "restart"


class Observed(StrEnum):
    STOPPED = "stopped"
    STARTING = "starting"
    RUNNING = "running"
    UNRESPONSIVE = "unresponsive"
    STOPPING = "stopping"
    EXITED = "exited"


class Do(StrEnum):
    NOTHING = "nothing"
    SPAWN = "spawn"
    TERMINATE = "terminate"
    KILL = "kill"


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known about one process at `now`.

    `recorded`: a process was started and its end has not been written down. `exit_status` is as `Popen.returncode`:
    negative for a signal, None when nobody could tell. `missing` says in words what it lacks to be running ("port 9092
    does not answer"), empty if nothing. `last_words` is the last line of its log.
    """

    now: datetime
    desired: Desired
    request: Request
    observed: Observed
    sentence: str
    grace_s: float
    recorded: bool = False
    alive: bool = False
    suspended: bool = False
    missing: str = ""
    started_at: datetime | None = None
    terminated_at: datetime | None = None
    exit_status: int | None = None
    last_words: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    observed: Observed
    sentence: str
    do: Do = Do.NOTHING


def decide(facts: Facts) -> Decision:
    """The state, the sentence a person reads, and the one thing to do now."""
    if facts.alive:
        return _ending(facts) if _must_end(facts) else _living(facts)
    if facts.request in (Request.START, Request.RESTART):
        return Decision(Observed.STARTING, "starting", Do.SPAWN)
    if facts.recorded:
        return _ended(facts)
    return Decision(facts.observed, facts.sentence)


def request_is_done(facts: Facts, decision: Decision) -> bool:
    """Whether the wish in `facts.request` needs nothing more once `decision` has been carried out."""
    if decision.do is Do.SPAWN:
        return True
    if facts.request is Request.START:
        return decision.observed in (Observed.STARTING, Observed.RUNNING, Observed.UNRESPONSIVE)
    return facts.request is Request.STOP and not facts.alive


def _must_end(facts: Facts) -> bool:
    """A process that was sent SIGTERM ends, even if somebody pressed Start meanwhile: the start comes after."""
    return (
        facts.request in (Request.STOP, Request.RESTART)
        or facts.desired is Desired.STOPPED
        or facts.terminated_at is not None
    )


def _ending(facts: Facts) -> Decision:
    waited = (facts.now - facts.terminated_at).total_seconds() if facts.terminated_at else -1.0
    if waited < 0:  # not asked yet, or the clock was set back since
        return Decision(Observed.STOPPING, "stopping: was asked to end (SIGTERM)", Do.TERMINATE)
    if waited >= facts.grace_s:
        sentence = f"stopping: did not end within {facts.grace_s:.0f} s of SIGTERM, so it is killed"
        return Decision(Observed.STOPPING, sentence, Do.KILL)
    return Decision(Observed.STOPPING, f"stopping: asked {waited:.0f} s ago, killed after {facts.grace_s:.0f} s")


def _living(facts: Facts) -> Decision:
    if facts.suspended:
        return Decision(Observed.UNRESPONSIVE, "alive, but suspended (SIGSTOP); it goes on after SIGCONT")
    if not facts.missing:
        return Decision(Observed.RUNNING, f"running since {clock_time(facts.started_at)}")
    if facts.observed in (Observed.RUNNING, Observed.UNRESPONSIVE):
        return Decision(Observed.UNRESPONSIVE, f"alive, but {facts.missing}")
    age = f" ({(facts.now - facts.started_at).total_seconds():.0f} s)" if facts.started_at else ""
    return Decision(Observed.STARTING, f"starting: {facts.missing} yet{age}")


def _ended(facts: Facts) -> Decision:
    at = clock_time(facts.now)
    if facts.terminated_at is not None or facts.desired is Desired.STOPPED or facts.request is Request.STOP:
        killed = " (had to be killed)" if facts.exit_status == -signal.SIGKILL else ""
        return Decision(Observed.STOPPED, f"stopped at {at}{killed}")
    said = f"; its last line: {facts.last_words}" if facts.last_words else ""
    if facts.exit_status is None:
        return Decision(Observed.EXITED, f"exited: gone since {at}, how it ended is not known{said}")
    if facts.exit_status < 0:
        return Decision(Observed.EXITED, f"exited: killed by {name_signal(-facts.exit_status)} at {at}")
    return Decision(Observed.EXITED, f"exited: ended by itself with status {facts.exit_status} at {at}{said}")


def clock_time(moment: datetime | None) -> str:
    """12:03:04 UTC: the zone is said, because the reader may sit in another."""
    return f"{moment:%H:%M:%S %Z}".strip() if moment else "an unknown time"


def name_signal(number: int) -> str:
    try:
        return f"signal {number} ({signal.Signals(number).name})"
    except ValueError:
        return f"signal {number}"


def silence_of(ports: tuple[int, ...]) -> str:
    """What is missing when `ports` do not answer; empty if there are none."""
    if not ports:
        return ""
    if len(ports) == 1:
        return f"port {ports[0]} does not answer"
    return f"ports {', '.join(map(str, ports[:-1]))} and {ports[-1]} do not answer"

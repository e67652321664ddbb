"""What a process is and what to do about it, decided from facts. Pure: the step asks, this answers.

The rules behind the table: an operator's wish is carried out once; a process that ends by itself while it is meant to
run is started again as `restarts` says; one that an operator ended, or the console when it went down, is not.
"""

import signal
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from console.kit.access.log_tail import LAST_LINE, LAST_LINE_WITH_RECORDS
from console.processes.restarts import MISCONFIGURED_STATUS, Policy, clock_time, count_death, is_due, plan_restart


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
    KILL = "kill"


class Observed(StrEnum):
    STOPPED = "stopped"
    STARTING = "starting"
    RUNNING = "running"
    UNRESPONSIVE = "unresponsive"
    STOPPING = "stopping"
    #: It ended by itself.
    EXITED = "exited"
    #: It ended by itself again and again, and is not tried any more.
    FAILED = "failed"


class ProcessStep(StrEnum):
    NOTHING = "nothing"
    SPAWN = "spawn"
    TERMINATE = "terminate"
    KILL = "kill"


@dataclass(frozen=True, slots=True, kw_only=True)
class ManagedProcessFacts:
    """What is known about one process at `now`.

    `recorded`: a process was started and its end has not been written down. `exit_status` is as `Popen.returncode`:
    negative for a signal, None when nobody could tell. `missing` says in words what it lacks to be running ("port 9092
    does not answer"), empty if nothing. `last_log_line` is of its log, which `may_quote_records` if it is a stream
    job's. `deaths_in_a_row` are those before this look, `running_since` is None for what did not run,
    `start_again_at` for what waits for no other try.
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
    last_log_line: str = ""
    may_quote_records: bool = False
    restart: Policy = Policy.ALWAYS
    deaths_in_a_row: int = 0
    running_since: datetime | None = None
    start_again_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ProcessDecision:
    """`deaths_in_a_row` is 0 unless its end by itself is seen now, for the first time."""

    observed: Observed
    sentence: str
    do: ProcessStep = ProcessStep.NOTHING
    start_again_at: datetime | None = None
    deaths_in_a_row: int = 0


def decide(facts: ManagedProcessFacts) -> ProcessDecision:
    """Return the state, the sentence a person reads, and the one thing to do now."""
    if facts.alive:
        return _ending(facts) if _must_end(facts) else _living(facts)
    if facts.request in (Request.START, Request.RESTART):
        return ProcessDecision(Observed.STARTING, "starting", ProcessStep.SPAWN)
    if facts.recorded:
        return _ended(facts)
    return _away(facts)


def could_not_start(facts: ManagedProcessFacts, error: str) -> ProcessDecision:
    """Decide after a failed start: there is no process, and only an operator can change that."""
    return _died(facts, f"could not be started at {clock_time(facts.now)}: {error}", MISCONFIGURED_STATUS)


def request_is_done(facts: ManagedProcessFacts, decision: ProcessDecision) -> bool:
    """Return whether the wish in `facts.request` needs nothing more once `decision` has been carried out."""
    if decision.do is ProcessStep.SPAWN:
        return True
    if facts.request is Request.START:
        return decision.observed in (Observed.STARTING, Observed.RUNNING, Observed.UNRESPONSIVE)
    return facts.request in (Request.STOP, Request.KILL) and not facts.alive


def _must_end(facts: ManagedProcessFacts) -> bool:
    """Return whether the process must end: one that was sent SIGTERM ends even if it is wanted again; it is started
    afterwards.
    """
    return (
        facts.request in (Request.STOP, Request.RESTART, Request.KILL)
        or facts.desired is Desired.STOPPED
        or facts.terminated_at is not None
    )


def _ending(facts: ManagedProcessFacts) -> ProcessDecision:
    if facts.request is Request.KILL:
        return ProcessDecision(Observed.STOPPING, "stopping: is killed, as asked (SIGKILL)", ProcessStep.KILL)
    waited = (facts.now - facts.terminated_at).total_seconds() if facts.terminated_at else -1.0
    if waited < 0:  # not asked yet, or the clock was set back since
        return ProcessDecision(Observed.STOPPING, "stopping: was asked to end (SIGTERM)", ProcessStep.TERMINATE)
    if waited >= facts.grace_s:
        sentence = f"stopping: did not end within {facts.grace_s:.0f} s of SIGTERM, so it is killed"
        return ProcessDecision(Observed.STOPPING, sentence, ProcessStep.KILL)
    return ProcessDecision(Observed.STOPPING, f"stopping: asked {waited:.0f} s ago, killed after {facts.grace_s:.0f} s")


def _living(facts: ManagedProcessFacts) -> ProcessDecision:
    if facts.suspended:
        return ProcessDecision(Observed.UNRESPONSIVE, "alive, but suspended (SIGSTOP); it goes on after SIGCONT")
    if not facts.missing:
        return ProcessDecision(Observed.RUNNING, f"running since {clock_time(facts.started_at)}")
    if facts.observed in (Observed.RUNNING, Observed.UNRESPONSIVE):
        return ProcessDecision(Observed.UNRESPONSIVE, f"alive, but {facts.missing}")
    age = f" ({(facts.now - facts.started_at).total_seconds():.0f} s)" if facts.started_at else ""
    return ProcessDecision(Observed.STARTING, f"starting: {facts.missing} yet{age}")


def _ended(facts: ManagedProcessFacts) -> ProcessDecision:
    at = clock_time(facts.now)
    if facts.request is Request.KILL:
        return ProcessDecision(Observed.STOPPED, f"stopped at {at} (killed, as asked)")
    if facts.terminated_at is not None or facts.desired is Desired.STOPPED or facts.request is Request.STOP:
        killed = " (had to be killed)" if facts.exit_status == -signal.SIGKILL else ""
        return ProcessDecision(Observed.STOPPED, f"stopped at {at}{killed}")
    if facts.exit_status is None:
        return _died(facts, f"gone since {at}, how it ended is not known", None)
    if facts.exit_status < 0:
        return _died(facts, f"killed by {name_signal(-facts.exit_status)} at {at}", facts.exit_status)
    return _died(facts, f"ended by itself with status {facts.exit_status} at {at}", facts.exit_status)


def _died(facts: ManagedProcessFacts, how: str, exit_status: int | None) -> ProcessDecision:
    """Return the decision after a process ended; its last log line does not explain a signal, which comes from
    outside.
    """
    ran_s = (facts.now - facts.running_since).total_seconds() if facts.running_since else 0.0
    deaths = count_death(facts.deaths_in_a_row, ran_s)
    restart = plan_restart(facts.restart, deaths, exit_status, facts.now)
    was_killed = exit_status is not None and exit_status < 0
    mark = LAST_LINE_WITH_RECORDS if facts.may_quote_records else LAST_LINE
    last_log_line = f"{mark}{facts.last_log_line}" if facts.last_log_line and not was_killed else ""
    observed = Observed.FAILED if restart.gave_up else Observed.EXITED
    return ProcessDecision(
        observed, f"{observed}: {how}; {restart.why}{last_log_line}", start_again_at=restart.at, deaths_in_a_row=deaths
    )


def _away(facts: ManagedProcessFacts) -> ProcessDecision:
    """Decide for a process that is not running as expected. One that waits for its next try may be called off, or be
    due.
    """
    as_before = ProcessDecision(facts.observed, facts.sentence, start_again_at=facts.start_again_at)
    if facts.observed not in (Observed.EXITED, Observed.FAILED):
        return as_before
    if facts.request in (Request.STOP, Request.KILL):
        return ProcessDecision(Observed.STOPPED, f"stopped at {clock_time(facts.now)}: it had ended by itself before")
    wanted = facts.desired is Desired.RUNNING and facts.restart is Policy.ALWAYS
    if facts.observed is Observed.FAILED or not wanted:
        return replace(as_before, start_again_at=None)
    if is_due(facts.start_again_at, facts.now):
        return ProcessDecision(Observed.STARTING, "starting again, after it ended by itself", ProcessStep.SPAWN)
    return as_before


def name_signal(number: int) -> str:
    try:
        return f"signal {number} ({signal.Signals(number).name})"
    except ValueError:
        return f"signal {number}"


def silence_of(ports: tuple[int, ...]) -> str:
    """Return what is missing while `ports` do not answer; empty without ports."""
    if not ports:
        return ""
    if len(ports) == 1:
        return f"port {ports[0]} does not answer"
    return f"ports {', '.join(map(str, ports[:-1]))} and {ports[-1]} do not answer"

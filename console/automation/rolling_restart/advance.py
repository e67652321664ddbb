"""One beat of a rolling restart: gather facts, decide, do, write, push.

The beat may come twice or not at all: what is to be done is in the rows, and asking a process for a restart that it was
asked for already changes nothing.
"""

from collections import Counter
from datetime import datetime
from functools import partial

from django.db.models import Q
from django.utils import timezone

from console.automation.rolling_restart.decide import (
    BrokerFacts,
    RestartDecision,
    RestartFacts,
    RestartProgress,
    RestartStep,
    decide,
)
from console.automation.rolling_restart.models import RestartedBroker, RollingRestart
from console.automation.rolling_restart.queries import find_gaps
from console.kit.common.clock import now_ms
from console.kit.operations.rows import settle
from console.processes.access import may_still_operate
from console.processes.actions import do_restart
from console.processes.models import ManagedProcess
from console.processes.states import Observed
from console.state.clusters.models import Broker, Partition
from console.state.clusters.queries import cluster_state

State = RollingRestart.State
_STATES = {RestartStep.PAUSE: State.PAUSED, RestartStep.FINISH: State.DONE}
#: Partitions named in a sentence.
NAMED_MAX = 3
_NOT_ALLOWED = "{} may not restart these brokers any more. A user with the right can resume it."
_ENDED = (Observed.EXITED, Observed.FAILED, Observed.STOPPED)


def advance(restart: RollingRestart) -> None:
    """Take the next step; of one that is paused, only see the broker under way come back."""
    now = timezone.now()
    rows = list(restart.brokers.all())
    processes = {
        process.name: process for process in ManagedProcess.objects.filter(name__in=[row.name for row in rows])
    }
    _note_who_is_back(rows, processes, now)
    decision = decide(_facts(restart, rows, processes))
    if decision.do is RestartStep.RESTART and not may_still_operate(restart.actor, [row.name for row in rows]):
        decision = RestartDecision(
            RestartStep.PAUSE, f"Paused before {decision.name}: {_NOT_ALLOWED.format(restart.actor_name)}"
        )
    values = {"state": _STATES.get(decision.do, restart.state), "sentence": decision.sentence}
    settle(restart, values, partial(_move_on, restart, rows, decision, now))


def _move_on(restart: RollingRestart, rows: list[RestartedBroker], decision: RestartDecision, now: datetime) -> bool:
    """Move on; True if a broker got further, or was sent a request."""
    row = next((row for row in rows if row.name == decision.name), None)
    if row is None or decision.progress is None:
        return False
    before, row.progress = row.progress, decision.progress.value
    row.asked_at = now if decision.do is RestartStep.RESTART else row.asked_at
    row.done_at = now if decision.progress is RestartProgress.DONE else row.done_at
    row.save(update_fields=["progress", "asked_at", "done_at"])
    if decision.do is RestartStep.RESTART:
        do_restart(restart.actor, ManagedProcess.objects.get(name=row.name))
    return row.progress != before


def _note_who_is_back(rows: list[RestartedBroker], processes: dict[str, ManagedProcess], now: datetime) -> None:
    for row in rows:
        process = processes.get(row.name)
        if row.back_at is None and process is not None and _is_new(row, process) and _is_running(process):
            row.back_at = now
            row.save(update_fields=["back_at"])


def _facts(restart: RollingRestart, rows: list[RestartedBroker], processes: dict[str, ManagedProcess]) -> RestartFacts:
    state = cluster_state()
    registered = frozenset(Broker.objects.filter(is_registered=True).values_list("broker_id", flat=True))
    lacking_count, lacking = _lacking()
    return RestartFacts(
        now_ms=now_ms(),
        brokers=[_broker_facts(row, processes.get(row.name), registered) for row in rows],
        controller_id=state.controller_id,
        seen_at_ms=0 if state.topics_error else state.topics_at_ms,
        lacking_count=lacking_count,
        lacking=lacking,
        gaps=Counter(gap.broker_id for gap in find_gaps(row.broker_id for row in rows)),
        accepts_gaps=restart.accepts_gaps,
        is_paused=restart.state == State.PAUSED,
    )


def _broker_facts(row: RestartedBroker, process: ManagedProcess | None, registered: frozenset[int]) -> BrokerFacts:
    is_new = process is not None and _is_new(row, process)
    return BrokerFacts(
        row.name,
        row.broker_id,
        RestartProgress(row.progress),
        process.sentence if process else "its process is not managed here any more",
        is_running=process is not None and _is_running(process),
        has_ended=process is None or (process.observed in _ENDED and not process.request),
        is_new=is_new,
        is_registered=row.broker_id in registered,
        back_at_ms=int(row.back_at.timestamp() * 1000) if row.back_at else None,
    )


def _is_new(row: RestartedBroker, process: ManagedProcess) -> bool:
    return row.asked_at is not None and process.started_at is not None and process.started_at >= row.asked_at


def _is_running(process: ManagedProcess) -> bool:
    return process.observed == Observed.RUNNING and not process.request


def _lacking() -> tuple[int, list[str]]:
    """Return how many partitions lack a replica in sync, and some of them by name."""
    suspects = Partition.objects.filter(
        Q(topic__under_replicated_count__gt=0) | Q(topic__leaderless_count__gt=0)
    ).select_related("topic")
    lacking = [str(suspect) for suspect in suspects if suspect.is_under_replicated or suspect.leader is None]
    return len(lacking), lacking[:NAMED_MAX]

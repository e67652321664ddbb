"""One step for one process: look, decide, do, write down, tell the pages.

A step is short and may be run by anybody at any time (a worker's task, the reconcile of every second, the console going
down): a lock per process lets one in after the other, and each starts from what is, not from what was planned.
"""

import logging
import secrets
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime

from django.conf import settings
from django.utils import timezone

from broker.common.installation import module_command
from console.kit.common.databases import cluster_atomic, on_cluster_commit
from console.kit.common.file_lock import exclusive
from console.kit.live import idle_pace
from console.processes import os_process
from console.processes.announce import push_process
from console.processes.cluster_look import cluster_look
from console.processes.facts import TRANSITIONAL, gather_facts, identity_of, measure_is_due, run_files_of_processes
from console.processes.kinds import LIGHT, kind_named, refuse_uninstalled
from console.processes.kinds.spec import SpecError, check_name
from console.processes.log_files import bound_log
from console.processes.models import ManagedProcess
from console.processes.os_process import ProcessIdentity, Sighting
from console.processes.presenters import TONES
from console.processes.restarts import deaths_within
from console.processes.run_files import forget_run, note_end, noted_end, write_run_file
from console.processes.states import (
    Desired,
    ManagedProcessFacts,
    Observed,
    ProcessDecision,
    ProcessStep,
    Request,
    could_not_start,
    decide,
    request_is_done,
)
from console.processes.truths import ClusterLook, ProcessState, Truths, honest_state
from console.state.history.differences import HistoryEvent
from console.state.history.store import write_events

logger = logging.getLogger(__name__)

SETTLE_POLL_S = 0.1
SENTENCE_LENGTH_MAX = 500
STATE_SENTENCE_LENGTH_MAX = 700


def settle(name: str, for_s: float) -> ManagedProcess:
    """Step until the process is in a lasting state and nothing is requested, but no longer than `for_s`."""
    deadline = time.monotonic() + for_s
    while True:
        process = step(name)
        done = process.observed not in TRANSITIONAL and process.request == Request.NONE
        if done or time.monotonic() >= deadline:
            return process
        time.sleep(SETTLE_POLL_S)


def alone_with(name: str) -> AbstractContextManager[bool]:
    """Keep steps of the process out of the block. Raises SpecError for an invalid name."""
    check_name(name)
    return exclusive(settings.RUN_DIR / "locks" / f"{name}.lock")


def step(name: str, look: ClusterLook | None = None) -> ManagedProcess:
    """Bring one process a step nearer to what is wanted; returns its row as written."""
    with alone_with(name):
        process = ManagedProcess.objects.get(name=name)
        before = _columns(process)
        identity = identity_of(process)
        sighting = _look_at(name, identity)
        now = timezone.localtime()
        facts = gather_facts(process, identity, sighting, now)
        decision = decide(facts)
        _write_down(process, facts, decision, identity if sighting.alive else None)
        decision = _carry_out(process, facts, decision, identity)
        _write_state(process, facts, before, look or cluster_look())
        if sighting.alive and identity:
            _measure(process, identity, now)
        _save(process, before, facts, decision)
        if identity and not sighting.alive:
            forget_run(run_files_of_processes(), name, identity)
    return process


def _look_at(name: str, identity: ProcessIdentity | None) -> Sighting:
    """Look at a process. Its exit is in the run file until the row has it: a worker may be killed while the database is
    locked.
    """
    if identity is None:
        return os_process.GONE
    sighting = os_process.look(identity)
    if not sighting.alive:
        if sighting.exit_status is None:
            return replace(sighting, exit_status=noted_end(run_files_of_processes(), name, identity))
        note_end(run_files_of_processes(), name, identity, sighting.exit_status)
    return sighting


def rests(process: ManagedProcess, look: ClusterLook) -> bool:
    """Return whether a step would find a running process as the last one left it; most do.

    Without the process's lock: a wish that comes meanwhile is pursued by its task, and by the next look. If it does not
    rest, `process` is not to be used any more.
    """
    before, identity, now = _columns(process), identity_of(process), timezone.localtime()
    is_wanted_as_it_is = process.desired == Desired.RUNNING and process.request == Request.NONE
    if not is_wanted_as_it_is or process.observed != Observed.RUNNING or measure_is_due(process, now):
        return False
    sighting = os_process.look(identity) if identity else os_process.GONE
    if not sighting.alive or sighting.suspended:
        return False
    facts = gather_facts(process, identity, sighting, now)
    decision = decide(facts)
    _note(process, decision, facts)
    _write_state(process, facts, before, look)
    return decision.do is ProcessStep.NOTHING and _columns(process) == before


def _write_down(
    process: ManagedProcess, facts: ManagedProcessFacts, decision: ProcessDecision, living: ProcessIdentity | None
) -> None:
    _note(process, decision, facts)
    if living is not None:
        process.pid, process.create_time, process.run_token = living.pid, living.create_time, living.token
        process.started_at = process.started_at or facts.now
    elif facts.recorded:
        os_process.kill_family(process.run_token)  # nothing it started outlives it
        # A process that was killed says nothing on its own log.
        logger.warning("process %s, pid %s: %s", process.name, process.pid, decision.sentence)
        process.pid = process.create_time = process.terminated_at = None
        process.memory_bytes = process.cpu_seconds = process.cpu_percent = process.measured_at = None
        process.exit_status, process.ended_at = facts.exit_status, facts.now


def _note(process: ManagedProcess, decision: ProcessDecision, facts: ManagedProcessFacts) -> None:
    process.observed, process.sentence = decision.observed, decision.sentence[:SENTENCE_LENGTH_MAX]
    process.start_again_at = decision.start_again_at
    if decision.deaths_in_a_row:
        now_ms = int(facts.now.timestamp() * 1000)
        process.deaths = [*deaths_within(process.deaths, now_ms), now_ms]
        process.deaths_in_a_row = decision.deaths_in_a_row


def _carry_out(
    process: ManagedProcess, facts: ManagedProcessFacts, decision: ProcessDecision, identity: ProcessIdentity | None
) -> ProcessDecision:
    match decision.do:
        case ProcessStep.SPAWN:
            return _spawn(process, facts, decision)
        case ProcessStep.TERMINATE:
            os_process.terminate(_leader(identity))
            process.terminated_at = facts.now
        case ProcessStep.KILL:
            os_process.kill(_leader(identity))
    return decision


def _leader(identity: ProcessIdentity | None) -> ProcessIdentity:
    """Return who is to be ended. Only a process that lives is ended, and only a known one is seen to live."""
    assert identity is not None
    return identity


def _spawn(process: ManagedProcess, facts: ManagedProcessFacts, decision: ProcessDecision) -> ProcessDecision:
    """Start it. The token is in the database before the process exists, so it can be found whatever happens next."""
    os_process.kill_family(process.run_token)
    process.run_token, process.started_at = secrets.token_hex(16), facts.now
    process.exit_status = process.ended_at = None
    if facts.request:
        process.deaths_in_a_row = 0
    else:
        process.restart_count += 1
    process.save(update_fields=["observed", "sentence", "run_token", "started_at", "pid", "create_time"])
    try:
        refuse_uninstalled(process.kind)
        environment = os_process.ONE_ARENA if process.kind in LIGHT else {}
        identity = os_process.spawn(_argv(process), environment, settings.RUN_DIR, process.log_path, process.run_token)
    except (OSError, SpecError) as error:
        never_ran = replace(facts, deaths_in_a_row=process.deaths_in_a_row, running_since=None)
        failed = could_not_start(never_ran, str(error))
        process.ended_at = facts.now
        _note(process, failed, facts)
        return replace(failed, do=ProcessStep.SPAWN)
    process.pid, process.create_time = identity.pid, identity.create_time
    write_run_file(run_files_of_processes(), process.name, identity)
    return decision


def _argv(process: ManagedProcess) -> list[str]:
    """Raises SpecError, OSError."""
    kind = kind_named(process.kind)
    kind.refresh_files(kind.check(process.spec))
    return module_command("broker", *process.launch.arguments)


def _write_state(
    process: ManagedProcess, facts: ManagedProcessFacts, before: Mapping[str, object], look: ClusterLook
) -> None:
    """Write the process's state, and what its port and the cluster report."""
    kind, now_ms = kind_named(process.kind), int(facts.now.timestamp() * 1000)
    cluster = kind.cluster_truth(process, look)
    since = before["changed_at"] if before["observed"] == process.observed else facts.now
    is_running = process.observed == Observed.RUNNING
    truths = Truths(
        now_ms=now_ms,
        observed=Observed(process.observed),
        sentence=process.sentence.removeprefix(process.observed).lstrip(": "),
        suspended=facts.suspended,
        running_since_ms=int(since.timestamp() * 1000) if is_running and isinstance(since, datetime) else None,
        ended_ms=int(process.ended_at.timestamp() * 1000) if process.ended_at else None,
        deaths=len(deaths_within(process.deaths, now_ms)),
        cluster=cluster,
    )
    honest = honest_state(truths)
    process.state, process.state_sentence = honest.state, honest.sentence[:STATE_SENTENCE_LENGTH_MAX]
    process.cluster_says = cluster.sentence[:300]
    process.port_says = (_port_says(process, facts) or process.port_says)[:200]


def _port_says(process: ManagedProcess, facts: ManagedProcessFacts) -> str:
    """Empty: not asked now."""
    if not facts.alive:
        return "it does not run, so it cannot answer"
    if facts.suspended:
        return "not asked: it is suspended"
    if facts.missing:
        return facts.missing
    return kind_named(process.kind).describe_answer(process) if process.observed == Observed.RUNNING else ""


def _measure(process: ManagedProcess, identity: ProcessIdentity, now: datetime) -> None:
    if not measure_is_due(process, now):
        return
    bound_log(process.log_path)
    measure = os_process.measure(identity)
    if measure is None:
        return
    if process.measured_at is not None and process.cpu_seconds is not None:
        used, passed = measure.cpu_seconds - process.cpu_seconds, (now - process.measured_at).total_seconds()
        process.cpu_percent = round(max(0.0, 100 * used / passed), 1)
    process.memory_bytes, process.cpu_seconds, process.measured_at = measure.memory_bytes, measure.cpu_seconds, now


def _columns(process: ManagedProcess) -> dict[str, object]:
    return {field.attname: getattr(process, field.attname) for field in process._meta.concrete_fields}


#: What an operator writes; a step changes nothing of it but the request it has carried out.
_WISHES = {"desired", "request", "restart", "is_leaving"}
_WELL = {ProcessState.REGISTERED, ProcessState.CATCHING_UP, ProcessState.HEALTHY}


def _events(process: ManagedProcess, before: Mapping[str, object]) -> list[HistoryEvent]:
    """Return events of a changed state, in the words of all pages; none while the cluster cannot be asked."""
    word, was = ProcessState(process.state), ProcessState(str(before["state"]))
    if word is was or (ProcessState.RUNNING in (word, was) and _WELL & {word, was}):
        return []
    words = process.state_sentence.removeprefix(word).lstrip(": ")
    now = f"{word} ({words})" if words else word
    return [HistoryEvent("process", process.name, f"{process.name} is {now}; was {was}", TONES[word])]


def _save(
    process: ManagedProcess, before: Mapping[str, object], facts: ManagedProcessFacts, decision: ProcessDecision
) -> None:
    """Write the columns that changed and show the row if it did. A newer request than the one seen is left alone."""
    with cluster_atomic():
        if process.observed != before["observed"]:
            process.changed_at = facts.now
            logger.info("%s: %s", process.name, process.sentence)
        events = _events(process, before)
        write_events(events, int(facts.now.timestamp() * 1000))
        if events:
            on_cluster_commit(idle_pace.call)
        after = _columns(process)
        changed = {column for column in after if after[column] != before[column]} - _WISHES
        if changed:
            process.save(update_fields=changed)
        if facts.request and request_is_done(facts, decision):
            same_wish = ManagedProcess.objects.filter(pk=process.pk, request=facts.request, desired=facts.desired)
            if same_wish.update(request=Request.NONE):
                process.request = Request.NONE
                changed.add("request")
        if changed:
            push_process(process)

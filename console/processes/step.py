"""One step for one process: look, decide, do, write down, tell the pages.

A step is short and may be run by anybody at any time (a worker's task, the reconcile of every second, the console going
down): a lock per process lets one in after the other, and each starts from what is, not from what was planned.
"""

import logging
import secrets
import time
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from console.history.differences import Event
from console.history.record import write_events
from console.processes import os_process
from console.processes.file_lock import exclusive
from console.processes.log_files import bound_log, last_line
from console.processes.models import ManagedProcess
from console.processes.os_process import Identity, Sighting
from console.processes.pages import TONES, push_process
from console.processes.readiness import what_is_missing
from console.processes.run_files import read_run_file, remove_run_file, write_run_file
from console.processes.states import Decision, Desired, Do, Facts, Observed, Request, decide, request_is_done

logger = logging.getLogger(__name__)

MEASURE_EVERY = timedelta(seconds=5)
SETTLE_POLL_S = 0.1
SENTENCE_LENGTH_MAX = 500
LAST_WORDS_LENGTH_MAX = 240
TRANSITIONAL = (Observed.STARTING, Observed.STOPPING)


def run_files_of_processes() -> Path:
    return settings.RUN_DIR / "processes"


def settle(name: str, for_s: float) -> ManagedProcess:
    """Step until the process is in a lasting state and nothing is requested, but no longer than `for_s`."""
    deadline = time.monotonic() + for_s
    while True:
        process = step(name)
        done = process.observed not in TRANSITIONAL and process.request == Request.NONE
        if done or time.monotonic() >= deadline:
            return process
        time.sleep(SETTLE_POLL_S)


def step(name: str) -> ManagedProcess:
    """Bring one process a step nearer to what is wanted; returns its row as written."""
    with exclusive(settings.RUN_DIR / "locks" / f"{name}.lock"):
        process = ManagedProcess.objects.get(name=name)
        before = _columns(process)
        identity = _identity(process)
        sighting = os_process.look(identity) if identity else os_process.GONE
        now = timezone.localtime()
        facts = _facts(process, identity, sighting, now)
        decision = decide(facts)
        _write_down(process, facts, decision, identity if sighting.alive else None)
        decision = _carry_out(process, decision, identity, now)
        if sighting.alive and identity:
            _measure(process, identity, now)
        _save(process, before, facts, decision)
    return process


def _identity(process: ManagedProcess) -> Identity | None:
    """Who the row means; found again by run file or token when a worker died between the start and the row."""
    if process.pid is not None:
        return Identity(process.pid, process.create_time, process.run_token)
    left = read_run_file(run_files_of_processes(), process.name)
    if left is not None and os_process.look(left).alive:
        return left
    if process.observed == Observed.STARTING and process.run_token:
        return os_process.find_leader(process.run_token)
    return None


def _facts(process: ManagedProcess, identity: Identity | None, sighting: Sighting, now: datetime) -> Facts:
    facts = Facts(
        now=now,
        desired=Desired(process.desired),
        request=Request(process.request),
        observed=Observed(process.observed),
        sentence=process.sentence,
        grace_s=process.grace_s,
        recorded=process.pid is not None or process.observed in (*TRANSITIONAL, Observed.RUNNING),
        alive=sighting.alive,
        suspended=sighting.suspended,
        started_at=timezone.localtime(process.started_at) if process.started_at else None,
        terminated_at=process.terminated_at,
        exit_status=sighting.exit_status,
    )
    if not sighting.alive:
        words = last_line(Path(process.log_path))[:LAST_WORDS_LENGTH_MAX] if facts.recorded else ""
        return replace(facts, last_words=words)
    if process.observed == Observed.RUNNING and not _measure_is_due(process, now):
        return facts
    return replace(facts, missing=what_is_missing(process, identity.pid, now.timestamp()))


def _write_down(process: ManagedProcess, facts: Facts, decision: Decision, living: Identity | None) -> None:
    process.observed, process.sentence = decision.observed, decision.sentence[:SENTENCE_LENGTH_MAX]
    if living is not None:
        process.pid, process.create_time, process.run_token = living.pid, living.create_time, living.token
        process.started_at = process.started_at or facts.now
    elif facts.recorded:
        process.pid = process.create_time = process.terminated_at = None
        process.rss_bytes = process.cpu_seconds = process.cpu_percent = process.measured_at = None
        process.exit_status, process.ended_at = facts.exit_status, facts.now
        remove_run_file(run_files_of_processes(), process.name)


def _carry_out(process: ManagedProcess, decision: Decision, identity: Identity | None, now: datetime) -> Decision:
    match decision.do:
        case Do.SPAWN:
            return _spawn(process, decision, now)
        case Do.TERMINATE:
            os_process.terminate(identity)
            process.terminated_at = now
        case Do.KILL:
            os_process.kill(identity)
    return decision


def _spawn(process: ManagedProcess, decision: Decision, now: datetime) -> Decision:
    """Start it. The token is in the database before the process exists, so it can be found whatever happens next."""
    os_process.kill_family(process.run_token)
    process.run_token, process.started_at = secrets.token_hex(16), now
    process.exit_status = process.ended_at = None
    process.save(update_fields=["observed", "sentence", "run_token", "started_at", "pid", "create_time"])
    try:
        identity = os_process.spawn(
            process.argv, process.env, Path(process.working_dir), Path(process.log_path), process.run_token
        )
    except OSError as error:
        process.observed, process.ended_at = Observed.EXITED, now
        process.sentence = f"exited: could not be started: {error}"[:SENTENCE_LENGTH_MAX]
        return replace(decision, observed=Observed.EXITED)
    process.pid, process.create_time = identity.pid, identity.create_time
    write_run_file(run_files_of_processes(), process.name, identity)
    return decision


def _measure_is_due(process: ManagedProcess, now: datetime) -> bool:
    """Also when the last time lies ahead: the clock was set back."""
    return process.measured_at is None or not timedelta(0) <= now - process.measured_at < MEASURE_EVERY


def _measure(process: ManagedProcess, identity: Identity, now: datetime) -> None:
    if not _measure_is_due(process, now):
        return
    bound_log(Path(process.log_path))
    measure = os_process.measure(identity)
    if measure is None:
        return
    if process.measured_at is not None and process.cpu_seconds is not None:
        used, passed = measure.cpu_seconds - process.cpu_seconds, (now - process.measured_at).total_seconds()
        process.cpu_percent = round(max(0.0, 100 * used / passed), 1)
    process.rss_bytes, process.cpu_seconds, process.measured_at = measure.rss_bytes, measure.cpu_seconds, now


def _columns(process: ManagedProcess) -> dict:
    return {field.attname: getattr(process, field.attname) for field in process._meta.concrete_fields}


#: What an operator writes; a step changes nothing of it but the request it has carried out.
_WISHES = {"desired", "request"}


def _change(process: ManagedProcess, before: str) -> Event:
    words = process.sentence.removeprefix(process.observed).lstrip(": ")
    now = f"{process.observed} ({words})" if words else process.observed
    tone = TONES[Observed(process.observed)]
    return Event("process", process.name, f"{process.name} is {now}, before {before}", tone)


def _save(process: ManagedProcess, before: dict, facts: Facts, decision: Decision) -> None:
    """Write the columns that changed and show the row if it did. A newer request than the one seen is left alone."""
    with transaction.atomic():
        if process.observed != before["observed"]:
            process.changed_at = facts.now
            logger.info("%s: %s", process.name, process.sentence)
            write_events([_change(process, before["observed"])], int(facts.now.timestamp() * 1000))
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

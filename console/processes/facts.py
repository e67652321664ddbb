"""Gathering what is known about one process: who it is, whether it lives, what it lacks."""

from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.utils import timezone

from console.processes import os_process
from console.processes.kinds import kind_named
from console.processes.log_files import last_line
from console.processes.models import ManagedProcess
from console.processes.os_process import ProcessIdentity, Sighting
from console.processes.restarts import Policy
from console.processes.run_files import read_run_file
from console.processes.states import Desired, ManagedProcessFacts, Observed, Request

MEASURE_EVERY = timedelta(seconds=5)
LAST_WORDS_LENGTH_MAX = 200
TRANSITIONAL = (Observed.STARTING, Observed.STOPPING)


def run_files_of_processes() -> Path:
    return settings.RUN_DIR / "processes"


def recorded_identity(process: ManagedProcess) -> ProcessIdentity | None:
    """Return who the row means; None for a row without a process."""
    if process.pid is None or process.create_time is None:
        return None
    return ProcessIdentity(process.pid, process.create_time, process.run_token)


def identity_of(process: ManagedProcess) -> ProcessIdentity | None:
    """Return the row's process, found by run file or token if a worker died before it stored the row; None
    without one.
    """
    if (recorded := recorded_identity(process)) is not None:
        return recorded
    left = read_run_file(run_files_of_processes(), process.name)
    if left is not None and os_process.look(left).alive:
        return left
    if process.observed == Observed.STARTING and process.run_token:
        return os_process.find_leader(process.run_token)
    return None


def gather_facts(
    process: ManagedProcess, identity: ProcessIdentity | None, sighting: Sighting, now: datetime
) -> ManagedProcessFacts:
    facts = ManagedProcessFacts(
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
        restart=Policy(process.restart),
        deaths_in_a_row=process.deaths_in_a_row,
        running_since=process.changed_at if process.observed in (Observed.RUNNING, Observed.UNRESPONSIVE) else None,
        start_again_at=process.start_again_at,
    )
    if identity is None or not sighting.alive:
        words = last_line(process.log_path)[:LAST_WORDS_LENGTH_MAX] if facts.recorded else ""
        return replace(facts, last_log_line=words, may_quote_records=process.kind == ManagedProcess.Kind.STREAM)
    if sighting.suspended or (process.observed == Observed.RUNNING and not measure_is_due(process, now)):
        return facts
    missing = kind_named(process.kind).what_is_missing(process, identity.pid, now.timestamp())
    return replace(facts, missing=missing)


def measure_is_due(process: ManagedProcess, now: datetime) -> bool:
    """Return whether a measurement is due, also if the last time is in the future: the clock was set back."""
    return process.measured_at is None or not timedelta(0) <= now - process.measured_at < MEASURE_EVERY

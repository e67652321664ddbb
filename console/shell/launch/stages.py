"""Managed processes brought up and down stage by stage: each stage is ready before the next one starts."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from console.processes import os_process
from console.processes.actions import do_shut_down, do_start
from console.processes.facts import recorded_identity
from console.processes.kinds import START_ORDER, kind_named
from console.processes.models import ManagedProcess
from console.processes.states import Desired, Observed
from console.processes.step import step
from console.shell.launch.progress import LaunchProgress

READY_TIMEOUT_S = 60.0
POLL_S = 0.1

Kind = ManagedProcess.Kind


@dataclass(frozen=True)
class Stages:
    """`look_after_services` is called while something is awaited; it raises when told to stop."""

    progress: LaunchProgress
    look_after_services: Callable[[], None]

    def start(self, kinds: tuple[str, ...], rows: list[ManagedProcess]) -> bool:
        """Start every process of `kinds` that is to run, in order. False if one did not become ready."""
        are_ready = [self._start_stage([row for row in rows if row.kind == kind]) for kind in kinds]
        return all(are_ready)

    def start_at_once(self, kinds: tuple[str, ...], rows: list[ManagedProcess]) -> bool:
        """Start kinds that do not depend on each other, as `start`."""
        return self._start_stage([row for row in rows if row.kind in kinds])

    def _start_stage(self, rows: list[ManagedProcess]) -> bool:
        stage = [row for row in rows if row.desired == Desired.RUNNING]
        since = self.progress.now()
        for row in stage:
            do_start(None, row)
        are_ready = [self._await_ready(row, sum(item.kind == row.kind for item in stage), since) for row in stage]
        return all(are_ready)

    def _await_ready(self, row: ManagedProcess, count: int, since: float) -> bool:
        subject = title(row) if count == 1 else f"{title(row)} of {count}"
        with self.progress.doing(subject, since=since) as outcome:
            deadline = time.monotonic() + READY_TIMEOUT_S
            while not self._is_settled(row) and time.monotonic() < deadline:
                self.look_after_services()
                time.sleep(POLL_S)
            if row.observed == Observed.RUNNING:
                outcome.detail = f"ready on 127.0.0.1:{row.ports[0]}" if row.ports else "running"
            elif row.kind == Kind.STREAM and row.observed == Observed.STARTING:
                outcome.detail = "starting; Spark takes about 15 s"
            else:
                outcome.fail(f"{row.sentence} (see {row.log_path})")
        return not outcome.failed

    def _is_settled(self, row: ManagedProcess) -> bool:
        row.refresh_from_db()
        if row.request:
            return False
        return row.observed != Observed.STARTING or row.kind == Kind.STREAM


def shut_down(rows: list[ManagedProcess], progress: LaunchProgress, hurried: Callable[[], bool]) -> int:
    """End every process of `rows` that runs, last started first; the number of processes ended."""
    ended = 0
    for kind in reversed(START_ORDER):
        since = progress.now()
        living = [row for row in rows if row.kind == kind and _asked_to_end(row)]
        for row in living:
            _await_end(row, since, progress, hurried)
            ended += 1
    return ended


def _asked_to_end(row: ManagedProcess) -> bool:
    """Return whether it has to be awaited. What waits to be started again is called off: it would come back behind
    us.
    """
    seen = step(row.name)
    if seen.pid is None and seen.observed != Observed.EXITED:
        return False
    do_shut_down(seen)
    return is_alive(seen)


def is_alive(row: ManagedProcess) -> bool:
    """Return whether the process is alive, checked by a step since a row may be out of date."""
    return step(row.name).pid is not None


def _await_end(row: ManagedProcess, since: float, progress: LaunchProgress, hurried: Callable[[], bool]) -> None:
    with progress.doing(title(row), "stopping", since) as outcome:
        while (now := step(row.name)).pid is not None:
            if hurried() and (identity := recorded_identity(now)) is not None:
                os_process.kill(identity)
            time.sleep(POLL_S)
        outcome.detail = now.sentence


def title(row: ManagedProcess) -> str:
    """Return the title, broker 1 for broker-1."""
    if row.kind == Kind.BROKER:
        return row.name.replace("-", " ")
    label = kind_named(row.kind).LABEL
    return label if row.name in (row.kind, label.replace(" ", "-")) else f"{label} {row.name}"

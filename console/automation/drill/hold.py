"""Beginning and ending what a drill does to a process; whatever is asked twice is done once.

Who lets a paused process go: its holder when the time is over or somebody asks it to end; the holder's child, should
the holder be killed; and the beat here, should both be. Only the very process the drill stopped is continued here.
"""

import os
import secrets
import signal
from contextlib import suppress

from django.conf import settings
from django.contrib.auth.models import User

from broker.common.installation import module_command
from console.automation.drill.faults import RUNS_MS, Fault
from console.automation.drill.models import Drill
from console.processes import os_process
from console.processes.actions import do_kill, do_start
from console.processes.models import ManagedProcess
from console.processes.states import Desired, Observed


def new_token() -> str:
    return secrets.token_hex(16)


def begin_hold(drill: Drill) -> None:
    """Called when the row says that it has begun, with the token. Raises OSError."""
    target = drill.identity
    if target is None or not os_process.look(target).alive:
        return
    runs_ms = RUNS_MS if drill.fault == Fault.SLOW else 0
    arguments = (str(target.pid), target.token, str(drill.seconds), str(runs_ms))
    argv = module_command("console.automation.drill.holder", *arguments)
    os_process.spawn(argv, {}, settings.RUN_DIR, settings.LOG_DIR / "drill.log", drill.holder_token)


def begin_kill(actor: User, process: ManagedProcess) -> None:
    do_kill(actor, process)


def is_over(drill: Drill, process: ManagedProcess | None) -> bool:
    """Return whether the hold or its target has ended."""
    if drill.fault == Fault.KILL:
        return False
    target = drill.identity
    gone = target is None or not os_process.look(target).alive
    return gone or os_process.find_leader(drill.holder_token) is None


def put_back(drill: Drill, process: ManagedProcess | None) -> None:
    if drill.fault == Fault.KILL:
        if process is not None and process.desired != Desired.RUNNING:
            do_start(drill.actor, process)
        return
    holder = os_process.find_leader(drill.holder_token) if drill.holder_token else None
    if holder is not None:
        os_process.terminate(holder)
        return
    target = drill.identity
    if target is not None and os_process.look(target).suspended:
        with suppress(ProcessLookupError):
            os.kill(target.pid, signal.SIGCONT)


def is_back(drill: Drill, process: ManagedProcess | None) -> bool:
    """Return whether the fault is undone and the process runs; a process removed meanwhile counts as back."""
    if process is None:
        return True
    if drill.fault != Fault.KILL:
        target = drill.identity
        is_held = bool(drill.holder_token) and os_process.find_leader(drill.holder_token) is not None
        if is_held or (target is not None and os_process.look(target).suspended):
            return False
    return process.observed == Observed.RUNNING and not process.request

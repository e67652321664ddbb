"""Processes ended by their run files alone: when their rows are lost, or no database says what they are."""

import time
from collections.abc import Callable

from console.processes import os_process
from console.processes.facts import run_files_of_processes
from console.processes.kinds.zookeeper import NAME as ZOOKEEPER
from console.processes.os_process import ProcessIdentity
from console.processes.run_files import read_run_file, remove_run_file, run_file_names
from console.shell.launch.progress import LaunchProgress

#: What a broker gets to hand over what it leads.
GRACE_S = 30.0
POLL_S = 0.05


def end_unrecorded(progress: LaunchProgress, hurried: Callable[[], bool]) -> int:
    """Stop all in parallel, ZooKeeper last, since brokers need it to stop; return how many."""
    names = run_file_names(run_files_of_processes())
    servers = [name for name in names if name.startswith(ZOOKEEPER)]
    others = [name for name in names if name not in servers]
    return sum(_end(stage, progress, hurried) for stage in (others, servers))


def _end(names: list[str], progress: LaunchProgress, hurried: Callable[[], bool]) -> int:
    files, since = run_files_of_processes(), progress.now()
    identities = {name: identity for name in names if (identity := read_run_file(files, name)) and _lives(identity)}
    for identity in identities.values():
        os_process.terminate(identity)
    deadline = time.monotonic() + GRACE_S
    for name, identity in identities.items():
        while _lives(identity) and time.monotonic() < deadline and not hurried():
            time.sleep(POLL_S)
        os_process.kill(identity)
        progress.done(name, "stopped", progress.now() - since)
    for name in names:
        remove_run_file(files, name)
    return len(identities)


def _lives(identity: ProcessIdentity) -> bool:
    return os_process.look(identity).alive

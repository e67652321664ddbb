"""What stays of `up` when everything runs: as little as it takes to look after the console's services.

`up` becomes this program, and when somebody wants to stop this one becomes `up` again, which takes everything down. The
pid, terminal, children and the lock on the data directory stay what they are (exec). So it becomes `up` where the
console itself is configured anew. All that `up` has imported to
bring a stack up was a sixth of what the product had in memory.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NoReturn

from broker.common.installation import module_command, with_code_path
from console.kit.common.reloading import is_asked_to_reload, take_question
from console.processes import os_process
from console.shell.launch.interrupts import WATCHED, Interrupted, Interrupts
from console.shell.launch.progress import LaunchProgress
from console.shell.launch.running import Claim, directories_of, holds
from console.shell.launch.service import Service, service_from_json
from console.shell.launch.supervisor import Supervisor

#: A service that dies wakes whoever watches; this is for what no signal tells.
WATCH_EVERY_S = 1.0
#: For what was just being started when everything was ended.
SETTLE_S = 0.1


def stay(services: list[Service], run_directory: Path, environment: Mapping[str, str], claim: Claim) -> NoReturn:
    """Become the program that supervises `services`; `environment` is theirs. Raises OSError."""
    draft = _services_file(run_directory).with_suffix(".new")
    draft.write_text(json.dumps([service.as_json() for service in services]))
    draft.replace(_services_file(run_directory))
    _become(["console.shell.launch.staying", str(run_directory), str(claim)], environment, claim)


def take_over(supervisor: Supervisor, run_directory: Path) -> None:
    """Take over the services of a `stay` process, in order of start."""
    for service in json.loads(_services_file(run_directory).read_text()):
        supervisor.take_over(service_from_json(service))


def _services_file(run_directory: Path) -> Path:
    return run_directory / "services.json"


def _become(command: list[str], environment: Mapping[str, str], claim: Claim) -> NoReturn:
    """Become another program; signals that arrive meanwhile wait for the next handler."""
    signal.pthread_sigmask(signal.SIG_BLOCK, WATCHED)
    claim.inherit(is_inherited=True)
    argv = module_command(*command)
    os.execve(argv[0], argv, with_code_path(dict(environment)))


def look_after(supervisor: Supervisor, progress: LaunchProgress, interrupts: Interrupts) -> None:
    """Start again what died; raises Interrupted when somebody wants to stop."""
    for sentence in supervisor.watch():
        progress.note(f"! {sentence}")
    interrupts.check()


def _can_begin(run_directory: Path, progress: LaunchProgress) -> bool:
    """Return whether `up` gets as far as its settings: one that ended there would leave services that nobody looks
    after.
    """
    result = subprocess.run(
        module_command("console", "version"), env=with_code_path(dict(os.environ)), capture_output=True, text=True
    )
    if result.returncode:
        take_question(run_directory)
        why = (result.stderr.strip().splitlines() or [f"status {result.returncode}"])[-1]
        progress.note(f"! The console goes on as it was, for it cannot start again: {why}")
    return result.returncode == 0


def end(
    supervisor: Supervisor, run_directory: Path, claim: Claim, progress: LaunchProgress, take_down: Callable[[], None]
) -> None:
    """Take everything down in its order. Does not return where the directories were lost by then, or are meanwhile."""
    try:
        if holds(run_directory, claim):
            take_down()
    finally:
        if not holds(run_directory, claim):
            _end_without_data(supervisor, run_directory, claim, progress)


def _end_without_data(supervisor: Supervisor, run_directory: Path, claim: Claim, progress: LaunchProgress) -> NoReturn:
    """End without data: nothing can be read or written any more, so running processes are known by their directories,
    and have nothing to save.
    """
    progress.note(f"! {run_directory} was deleted or moved: everything that was started is ended")
    supervisor.kill()
    while os_process.kill_all_below(directories_of(run_directory, claim)):
        time.sleep(SETTLE_S)
    sys.exit(1)


def main(run_directory: Path, claim: Claim) -> NoReturn:
    os.umask(0o077)
    claim.inherit(is_inherited=False)
    progress, interrupts = LaunchProgress(), Interrupts()
    interrupts.watch()
    supervisor = Supervisor(run_directory / "services", dict(os.environ), run_directory)
    try:
        take_over(supervisor, run_directory)
        while holds(run_directory, claim):
            look_after(supervisor, progress, interrupts)
            if is_asked_to_reload(run_directory) and _can_begin(run_directory, progress):
                _become(["console", "up", "--reloading", str(claim)], os.environ, claim)
            interrupts.pause(min(WATCH_EVERY_S, supervisor.due_in_s()))
    except Interrupted:
        progress.note("stopping (once more Ctrl-C: at once)")
    except Exception as error:
        progress.note(f"! The services can be looked after no more ({type(error).__name__}: {error}): stopping")
    if not holds(run_directory, claim):
        _end_without_data(supervisor, run_directory, claim, progress)
    _become(["console", "up", "--closing", str(claim)], os.environ, claim)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Claim.parse(sys.argv[2]))

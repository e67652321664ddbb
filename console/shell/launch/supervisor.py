"""Keeps the console's services alive: one that dies is started again, later each time it dies again soon."""

import secrets
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from broker.common.backoff import pause_after
from console.processes import os_process
from console.processes.log_files import bound_log
from console.processes.os_process import ProcessIdentity
from console.processes.run_files import read_run_file, remove_run_file, run_file_names, write_run_file
from console.processes.states import name_signal
from console.shell.launch.forked import fork
from console.shell.launch.service import FORK_SERVER, Service

FIRST_DELAY_S = 0.5
LONGEST_DELAY_S = 30.0
#: A service that ran this long is taken for healthy again.
STABLE_S = 60.0
#: Log sizes are looked at this often.
BOUND_LOGS_EVERY_S = 10.0
POLL_S = 0.05


def restart_delay_s(deaths_in_a_row: int) -> float:
    """Return 0.5, 1, 2 … 30 seconds."""
    return pause_after(deaths_in_a_row, FIRST_DELAY_S, LONGEST_DELAY_S)


@dataclass
class _Watched:
    service: Service
    identity: ProcessIdentity
    started_s: float
    deaths: int = 0
    start_again_s: float | None = None


@dataclass
class Supervisor:
    """Starts services, with a run file for each, and watches them. One thread; `watch` is called again and again."""

    run_files: Path
    environment: dict[str, str]
    working_dir: Path
    clock: Callable[[], float] = time.monotonic
    _watched: dict[str, _Watched] = field(default_factory=dict)
    _bounded_s: float = 0.0

    def start(self, service: Service) -> ProcessIdentity:
        identity = self._spawn(service)
        self._watched[service.name] = _Watched(service, identity, self.clock())
        return identity

    def take_over(self, service: Service) -> None:
        """Take over a service that this process started before it executed another program; no-op without its
        run file.
        """
        identity = read_run_file(self.run_files, service.name)
        if identity is not None:
            os_process.inherit(identity)
            self._watched[service.name] = _Watched(service, identity, self.clock())

    @property
    def services(self) -> list[Service]:
        """The services in the order of start."""
        return [watched.service for watched in self._watched.values()]

    def watch(self) -> list[str]:
        """Start again what died and is due; a sentence for each that died."""
        now = self.clock()
        if now - self._bounded_s > BOUND_LOGS_EVERY_S:
            self._bounded_s = now
            for watched in self._watched.values():
                bound_log(watched.service.log_path)
        return [sentence for watched in self._watched.values() if (sentence := self._look_after(watched, now))]

    def due_in_s(self) -> float:
        """Return the seconds until a dead service's restart is due; infinity without one."""
        due = [watched.start_again_s for watched in self._watched.values() if watched.start_again_s is not None]
        return max(0.0, min(due, default=float("inf")) - self.clock())

    def is_alive(self, name: str) -> bool:
        watched = self._watched.get(name)
        return watched is not None and os_process.look(watched.identity).alive

    def _look_after(self, watched: _Watched, now: float) -> str:
        if watched.start_again_s is not None:
            if now >= watched.start_again_s:
                os_process.kill_family(watched.identity.token)
                watched.identity, watched.started_s = self._spawn(watched.service), now
                watched.start_again_s = None
            return ""
        sighting = os_process.look(watched.identity)
        if sighting.alive:
            return ""
        watched.deaths = 1 if now - watched.started_s > STABLE_S else watched.deaths + 1
        delay = restart_delay_s(watched.deaths)
        watched.start_again_s = now + delay
        how = describe_end(sighting.exit_status)
        return f"{watched.service.name} {how}; started again in {delay:g} s (see {watched.service.log_path})"

    def _spawn(self, service: Service) -> ProcessIdentity:
        token = secrets.token_hex(16)
        identity = self._fork(service, token) or os_process.spawn(
            service.argv, self.environment | dict(service.environment), self.working_dir, service.log_path, token
        )
        write_run_file(self.run_files, service.name, identity)
        return identity

    def _fork(self, service: Service, token: str) -> ProcessIdentity | None:
        if not service.is_forked or not self.is_alive(FORK_SERVER):
            return None
        pid = fork(service, self.working_dir, token, lambda: self.is_alive(FORK_SERVER))
        return os_process.identify(pid, token) if pid else None

    def ask_to_end(self, names: Iterable[str]) -> None:
        """SIGTERM to several at once, so that they end side by side; `stop` waits for each."""
        for name in names:
            if watched := self._watched.get(name):
                os_process.terminate(watched.identity)

    def kill(self) -> None:
        """Kill all services at once, leaving their run files."""
        for watched in self._watched.values():
            os_process.kill(watched.identity)
        self._watched.clear()

    def stop(self, name: str, hurried: Callable[[], bool]) -> bool:
        """End it and do not start it again; False if it was not here. One that `ask_to_end` asked may have gone."""
        watched = self._watched.pop(name, None)
        grace_s = watched.service.grace_s if watched else 5.0
        return end_service(self.run_files, name, grace_s, hurried) or watched is not None


def end_service(run_files: Path, name: str, grace_s: float, hurried: Callable[[], bool]) -> bool:
    """End the service a run file names, and its children; False if it does not run."""
    identity = read_run_file(run_files, name)
    was_alive = identity is not None and os_process.look(identity).alive
    if identity is not None:
        os_process.terminate(identity)
        deadline = time.monotonic() + grace_s
        while os_process.look(identity).alive and time.monotonic() < deadline and not hurried():
            time.sleep(POLL_S)
        was_alive = os_process.kill(identity) > 0 or was_alive
        remove_run_file(run_files, name)
    return was_alive


def left_services(run_files: Path) -> list[str]:
    """Return services of an earlier start that still run."""
    identities = {name: read_run_file(run_files, name) for name in run_file_names(run_files)}
    return [name for name, identity in identities.items() if identity and os_process.look(identity).alive]


def describe_end(exit_status: int | None) -> str:
    if exit_status is None:
        return "is gone"
    return f"was killed by {name_signal(-exit_status)}" if exit_status < 0 else f"ended with status {exit_status}"

"""The whole stack, in order: Redis, database, first user, the console's services, the cluster; and back down."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NoReturn

from django.conf import settings
from django.db import DatabaseError

from console.ecosystem.connectors.client import ConnectClient
from console.ecosystem.connectors.configuration import ConnectSettings
from console.kit.gateway.errors import GatewayError
from console.processes.embedded import CONNECT, with_every_zookeeper
from console.processes.kinds import START_ORDER, broker, zookeeper
from console.processes.models import ManagedProcess
from console.processes.readiness import port_answers
from console.processes.registry import OLD_SOURCES, processes_of_host, register
from console.processes.setup import Setup, SetupError
from console.processes.states import Desired
from console.shell.launch.first_user import PASSWORD_VARIABLE, FirstUserCredentials, ensure_first_user
from console.shell.launch.interrupts import Interrupts
from console.shell.launch.migrating import migrate
from console.shell.launch.ports import needed_ports, port_complaints
from console.shell.launch.progress import LaunchProgress
from console.shell.launch.redis_server import is_embedded, redis_service, wait_for_redis
from console.shell.launch.running import Claim, holds
from console.shell.launch.secure import admit_first_users, prepare_clients
from console.shell.launch.services import addresses_of_servers, console_services, service_environment, stop_order
from console.shell.launch.sources import SourceKeeper, old_offsets_file, wanted_sources
from console.shell.launch.stages import Stages, is_alive, shut_down
from console.shell.launch.staying import end, look_after, stay
from console.shell.launch.supervisor import Supervisor, end_service, left_services
from console.shell.launch.unrecorded import end_unrecorded

WEB_TIMEOUT_S = 30.0
#: For a worker that has just begun to answer, or is started once more.
SOURCES_TIMEOUT_S, RETRY_S = 20.0, 0.2
_SERVERS = (zookeeper.NAME, broker.NAME)
#: For services known by their run files only.
GRACE_S = 6.0


def service_run_files() -> Path:
    return Path(settings.RUN_DIR, "services")


@dataclass
class Stack:
    setup: Setup
    progress: LaunchProgress
    interrupts: Interrupts
    claim: Claim
    rows: list[ManagedProcess] = field(default_factory=list)

    def __post_init__(self) -> None:
        environment = service_environment(self.setup)
        self.supervisor = Supervisor(service_run_files(), environment, settings.RUN_DIR)

    def open(self) -> FirstUserCredentials:
        """Start everything, stage by stage. Raises SetupError, or Interrupted when somebody wants to stop already; and
        whatever, where the directories are lost: `close` ends everything then.
        """
        end_services(self.progress, self._hurried, left_over=True)
        self._open_database()
        self.look_after_services()
        self._report_removed_clusters()
        self.setup = with_every_zookeeper(self.setup)
        self.supervisor.environment |= service_environment(self.setup)
        prepare_clients(self.setup)
        self.rows = register(self.setup)
        self.supervisor.environment |= addresses_of_servers(self.setup, {row.name for row in self.rows})
        self._refuse_taken_ports()
        self._open_redis()
        credentials = ensure_first_user(os.environ.get(PASSWORD_VARIABLE, ""))
        for service in console_services():
            self.supervisor.start(service)
        stages = Stages(self.progress, self.look_after_services)
        stages.start((zookeeper.NAME,), self.rows)
        if self.setup.is_secure:
            admit_first_users(self.setup, self.progress)
        stages.start((broker.NAME,), self.rows)
        self._await_web()
        stages.start_at_once(tuple(kind for kind in START_ORDER if kind not in _SERVERS), self.rows)
        self._keep_sources()
        return credentials

    def stay(self) -> NoReturn:
        """Become the supervisor of the services until stopped."""
        stay(self.supervisor.services, settings.RUN_DIR, self.supervisor.environment, self.claim)

    def close(self) -> None:
        """Does not return where the directories were lost."""
        in_order = partial(take_down, self.supervisor, self.progress, self._hurried)
        end(self.supervisor, settings.RUN_DIR, self.claim, self.progress, in_order)

    def _keep_sources(self) -> None:
        """Keep the demo's connectors up to date; without a demo those of an earlier start are removed."""
        worker = next((row for row in self.rows if row.name == CONNECT), None)
        if worker is None or worker.desired != Desired.RUNNING:
            return
        shut_down([row for row in self.rows if row.name == OLD_SOURCES], self.progress, self._hurried)
        with self.progress.doing("sources") as outcome:
            address = f"http://127.0.0.1:{self.setup.connect_port}"
            client = ConnectClient(ConnectSettings((address,), settings.CONNECT_LOGIN_FILE))
            wanted = wanted_sources(self.setup, settings.REQUEST_LOG_FILE)
            deadline = time.monotonic() + SOURCES_TIMEOUT_S
            while outcome.failed or not outcome.detail:
                self.look_after_services()
                try:
                    names = SourceKeeper(client, old_offsets_file()).keep(wanted)
                    outcome.failed, outcome.detail = False, ", ".join(names) or "none"
                except GatewayError as error:
                    outcome.fail(str(error))
                    if time.monotonic() > deadline:
                        break
                    time.sleep(RETRY_S)

    def look_after_services(self) -> None:
        if not holds(settings.RUN_DIR, self.claim):
            raise SetupError(f"{settings.RUN_DIR} was deleted or moved.")
        look_after(self.supervisor, self.progress, self.interrupts)

    def _hurried(self) -> bool:
        return self.interrupts.hurry

    def _open_database(self) -> None:
        with self.progress.doing("database", "migrating") as outcome:
            try:
                migrate()
            except DatabaseError as error:
                raise SetupError(f"The database cannot be used: {str(error).strip()}") from error
            outcome.detail = str(settings.DATABASES["default"]["ENGINE"]).rpartition(".")[2]

    def _report_removed_clusters(self) -> None:
        for file in sorted(settings.CLUSTERS_DIR.glob("*.sqlite3")):
            if file.stem not in settings.CLUSTERS:
                self.progress.note(
                    f"! No cluster is called {file.stem} any more; what was known of it stays in {file}."
                )

    def _refuse_taken_ports(self) -> None:
        running = frozenset(row.name for row in self.rows if is_alive(row))
        managed = {"", *(row.name for row in self.rows)}  # a broker that was removed needs none
        needed = [port for port in needed_ports(self.setup, settings.CONSOLE_PORT) if port.owner in managed]
        if complaints := port_complaints(needed, running):
            raise SetupError("\n".join(complaints))

    def _open_redis(self) -> None:
        with self.progress.doing("Redis") as outcome:
            if is_embedded(os.environ):
                self.supervisor.start(redis_service(settings.REDIS_URL))
            if not wait_for_redis(settings.REDIS_URL, self.look_after_services):
                where = settings.LOG_DIR / "redis.log" if is_embedded(os.environ) else "BARNABAS_REDIS_URL"
                raise SetupError(f"Redis does not answer; see {where}.")
            outcome.detail = "ready on a unix socket" if is_embedded(os.environ) else "ready, from BARNABAS_REDIS_URL"

    def _await_web(self) -> None:
        with self.progress.doing("console") as outcome:
            deadline = time.monotonic() + WEB_TIMEOUT_S
            while not port_answers(settings.CONSOLE_PORT) and time.monotonic() < deadline:
                self.look_after_services()
                time.sleep(0.05)
            outcome.detail = f"ready on 127.0.0.1:{settings.CONSOLE_PORT}"
            if not port_answers(settings.CONSOLE_PORT):
                outcome.fail(f"does not answer; see {settings.LOG_DIR / 'web.log'}")


def take_down(supervisor: Supervisor, progress: LaunchProgress, hurried: Callable[[], bool]) -> None:
    """Stop everything, last started first. A failing database keeps nothing running: then run files tell what runs."""
    try:
        shut_down(processes_of_host(), progress, hurried)
    except DatabaseError as error:
        progress.note(f"! The database failed ({error}): what runs is ended without it.")
        _end_watched(supervisor, progress, hurried)  # the worker first: it would start again what ends
        end_unrecorded(progress, hurried)
    else:
        _end_watched(supervisor, progress, hurried)


def _end_watched(supervisor: Supervisor, progress: LaunchProgress, hurried: Callable[[], bool]) -> None:
    unknown = [
        service.name for service in supervisor.services if service.name not in stop_order()
    ]  # of a cluster that is gone
    names = (*unknown, *stop_order())
    supervisor.ask_to_end(name for name in names if name != "redis")
    for name in names:
        started = time.monotonic()
        if supervisor.stop(name, hurried):
            progress.done(name, "stopped", time.monotonic() - started)


def end_services(progress: LaunchProgress, hurried: Callable[[], bool], left_over: bool = False) -> int:
    """End services by their run files alone; the number ended."""
    living = left_services(service_run_files())
    detail = "left by an earlier start, ended" if left_over else "stopped"
    for name in [*(name for name in living if name not in stop_order()), *stop_order()]:
        started = progress.now()
        if end_service(service_run_files(), name, GRACE_S, hurried):
            progress.done(name, detail, progress.now() - started)
    return len(living)

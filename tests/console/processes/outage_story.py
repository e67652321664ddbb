"""Run by test_outages.py in a process of its own, because it needs settings of its own: prints what it saw as JSON.

Redis and the worker are kept by the supervisor that `up` keeps them with. In each outage the managed process is
killed, and nobody but the worker's own beat looks after it.
"""

import json
import os
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import django
import psutil

django.setup()

from django.conf import settings  # noqa: E402
from django.db import connection  # noqa: E402

from console.processes import os_process  # noqa: E402
from console.processes.actions import do_start  # noqa: E402
from console.processes.kinds import kind_named  # noqa: E402
from console.processes.models import ManagedProcess  # noqa: E402
from console.shell.launch.redis_server import redis_service  # noqa: E402
from console.shell.launch.services import console_services  # noqa: E402
from console.shell.launch.supervisor import Supervisor  # noqa: E402
from console.state.history.models import Change  # noqa: E402
from tests.zookeeper_server import free_ports  # noqa: E402

DEADLINE_S = 60
NAME = "demo"
DATABASE = settings.DATABASE_FILE
#: Longer than a task may take (CELERY_TASK_TIME_LIMIT): whoever waits for the lock is killed.
LOCKED_S = settings.CELERY_TASK_TIME_LIMIT + 3
GONE_S = 4

supervisor = Supervisor(settings.RUN_DIR / "services", dict(os.environ), settings.RUN_DIR)


def await_true(what: str, holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not holds():
        if time.monotonic() > deadline:
            row = ManagedProcess.objects.get(name=NAME)
            raise SystemExit(f"not so: {what}; {row.observed}: {row.sentence}")
        supervisor.watch()
        time.sleep(0.1)


def keep_house_for(seconds: float) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        supervisor.watch()
        time.sleep(0.1)


def running_pids() -> list[int]:
    """Whoever started them."""
    servers = psutil.process_iter(["cmdline", "cwd"])
    directory = str(settings.DATA_DIR / NAME)
    return [server.pid for server in servers if server.info["cwd"] == directory and _is_server(server.info["cmdline"])]


def _is_server(words: list[str] | None) -> bool:
    return any("QuorumPeerMain" in word for word in words or ())


@contextmanager
def redis_comes_back_empty() -> Iterator[None]:
    supervisor.stop("redis", lambda: False)
    yield
    keep_house_for(GONE_S)
    supervisor.start(redis_service(settings.REDIS_URL))


@contextmanager
def database_moved_away() -> Iterator[None]:
    connection.close()
    moved = [(path, path.with_name(f"{path.name}.away")) for path in DATABASE.parent.glob(f"{DATABASE.name}*")]
    for here, there in moved:
        here.rename(there)
    yield
    keep_house_for(GONE_S)
    left = [path.name for path in DATABASE.parent.glob(f"{DATABASE.name}*") if not path.name.endswith(".away")]
    if left:
        raise SystemExit(f"made in the place of the database: {left}")
    for here, there in moved:
        there.rename(here)


@contextmanager
def database_locked() -> Iterator[None]:
    connection.close()
    holder = sqlite3.connect(DATABASE, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    yield
    keep_house_for(LOCKED_S)
    holder.execute("ROLLBACK")
    holder.close()


def is_well(row: ManagedProcess, but: int) -> bool:
    return row.observed == "running" and row.pid not in (None, but)


def suffer(outage: Callable) -> dict:
    before = ManagedProcess.objects.get(name=NAME)
    newest = Change.objects.order_by("-id").values_list("id", flat=True).first() or 0
    with outage():
        os.kill(before.pid, signal.SIGKILL)
    await_true("it runs again", lambda: is_well(ManagedProcess.objects.get(name=NAME), before.pid))
    keep_house_for(GONE_S)
    after = ManagedProcess.objects.get(name=NAME)
    sentences = Change.objects.filter(id__gt=newest, object_name=NAME).order_by("id").values_list("sentence", flat=True)
    return {"pid": after.pid, "running": running_pids(), "restarts": after.restart_count, "told": list(sentences)}


def main() -> dict:
    supervisor.start(redis_service(settings.REDIS_URL))
    supervisor.start(next(service for service in console_services() if service.name == "worker"))
    (port,) = free_ports(1)
    process = ManagedProcess.objects.create(
        name=NAME,
        restart="always",
        kind="zookeeper",
        host=settings.HOST_NAME,
        ports=[port],
        spec={"directory": str(settings.DATA_DIR / NAME), "client_port": port},
    )
    kind = kind_named("zookeeper")
    kind.write_files(kind.check(process.spec))
    do_start(None, process)
    await_true("it runs", lambda: is_well(ManagedProcess.objects.get(name=NAME), 0))
    return {item.__name__: suffer(item) for item in (redis_comes_back_empty, database_moved_away, database_locked)}


if __name__ == "__main__":
    try:
        print(json.dumps(main()))
    finally:
        for name in ("worker", "redis"):
            supervisor.stop(name, lambda: False)
        for row in ManagedProcess.objects.all():
            os_process.kill_family(row.run_token)

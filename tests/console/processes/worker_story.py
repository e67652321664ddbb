"""Run by test_worker.py in a process of its own, because it needs settings of its own: prints what it saw as JSON."""

import json
import os
import signal
import sys
import time

import django

django.setup()

from django.conf import settings  # noqa: E402

from console.processes import os_process, tasks  # noqa: E402
from console.processes.actions import do_start, do_stop  # noqa: E402
from console.processes.kinds import kind_named  # noqa: E402
from console.processes.models import ManagedProcess  # noqa: E402
from console.shell.launch.services import console_services  # noqa: E402
from tests.zookeeper_server import free_ports  # noqa: E402

DEADLINE_S = 20
NAME = "demo"


def wait_for(observed: str) -> dict:
    deadline = time.monotonic() + DEADLINE_S
    while (row := ManagedProcess.objects.get(name=NAME)).observed != observed or row.request:
        if time.monotonic() > deadline:
            raise SystemExit(f"not {observed} but {row.observed}: {row.sentence}")
        tasks.reconcile.apply_async(expires=1)
        time.sleep(0.1)
    return {"observed": row.observed, "sentence": row.sentence, "pid": row.pid}


def start_worker(token: str) -> os_process.ProcessIdentity:
    worker = next(service for service in console_services() if service.name == "worker")
    return os_process.spawn(worker.argv, dict(os.environ), settings.RUN_DIR, worker.log_path, token)


def main(token: str) -> dict:
    worker = start_worker(f"{token}-first")
    (port,) = free_ports(1)
    process = ManagedProcess.objects.create(
        name=NAME,
        restart="never",
        kind="zookeeper",
        host=settings.HOST_NAME,
        ports=[port],
        spec={"directory": str(settings.DATA_DIR / NAME), "client_port": port},
    )
    kind = kind_named("zookeeper")
    kind.write_files(kind.check(process.spec))
    story = {}
    do_start(None, process)
    story["started"] = wait_for("running")
    os_process.kill(worker)
    second = start_worker(f"{token}-second")
    story["after the worker was killed"] = wait_for("running")
    os.kill(story["started"]["pid"], signal.SIGKILL)
    story["killed by hand"] = wait_for("exited")
    os_process.kill(second)
    start_worker(f"{token}-third")
    do_start(None, process)
    story["started again"] = wait_for("running")
    os.kill(story["started again"]["pid"], signal.SIGKILL)
    story["killed again"] = wait_for("exited")
    do_start(None, process)
    wait_for("running")
    do_stop(None, process)
    story["stopped"] = wait_for("stopped")
    return story


if __name__ == "__main__":
    try:
        print(json.dumps(main(sys.argv[1])))
    finally:
        for row in ManagedProcess.objects.all():
            os_process.kill_family(row.run_token)

"""A real Redis and a real Celery worker: a process outlives its worker, its death is seen."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from console.processes import os_process
from tests.redis_server import SERVERS, server_program

ROOT = Path(__file__).resolve().parents[3]
TOKEN = "token-of-the-worker-test"


@pytest.fixture(params=SERVERS)
def house(request, tables):
    """A data directory of its own, with a short name: a unix socket lies in it."""
    with tempfile.TemporaryDirectory(prefix="bw-") as directory:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("BARNABAS_")}
        environment |= {"BARNABAS_DATA": directory, "DJANGO_SETTINGS_MODULE": "console.settings"}
        (Path(directory) / "run").mkdir(mode=0o700)
        socket = Path(directory) / "run" / "redis.sock"
        program = server_program(request.param)
        redis = [program, "--port", "0", "--unixsocket", str(socket), "--save", "", "--appendonly", "no"]
        log = Path(directory) / "redis.log"
        shutil.copy(tables, Path(directory) / "console.sqlite3")
        server = os_process.spawn(redis, {}, Path(directory), log, TOKEN)
        try:
            yield environment
        finally:
            os_process.kill(server)
            for number in ("first", "second", "third"):
                os_process.kill_family(f"{TOKEN}-{number}")
            os_process.forget_ended(set())


def test_process_survives_its_worker_and_its_death_is_seen_by_the_next(house):
    completed = subprocess.run(
        [sys.executable, "-m", "tests.console.processes.worker_story", TOKEN],
        cwd=ROOT,
        env=house,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert completed.returncode == 0, completed.stderr
    story = json.loads(completed.stdout.splitlines()[-1])  # seals of the audit go to a log that is no terminal
    assert story["started"]["observed"] == "running"
    assert story["after the worker was killed"]["pid"] == story["started"]["pid"]
    assert story["killed by hand"]["observed"] == "exited"
    assert "exited" in story["killed by hand"]["sentence"]
    assert story["started again"]["observed"] == "running"
    assert story["started again"]["pid"] != story["started"]["pid"]
    assert "killed by signal 9 (SIGKILL)" in story["killed again"]["sentence"]
    assert story["stopped"]["observed"] == "stopped"

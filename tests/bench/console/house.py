"""The whole console as `make up` starts it, but for the cluster, which is in memory."""

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, OpenerDirector, build_opener

import psutil

from tests.barnabas_cluster import await_true
from tests.zookeeper_server import free_ports

ROOT = Path(__file__).parents[3]
PASSWORD = "a password for measuring"
_UP_DEADLINE_S = 60
_FIRST_LOOK_DEADLINE_S = 180
#: The stream job of the demo is no part of what is measured.
_NO_STREAM_JOB = """
import django; django.setup()
from django.core.management import call_command
call_command("migrate", interactive=False, verbosity=0)
from console.processes.models import ManagedProcess
ManagedProcess.objects.create(name="access-counts", kind="stream", host="-")
"""


@dataclass
class House:
    process: subprocess.Popen
    data: Path
    port: int

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def log_in(self) -> OpenerDirector:
        """A browser without a window, logged in."""
        jar = CookieJar()
        browser = build_opener(HTTPCookieProcessor(jar))
        browser.open(f"{self.address}/login/").read()
        token = next(cookie.value for cookie in jar if cookie.name == "barnabas_csrf")
        form = {"username": "admin", "password": PASSWORD, "csrfmiddlewaretoken": token, "next": "/"}
        browser.addheaders = [("Referer", self.address)]
        browser.open(f"{self.address}/login/", urlencode(form).encode()).read()
        browser.cookies = "; ".join(f"{cookie.name}={cookie.value}" for cookie in jar)
        return browser

    def state(self, column: str) -> int:
        """A column of the collector's state, read beside the console."""
        with closing(
            sqlite3.connect(f"file:{self.data / 'console.sqlite3'}?mode=ro", uri=True, timeout=10)
        ) as database:
            row = database.execute(f"SELECT {column} FROM clusters_clusterstate").fetchone()
        return row[0] if row else 0

    def processes(self) -> dict[str, list[psutil.Process]]:
        """Of each service its process and those it started, by name."""
        processes = {}
        children = psutil.Process(self.process.pid).children()
        parents = [child for child in children if _service_of(child.cmdline()) == "fork server"]
        for parent in parents:
            processes["fork server"] = [parent]
            children += parent.children()
        for child in children:
            if child not in parents:
                processes[_service_of(child.cmdline())] = [child, *child.children(recursive=True)]
        return processes


def _service_of(argv: list[str]) -> str:
    line = " ".join(argv)
    names = {
        "fork_server": "fork server",
        "console.shell.launch.web": "web",
        "console.shell.launch.worker": "worker",
        "console collect": "collector",
    }
    return next((name for word, name in names.items() if word in line), "redis")


@contextmanager
def running_house(directory: Path) -> Iterator[House]:
    (port,) = free_ports(1)
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "tests.bench.console.settings",
        "PYTHONPATH": str(ROOT),
        "BARNABAS_DATA": str(directory / "data"),
        "BARNABAS_ADMIN_PASSWORD": PASSWORD,
        "BARNABAS_CONSOLE_PORT": str(port),
        "BARNABAS_BROKERS": "0",
        "BARNABAS_BOOTSTRAP_SERVERS": "127.0.0.1:9",
        "BARNABAS_ZOOKEEPER": "127.0.0.1:9",
        "BARNABAS_DEMO": "0",
        "BARNABAS_CONNECT_PORT": "0",
        "BARNABAS_REGISTRY_PORT": "0",
    }
    subprocess.run([sys.executable, "-c", _NO_STREAM_JOB], cwd=ROOT, env=environment, check=True)
    with (directory / "up.log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "manage.py", "up"],
            cwd=ROOT,
            env=environment,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    house = House(process, directory / "data", port)
    try:
        up_log = directory / "up.log"
        await_true(lambda: "bootstrap servers" in up_log.read_text(), "up", _UP_DEADLINE_S)
        for tier in ("topics", "groups"):
            await_true(lambda tier=tier: house.state(f"{tier}_at_ms"), f"the first {tier}", _FIRST_LOOK_DEADLINE_S)
        yield house
    finally:
        process.terminate()
        process.wait(60)

"""The console's web process alone, over a database that a few lines fill: light, and enough to look at pages."""

import contextlib
import functools
import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.barnabas_cluster import await_true
from tests.browser.conftest import PASSWORD
from tests.zookeeper_server import free_ports

ROOT = Path(__file__).parents[2]
FIRST_USER = f"""
from django.contrib.auth.models import User
User.objects.create_superuser("admin", password={PASSWORD!r})
"""
#: What fills the tables becomes the web process: one interpreter has all of Django to import.
PROGRAM = """
import sys
import django
import uvicorn
django.setup()
from django.db import connections
exec(sys.argv[1], {})
connections.close_all()
uvicorn.run("console.asgi:application", port=int(sys.argv[2]), proxy_headers=False, lifespan="off")
"""


@contextlib.contextmanager
def web_process(directory: Path, world: str, **variables: str) -> Iterator[int]:
    """Its port. The first user is admin; `world` is run, with Django, before it answers."""
    (port,) = free_ports(1)
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("BARNABAS_", "DJANGO_"))}
    environment |= {
        "BARNABAS_DATA": str(directory / "data"),
        "BARNABAS_REDIS_URL": "memory://",
        "BARNABAS_BOOTSTRAP_SERVERS": "127.0.0.1:1",
        "DJANGO_SETTINGS_MODULE": "console.settings",
        **variables,
    }
    _put_tables_into(directory / "data")
    command = [sys.executable, "-c", PROGRAM, f"{FIRST_USER}\n{world}", str(port)]
    output = directory / "web.log"
    with output.open("w") as log:
        web = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=subprocess.STDOUT)
    try:
        await_true(lambda: _is_running(web, output), "the web process answers", 90)
        yield port
    finally:
        web.terminate()
        web.wait(20)


def _is_running(web: subprocess.Popen, output: Path) -> bool:
    assert web.poll() is None, output.read_text()
    return "Uvicorn running" in output.read_text()


def _put_tables_into(data: Path) -> None:
    data.mkdir(mode=0o700)
    file = data / "console.sqlite3"
    file.touch(mode=0o600)
    file.write_bytes(_tables())


@functools.cache
def _tables() -> bytes:
    """Of a console's database, as `migrate` leaves it: most of what a console costs before it answers."""
    with tempfile.TemporaryDirectory() as directory:
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("BARNABAS_", "DJANGO_"))}
        environment |= {"BARNABAS_DATA": directory}
        command = [sys.executable, "manage.py", "migrate", "--verbosity=0", "--skip-checks"]
        subprocess.run(command, cwd=ROOT, env=environment, check=True, timeout=120)
        with contextlib.closing(sqlite3.connect(Path(directory) / "console.sqlite3")) as database:
            return database.serialize()


@contextlib.contextmanager
def collecting(directory: Path, **variables: str) -> Iterator[None]:
    """The collector beside it. Without a Redis of both nothing is pushed: a page that is fetched again shows what it
    saw."""
    own = {"BARNABAS_DATA": str(directory / "data"), "BARNABAS_REDIS_URL": "memory://", **variables}
    command = [sys.executable, "manage.py", "collect"]
    with (directory / "collector.log").open("w") as log:
        collector = subprocess.Popen(command, cwd=ROOT, env={**os.environ, **own}, stdout=log, stderr=log)
    try:
        yield
    finally:
        collector.terminate()
        collector.wait(20)

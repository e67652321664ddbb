"""A worker of Kafka Connect, one of its group, and its properties file, which is written anew before each start.

Spec: `directory`, `port` of its REST, and `properties`: keys of the file that follow from nothing else here. REST asks
everybody for the password of `settings.CONNECT_LOGIN_FILE`, and connectors write files below `settings.CONNECT_FILES`
and read those and the spec's `files` alone, whatever the properties say.
"""

from collections.abc import Mapping
from pathlib import Path

from django.conf import settings

from broker.config.properties import properties_text
from console.kit.common.secret_files import load_or_create_secret
from console.processes.job_users import SOURCES
from console.processes.kinds.client_config import client_lines
from console.processes.kinds.process import StartedProcess
from console.processes.kinds.spec import (
    Launch,
    Spec,
    SpecError,
    read_directory,
    read_pairs,
    read_port,
    read_text,
    refuse_unknown,
)
from console.processes.properties_file import WRITTEN_AT_STARTS, write_properties
from console.processes.readiness import answer_of_ports, silence_of_http
from console.processes.truths import ClusterLook, ClusterTruth, RegistrationState

#: Its tasks commit what they have read.
NAME, LABEL, ORDER, GRACE_S = "connect", "Connect worker", 20, 10
STOP_MEANS = "Stops the connectors of this worker; started again, each goes on where it had got to."
FILES_MAX = 200


def check(spec: Mapping[str, object]) -> Spec:
    refuse_unknown(spec, {"directory", "port", "properties", "files"})
    return {
        "directory": read_directory(spec, "directory"),
        "port": read_port(spec, "port"),
        "properties": read_pairs(spec, "properties"),
        "files": _read_files(spec),
    }


def _read_files(spec: Mapping[str, object]) -> list[str]:
    files = spec.get("files", [])
    if not isinstance(files, list) or len(files) > FILES_MAX:
        raise SpecError(f"files must name at most {FILES_MAX} files or directories.")
    return [read_text({"files": item}, "files") for item in files]


def launch(spec: Spec) -> Launch:
    return Launch(["connect-worker", "distributed", str(_file(spec))], Path(spec["directory"]), [spec["port"]])


def _file(spec: Spec) -> Path:
    return Path(spec["directory"]) / "connect.properties"


def write_files(spec: Spec) -> None:
    load_or_create_secret(settings.CONNECT_LOGIN_FILE, prefix="console:")
    settings.CONNECT_FILES[0].mkdir(mode=0o700, parents=True, exist_ok=True)  # where a first sink writes
    pairs = {name: value for name, value in spec["properties"].items() if not name.startswith("config.providers")}
    lines = properties_text(pairs | _owned(spec))
    write_properties(_file(spec), WRITTEN_AT_STARTS + lines + client_lines(SOURCES))


def _owned(spec: Spec) -> dict[str, str]:
    return {
        "listeners": f"http://127.0.0.1:{spec['port']}",
        "authentication.method": "BASIC",
        "authentication.file": str(settings.CONNECT_LOGIN_FILE),
        "connector.file.roots": ",".join([*map(str, settings.CONNECT_FILES), *spec["files"]]),
        # The spec's files are for sources: the demo reads the console's own access log.
        "connector.file.write.roots": ",".join(map(str, settings.CONNECT_FILES)),
    }


def refresh_files(spec: Spec) -> None:
    write_files(spec)


def what_is_missing(process: StartedProcess, _pid: int, _now_s: float) -> str:
    return silence_of_http(process.ports)


def describe_answer(process: StartedProcess) -> str:
    return answer_of_ports(process.ports)


def cluster_truth(_process: StartedProcess, _look: ClusterLook) -> ClusterTruth:
    return ClusterTruth(RegistrationState.NONE, "it is a client: the cluster keeps no list of those")

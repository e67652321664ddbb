"""A schema registry, and its properties file, which is written anew before each start.

Spec: `directory`, `port`, `properties` (keys of the file that follow from nothing else here) and `is_secure`: who asks
shows the password of `settings.REGISTRY_PASSWORD_FILE`.
"""

from collections.abc import Mapping
from pathlib import Path

from django.conf import settings

from broker.config.properties import properties_text
from console.kit.common.secret_files import load_or_create_secret
from console.processes.job_users import REGISTRY
from console.processes.kinds.client_config import client_lines
from console.processes.kinds.process import StartedProcess
from console.processes.kinds.spec import (
    Launch,
    Spec,
    read_directory,
    read_pairs,
    read_port,
    read_switch,
    refuse_unknown,
)
from console.processes.properties_file import WRITTEN_AT_STARTS, write_properties
from console.processes.readiness import answer_of_ports, silence_of_http
from console.processes.truths import ClusterLook, ClusterTruth, RegistrationState

NAME, LABEL, ORDER, GRACE_S = "registry", "schema registry", 15, 8
STOP_MEANS = (
    "No schema can be registered or looked up meanwhile: clients that need one they have not yet seen wait or fail. "
    "What is registered stays in the topic of schemas."
)
_CLIENTS = "kafkastore."
_LOGIN = "console"


def check(spec: Mapping[str, object]) -> Spec:
    refuse_unknown(spec, {"directory", "port", "properties", "is_secure"})
    return {
        "directory": read_directory(spec, "directory"),
        "port": read_port(spec, "port"),
        "properties": read_pairs(spec, "properties"),
        "is_secure": read_switch(spec, "is_secure"),
    }


def launch(spec: Spec) -> Launch:
    return Launch(["registry", "--config", str(_file(spec))], Path(spec["directory"]), [spec["port"]])


def _file(spec: Spec) -> Path:
    return Path(spec["directory"]) / "schema-registry.properties"


def write_files(spec: Spec) -> None:
    lines = properties_text(spec["properties"] | _owned(spec))
    write_properties(_file(spec), WRITTEN_AT_STARTS + lines + client_lines(REGISTRY, _CLIENTS))


def _owned(spec: Spec) -> dict[str, str]:
    owned = {"listeners": f"http://127.0.0.1:{spec['port']}"}
    if not spec["is_secure"]:
        return owned | {"authentication.method": "NONE"}
    logins = Path(spec["directory"]) / "logins"
    write_properties(logins, f"{_LOGIN}: {load_or_create_secret(settings.REGISTRY_PASSWORD_FILE)}\n")
    return owned | {"authentication.method": "BASIC", "authentication.file": str(logins)}


def refresh_files(spec: Spec) -> None:
    write_files(spec)


def what_is_missing(process: StartedProcess, _pid: int, _now_s: float) -> str:
    return silence_of_http(process.ports)


def describe_answer(process: StartedProcess) -> str:
    return answer_of_ports(process.ports)


def cluster_truth(_process: StartedProcess, _look: ClusterLook) -> ClusterTruth:
    return ClusterTruth(RegistrationState.NONE, "it is a client: the cluster keeps no list of those")

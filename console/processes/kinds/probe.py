"""A probe, which writes to every broker, reads it back, and tells over HTTP what it has measured.

Spec: `directory`, `port` (of its HTTP, on 127.0.0.1) and `properties`, the rest of its probe.properties, which is
written anew at each change.
"""

from collections.abc import Mapping
from pathlib import Path

from broker.config.properties import properties_text
from console.processes.job_users import PROBE
from console.processes.kinds.client_config import tell_client_config
from console.processes.kinds.process import StartedProcess
from console.processes.kinds.spec import Launch, Spec, read_directory, read_pairs, read_port, refuse_unknown
from console.processes.properties_file import WRITTEN_AT_CHANGES, write_properties
from console.processes.readiness import answer_of_ports, silence_of_ports
from console.processes.truths import ClusterLook, ClusterTruth, RegistrationState

NAME, LABEL, ORDER, GRACE_S = "probe", "probe", 40, 10
STOP_MEANS = "Stops the probe: what clients see of the cluster is not measured meanwhile; its page has a gap."


def check(spec: Mapping[str, object]) -> Spec:
    refuse_unknown(spec, {"directory", "port", "properties"})
    port = read_port(spec, "port")
    properties = read_pairs(spec, "properties") | {"listener": f"127.0.0.1:{port}"}
    return {"directory": read_directory(spec, "directory"), "port": port, "properties": properties}


def launch(spec: Spec) -> Launch:
    return Launch(["probe", "--config", str(_file(spec))], Path(spec["directory"]), [spec["port"]])


def _file(spec: Spec) -> Path:
    return Path(spec["directory"]) / "probe.properties"


def write_files(spec: Spec) -> None:
    lines = properties_text(spec["properties"])
    write_properties(_file(spec), WRITTEN_AT_CHANGES + lines)
    refresh_files(spec)


def refresh_files(spec: Spec) -> None:
    tell_client_config(_file(spec), PROBE)


def what_is_missing(process: StartedProcess, _pid: int, _now_s: float) -> str:
    return silence_of_ports(process.ports)


def describe_answer(process: StartedProcess) -> str:
    return answer_of_ports(process.ports)


def cluster_truth(_process: StartedProcess, _look: ClusterLook) -> ClusterTruth:
    return ClusterTruth(RegistrationState.NONE, "it is a client: the cluster keeps no list of those")

"""A mirror maker, which copies topics between clusters, and its properties file, which is written at each change.

Spec: `directory`, `clusters` (alias: bootstrap servers), `flows` (each with `source`, `target`, `topics`, `groups`
and `replication_factor`, as connect-mirror-maker has them) and `properties`, what else stands in the file.
"""

from collections.abc import Mapping
from pathlib import Path

from broker.config.properties import properties_text
from console.processes.kinds.process import StartedProcess
from console.processes.kinds.spec import (
    Launch,
    Spec,
    SpecError,
    read_directory,
    read_number,
    read_pairs,
    read_text,
    refuse_unknown,
)
from console.processes.properties_file import WRITTEN_AT_CHANGES, write_properties
from console.processes.truths import ClusterLook, ClusterTruth, RegistrationState

NAME, LABEL, ORDER, GRACE_S = "mirror", "mirror", 25, 10
STOP_MEANS = "Stops the mirror: nothing is copied meanwhile; started again, it goes on where it had got to."
FLOWS_MAX = 20


def check(spec: Mapping[str, object]) -> Spec:
    refuse_unknown(spec, {"directory", "clusters", "flows", "properties"})
    clusters = read_pairs(spec, "clusters")
    return {
        "directory": read_directory(spec, "directory"),
        "clusters": clusters,
        "flows": [_read_flow(flow, clusters) for flow in _flows(spec)],
        "properties": read_pairs(spec, "properties"),
    }


def _flows(spec: Mapping[str, object]) -> list[object]:
    flows = spec.get("flows")
    if not isinstance(flows, list) or not 1 <= len(flows) <= FLOWS_MAX:
        raise SpecError(f"flows must name 1 to {FLOWS_MAX} flows.")
    return flows


def _read_flow(flow: object, clusters: Mapping[str, str]) -> Spec:
    if not isinstance(flow, Mapping):
        raise SpecError("flows must have a source, a target, topics and groups each.")
    refuse_unknown(flow, {"source", "target", "topics", "groups", "replication_factor"})
    if flow.get("source") not in clusters or flow.get("target") not in clusters:
        raise SpecError("flows must lead from one of clusters to another.")
    texts = {name: read_text(flow, name) for name in ("source", "target", "topics", "groups")}
    return texts | {"replication_factor": read_number(flow, "replication_factor", 1, 50)}


def launch(spec: Spec) -> Launch:
    return Launch(["mirror-maker", str(_file(spec))], Path(spec["directory"]))


def _file(spec: Spec) -> Path:
    return Path(spec["directory"]) / "mirror-maker.properties"


def write_files(spec: Spec) -> None:
    pairs = {"clusters": ",".join(spec["clusters"])}
    pairs |= {f"{alias}.bootstrap.servers": servers for alias, servers in spec["clusters"].items()}
    for flow in spec["flows"]:
        prefix = f"{flow['source']}->{flow['target']}"
        pairs |= {f"{prefix}.enabled": "true", f"{prefix}.replication.factor": str(flow["replication_factor"])}
        pairs |= {f"{prefix}.{name}": flow[name] for name in ("topics", "groups")}
    lines = properties_text(pairs | spec["properties"])
    write_properties(_file(spec), WRITTEN_AT_CHANGES + lines)


def refresh_files(_spec: Spec) -> None:
    """Do nothing: the files do not depend on the host."""


def what_is_missing(_process: StartedProcess, _pid: int, _now_s: float) -> str:
    return ""


def describe_answer(_process: StartedProcess) -> str:
    return "it has no port; what it copies is on the page of mirrors"


def cluster_truth(_process: StartedProcess, _look: ClusterLook) -> ClusterTruth:
    return ClusterTruth(RegistrationState.NONE, "it is a client: the cluster keeps no list of those")

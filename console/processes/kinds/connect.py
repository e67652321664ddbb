"""A connect worker, which copies records from sources into topics.

Spec: `directory` and `properties`, the whole of its connect.properties, which is written anew at each change. How far
it has got is kept in its directory, wherever the properties would have it.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from console.processes.job_users import SOURCES
from console.processes.kinds.client_config import tell_client_config
from console.processes.kinds.spec import Launch, Spec, read_directory, read_pairs, refuse_unknown
from console.processes.properties_file import write_properties
from console.processes.truths import ClusterLook, ClusterTruth, Standing

if TYPE_CHECKING:
    from console.processes.models import ManagedProcess

NAME, LABEL, ORDER, GRACE_S = "connect", "connect worker", 20, 5
STOP_MEANS = "Stops the sources of this worker: no new records in their topics; what is there stays."
_OFFSETS = "offset.storage.file.filename"
_HEADER = "# Written by the console whenever the process's spec changes; edit the spec, not this file.\n"


def check(spec: Mapping[str, object]) -> Spec:
    refuse_unknown(spec, {"directory", "properties"})
    directory = read_directory(spec, "directory")
    properties = read_pairs(spec, "properties")
    if _OFFSETS in properties:
        properties[_OFFSETS] = str(Path(directory) / "offsets.json")
    return {"directory": directory, "properties": properties}


def launch(spec: Spec) -> Launch:
    return Launch(["connect", "--config", str(_file(spec))], Path(spec["directory"]))


def _file(spec: Spec) -> Path:
    return Path(spec["directory"]) / "connect.properties"


def write_files(spec: Spec) -> None:
    lines = "".join(f"{key}={value}\n" for key, value in spec["properties"].items())
    write_properties(_file(spec), _HEADER + lines)
    refresh_files(spec)


def refresh_files(spec: Spec) -> None:
    tell_client_config(_file(spec), SOURCES)


def what_is_missing(_process: "ManagedProcess", _pid: int, _now_s: float) -> str:
    """It has no port: it runs when it lives."""
    return ""


def describe_answer(_process: "ManagedProcess") -> str:
    return "it has no port"


def cluster_truth(_process: "ManagedProcess", _look: ClusterLook) -> ClusterTruth:
    return ClusterTruth(Standing.NONE, "it is a client: the cluster keeps no list of those")

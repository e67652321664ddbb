"""The message audit's counter of what is appended: it reads every topic once, and writes counts.

Spec: `directory` and `bootstrap_servers`. By which client configuration it reaches the cluster is this host's to say.
"""

from collections.abc import Mapping
from pathlib import Path

from console.processes.job_users import client_config_of
from console.processes.kinds.process import StartedProcess
from console.processes.kinds.spec import Launch, Spec, read_directory, read_text, refuse_unknown
from console.processes.truths import ClusterLook, ClusterTruth, RegistrationState

NAME, LABEL, ORDER, GRACE_S = "counter", "audit counter", 26, 10
STOP_MEANS = "Stops counting what is appended: windows wait meanwhile; started again, it goes on where it had got to."


def check(spec: Mapping[str, object]) -> Spec:
    refuse_unknown(spec, {"directory", "bootstrap_servers"})
    return {
        "directory": read_directory(spec, "directory"),
        "bootstrap_servers": read_text(spec, "bootstrap_servers"),
    }


def launch(spec: Spec) -> Launch:
    words = ["audit-count", f"--bootstrap-server={spec['bootstrap_servers']}"]
    if config := client_config_of(""):
        words.append(f"--command-config={config}")
    return Launch(words, Path(spec["directory"]))


def write_files(_spec: Spec) -> None:
    """Write nothing: the counter's position is in the cluster."""


def refresh_files(_spec: Spec) -> None:
    """Do nothing: the counter has no files."""


def what_is_missing(_process: StartedProcess, _pid: int, _now_s: float) -> str:
    return ""


def describe_answer(_process: StartedProcess) -> str:
    return "it has no port; what it counts is on the page of completeness"


def cluster_truth(_process: StartedProcess, _look: ClusterLook) -> ClusterTruth:
    return ClusterTruth(RegistrationState.NONE, "it is a client: the cluster keeps no list of those")

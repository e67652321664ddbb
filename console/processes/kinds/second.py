"""A broker of a second cluster, beside the one the console is for: it is run and watched as any process, and counts
nowhere as a broker of ours.

Spec: `cluster`, what mirrors call it, and the fields of a broker's.
"""

from collections.abc import Mapping

from console.processes.kinds import broker
from console.processes.kinds.process import StartedProcess
from console.processes.kinds.spec import Launch, Spec, check_name, read_text
from console.processes.readiness import answer_of_ports, silence_of_ports
from console.processes.truths import ClusterLook, ClusterTruth, RegistrationState

NAME, LABEL, ORDER, GRACE_S = "second", "second cluster", 12, 20
STOP_MEANS = (
    "Stops a broker of the second cluster: mirrors to and from it stand still, and go on where they had got to."
)


def check(spec: Mapping[str, object]) -> Spec:
    cluster = read_text(spec, "cluster")
    check_name(cluster)
    return {"cluster": cluster, **broker.check(_as_broker(spec))}


def _as_broker(spec: Mapping[str, object]) -> Spec:
    return {name: value for name, value in spec.items() if name != "cluster"}


def launch(spec: Spec) -> Launch:
    return broker.launch(spec)


def write_files(spec: Spec) -> None:
    broker.write_files(_as_broker(spec))


def refresh_files(_spec: Spec) -> None:
    """Do nothing: the files do not depend on the host."""


def what_is_missing(process: StartedProcess, _pid: int, _now_s: float) -> str:
    return silence_of_ports(process.ports)


def describe_answer(process: StartedProcess) -> str:
    return answer_of_ports(process.ports)


def cluster_truth(process: StartedProcess, _look: ClusterLook) -> ClusterTruth:
    return ClusterTruth(RegistrationState.NONE, f"it is a broker of another cluster, {process.spec.get('cluster')}")

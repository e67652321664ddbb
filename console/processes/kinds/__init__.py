"""What the console can run: one module per kind, which alone knows what a spec of its kind means.

Each module has `NAME`, `LABEL`, `ORDER` (of start; the order of stop is the reverse), `GRACE_S` (between SIGTERM and
SIGKILL), `STOP_MEANS`, and the functions of `ProcessKind`. A new kind is a module here and a line below.
"""

from collections.abc import Mapping
from typing import Protocol

from broker.common.extras import missing_part
from console.processes.kinds import broker, connect, counter, mirror, probe, registry, second, stream, zookeeper
from console.processes.kinds.process import StartedProcess
from console.processes.kinds.spec import Launch, Spec, SpecError
from console.processes.truths import ClusterLook, ClusterTruth


class ProcessKind(Protocol):
    NAME: str
    LABEL: str
    ORDER: int
    GRACE_S: int
    #: What stopping it means to everybody else, in a sentence; empty if that hangs on what it holds.
    STOP_MEANS: str

    def check(self, spec: Mapping[str, object]) -> Spec:
        """Return the whole spec, with what was left out filled in. Raises SpecError, one sentence."""
        ...

    def launch(self, spec: Spec) -> Launch:
        """Return how it is started; `spec` is validated."""
        ...

    def write_files(self, spec: Spec) -> None:
        """Write its configuration files. What an operator or the process itself wrote into them stays."""
        ...

    def refresh_files(self, spec: Spec) -> None:
        """Rewrite, before each start, what may have changed of this host in the files."""
        ...

    def what_is_missing(self, process: StartedProcess, pid: int, now_s: float) -> str:
        """Return what a living process lacks to count as running, in words; empty if nothing."""
        ...

    def describe_answer(self, process: StartedProcess) -> str:
        """Return what answered the readiness check, in words."""
        ...

    def cluster_truth(self, process: StartedProcess, look: ClusterLook) -> ClusterTruth:
        """Return what the cluster knows of the process."""
        ...


KINDS: dict[str, ProcessKind] = {
    module.NAME: module for module in (zookeeper, broker, second, registry, connect, mirror, counter, stream, probe)
}
#: So little passes through them that their threads can do with one arena of glibc's between them.
LIGHT = frozenset(module.NAME for module in (zookeeper, registry, probe))
START_ORDER = tuple(sorted(KINDS, key=lambda name: KINDS[name].ORDER))


#: Kinds that are installed by an extra of their own.
_EXTRAS = {"zookeeper": "embedded", "registry": "registry", "connect": "connect", "stream": "spark"}


def refuse_uninstalled(kind: str) -> None:
    """Raise SpecError with the command that installs the kind's part, unless it is installed or needs none."""
    if kind in _EXTRAS and (sentence := missing_part(_EXTRAS[kind])):
        raise SpecError(sentence)


def kind_named(name: str) -> ProcessKind:
    return KINDS[name]

"""Four truths about a process (the wish, the OS process, its port, what the cluster says) and the one honest state.

Pure: the step gathers, this answers. `states.py` decides what to do about the process; here it only gets its name.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from console.processes.restarts import FLAPPING_DEATHS, FLAPPING_WINDOW_S
from console.processes.states import Observed

#: How long the collector may take to see who has just come.
ARRIVAL_MS = 5_000
#: And who has just gone.
LEAVING_MS = 2_000
#: What dies again and again is called well only after it has stayed that long.
CALM_MS = 60_000
#: What was seen longer ago proves nothing.
FRESH_MS = 15_000


class RegistrationState(StrEnum):
    """What the cluster makes of a process. NONE: it keeps no list of such processes."""

    NONE = "none"
    UNKNOWN = "unknown"
    ABSENT = "absent"
    PRESENT = "present"


@dataclass(frozen=True, slots=True)
class ClusterTruth:
    """What the cluster knows of a process: a sentence, when it was seen (epoch ms, 0: never), and its replicas."""

    registration: RegistrationState
    sentence: str
    at_ms: int = 0
    partitions_at_ms: int = 0
    replicas: int | None = None
    in_sync: int | None = None


@dataclass(frozen=True, slots=True)
class BrokerPresence:
    is_registered: bool
    replicas: int
    in_sync: int


@dataclass(frozen=True, slots=True)
class ClusterLook:
    """What the collector last wrote down, as far as it says something about processes."""

    now_ms: int = 0
    brokers_at_ms: int = 0
    brokers_error: str = ""
    partitions_at_ms: int = 0
    controller_id: int | None = None
    brokers: Mapping[int, BrokerPresence] = field(default_factory=dict)
    zookeeper_at_ms: int = 0
    #: One object per server: address, mode, error …
    zookeeper: Sequence[Mapping[str, object]] = ()

    def is_fresh(self, at_ms: int) -> bool:
        return self.now_ms - at_ms <= FRESH_MS


class ProcessState(StrEnum):
    """The state of a process in one word."""

    STOPPED = "stopped"
    STARTING = "starting"
    REGISTERED = "registered"
    CATCHING_UP = "catching up"
    HEALTHY = "healthy"
    #: It lives and answers; what the cluster says is not known.
    RUNNING = "running"
    UNREGISTERED = "alive but unregistered"
    DEAD_REGISTERED = "registered but dead"
    UNRESPONSIVE = "unresponsive"
    SUSPENDED = "suspended"
    FLAPPING = "flapping"
    STOPPING = "stopping"
    EXITED = "exited"
    FAILED = "failed"


#: Nobody wished for these, and they do not pass by waiting a moment.
TROUBLED_STATES = (
    ProcessState.EXITED,
    ProcessState.FAILED,
    ProcessState.FLAPPING,
    ProcessState.UNREGISTERED,
    ProcessState.DEAD_REGISTERED,
    ProcessState.UNRESPONSIVE,
    ProcessState.SUSPENDED,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Truths:
    """`sentence` is the life's own. `deaths` are those within FLAPPING_WINDOW_S; `running_since_ms` None: it is not;
    `ended_ms` None: it never did."""

    now_ms: int
    observed: Observed
    sentence: str
    suspended: bool = False
    running_since_ms: int | None = None
    ended_ms: int | None = None
    deaths: int = 0
    cluster: ClusterTruth


@dataclass(frozen=True, slots=True)
class ReportedState:
    state: ProcessState
    sentence: str


def honest_state(truths: Truths) -> ReportedState:
    """Return the state that every page shows: the worst of the four truths."""
    match truths.observed:
        case Observed.RUNNING:
            return _running(truths)
        case Observed.UNRESPONSIVE:
            return ReportedState(
                ProcessState.SUSPENDED if truths.suspended else ProcessState.UNRESPONSIVE, truths.sentence
            )
        case Observed.STARTING | Observed.STOPPING | Observed.FAILED:
            return ReportedState(ProcessState(truths.observed.value), truths.sentence)
        case Observed.EXITED | Observed.STOPPED:
            return _gone(truths)


def _gone(truths: Truths) -> ReportedState:
    seen_after_ms = truths.cluster.at_ms - (truths.ended_ms or 0)
    if truths.cluster.registration is RegistrationState.PRESENT and seen_after_ms >= LEAVING_MS:
        return ReportedState(
            ProcessState.DEAD_REGISTERED, f"the cluster counts on it until its session ends; {truths.sentence}"
        )
    if truths.observed is Observed.EXITED and truths.deaths >= FLAPPING_DEATHS:
        return ReportedState(ProcessState.FLAPPING, f"{_deaths(truths)}; {truths.sentence}")
    return ReportedState(ProcessState(truths.observed.value), truths.sentence)


def _running(truths: Truths) -> ReportedState:
    cluster, up_ms = truths.cluster, truths.now_ms - (truths.running_since_ms or truths.now_ms)
    if truths.deaths >= FLAPPING_DEATHS and up_ms < CALM_MS:
        return ReportedState(ProcessState.FLAPPING, f"{_deaths(truths)}; {truths.sentence}")
    match cluster.registration:
        case RegistrationState.NONE:
            return ReportedState(ProcessState.HEALTHY, truths.sentence)
        case RegistrationState.UNKNOWN:
            return ReportedState(
                ProcessState.RUNNING, f"{truths.sentence}; what the cluster says is not known: {cluster.sentence}"
            )
        case RegistrationState.ABSENT:
            return _absent(truths, up_ms)
        case RegistrationState.PRESENT:
            return _present(truths)


def _absent(truths: Truths, up_ms: int) -> ReportedState:
    seen_after_ms = truths.cluster.at_ms - (truths.now_ms - up_ms)
    if seen_after_ms < ARRIVAL_MS:
        return ReportedState(
            ProcessState.STARTING, f"it answers; the cluster has not been asked since: {truths.cluster.sentence} yet"
        )
    return ReportedState(ProcessState.UNREGISTERED, f"it answers, but {truths.cluster.sentence}")


def _present(truths: Truths) -> ReportedState:
    cluster = truths.cluster
    if cluster.replicas is None:
        return ReportedState(ProcessState.HEALTHY, cluster.sentence)
    if cluster.partitions_at_ms < (truths.running_since_ms or 0):
        return ReportedState(ProcessState.REGISTERED, "its partitions have not been read since it came")
    if not cluster.replicas:
        return ReportedState(ProcessState.REGISTERED, "it holds no partition yet")
    if (in_sync := cluster.in_sync or 0) < cluster.replicas:
        return ReportedState(ProcessState.CATCHING_UP, f"{in_sync:,} of {cluster.replicas:,} partitions in sync")
    return ReportedState(ProcessState.HEALTHY, f"all {cluster.replicas:,} partitions in sync")


def _deaths(truths: Truths) -> str:
    return f"died {truths.deaths} times within {FLAPPING_WINDOW_S // 60} minutes"

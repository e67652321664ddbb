"""Is the cluster well, and if not, why: reasons first, the worst on top. Pure; the sentences are in `reasons`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from console.cluster.acls.denied import DeniedClient
from console.cluster.brokers.budgets import CrowdedBudget
from console.cluster.brokers.leader_skew import LeaderSkew
from console.cluster.producers.stuck import StuckTransaction
from console.cluster.schemas.refused import RefusedSchema
from console.signals.overview.capacity import FillingVolume, HeldQuota, LeftThrottle
from console.signals.overview.next_action import NextAction
from console.state.clusters.outage import Outage


class HealthLevel(StrEnum):
    """The word that stands beside the colour is `label`. UNKNOWN of a cluster that cannot be read hides lesser ones."""

    OK = "ok"
    WARNING = "warning"
    UNKNOWN = "unknown"
    CRITICAL = "critical"

    @property
    def label(self) -> str:
        return {"unknown": "Unknown", "ok": "Healthy", "warning": "Degraded", "critical": "Critical"}[self.value]


@dataclass(frozen=True, slots=True)
class TroubledPartition:
    """A partition without a leader, or with replicas out of sync."""

    topic: str
    has_leader: bool
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    partition: int = 0
    #: min.insync.replicas of its topic, 1 while nobody has said.
    min_isr: int = 1
    #: Of the replicas, those a move brings.
    adding: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        return f"{self.topic}-{self.partition}"

    @property
    def awaits_logs(self) -> bool:
        """Whether its state was removed from ZooKeeper, and the logs of all its replicas are compared first."""
        return not self.has_leader and not self.isr

    @property
    def is_under_min_isr(self) -> bool:
        return self.has_leader and len(self.isr) < self.min_isr

    @property
    def out_of_sync(self) -> frozenset[int]:
        """The replicas out of sync, without those that a move is still copying."""
        return frozenset(self.replicas) - frozenset(self.isr) - frozenset(self.adding)


@dataclass(frozen=True, slots=True)
class TroubledProcess:
    """A managed process that is not as it is meant to be. `broker_id` of a broker."""

    name: str
    state: str
    sentence: str
    is_lost: bool
    broker_id: int | None = None


@dataclass(frozen=True, slots=True)
class TroubledGroup:
    """A consumer group with something wrong. `verdict` is the word for how it reads."""

    name: str
    verdict: str
    meaning: str
    lag: int | None = None
    #: None: the group cannot be described.
    member_count: int | None = 0
    lost: int = 0
    behind_ms: int | None = None
    #: Until the oldest record it has not read may be deleted, if that is soon.
    expires_in_ms: int | None = None
    #: One sentence with numbers; empty where its rates are not known.
    why: str = ""
    #: Its position is deleted, or records were lost within the last minutes.
    is_losing: bool = False
    lost_since_ms: int | None = None
    #: Records per second over the last minutes; None: not known.
    read_per_second: float | None = None
    #: Since when `verdict` holds, and since when it has no members; None: since before the first look.
    since_ms: int | None = None
    empty_since_ms: int | None = None


@dataclass(frozen=True, slots=True)
class KeptTopic:
    """One that was to be deleted by now, and was not."""

    name: str
    why: str
    since_ms: int | None = None


@dataclass(frozen=True, slots=True)
class TightDirectory:
    """A broker's log directory that is offline or full, or whose volume is nearly full. `left_share` is 0 to 1."""

    broker_id: int
    path: str
    error: str = ""
    left_share: float = 0.0
    usable_bytes: int | None = None
    is_critical: bool = True
    #: The broker was refused a write there, and leads there only what no other replica can.
    is_full: bool = False


@dataclass(frozen=True, slots=True)
class CrowdedBroker:
    """A broker near its limit of open files."""

    broker_id: int
    open_files: int
    limit: int


@dataclass(frozen=True, slots=True)
class SetAsideLogs:
    """Logs that a broker has set aside in its log directories `paths`: how many, and their bytes."""

    broker_id: int
    count: int
    bytes: int
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UncompactedTopic:
    """A topic of which brokers compact some partitions no more; `reason` is of the first."""

    name: str
    partitions: tuple[int, ...]
    broker_ids: tuple[int, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class EndingCertificate:
    """Ending certificate of a broker's listener; `left_ms` is below 0 when it has ended."""

    broker_id: int
    listener: str
    ends_at_ms: int
    left_ms: int


@dataclass(frozen=True, slots=True)
class PastElection:
    """An unclean election that history tells of, as its row `number` says it."""

    number: int
    topic: str
    sentence: str
    at_ms: int
    is_certain: bool


@dataclass(frozen=True, slots=True)
class UnloadedCoordinators:
    """Partitions of coordinators that a broker leads and cannot load: of groups, and of transactional producers."""

    broker_id: int
    groups: int
    transactions: int


@dataclass(frozen=True, slots=True)
class BrokerBudget:
    """A bound that the clients of a broker share, and that is crowded."""

    broker_id: int
    budget: CrowdedBudget


@dataclass(frozen=True, slots=True)
class TroubledConnector:
    """A connector that failed as a whole, or in some tasks; `error` is a class's name, `place` says at which record.

    Or a sink that runs, and of `wanted_count` topics leaves `unassigned` unread.
    """

    name: str
    failed_count: int
    task_count: int
    is_whole: bool
    error: str = ""
    place: str = ""
    since_ms: int | None = None
    unassigned: tuple[str, ...] = ()
    wanted_count: int = 0


@dataclass(frozen=True, slots=True)
class FailingPartition:
    """A partition of the probe's topic that it cannot write to, or not read from."""

    partition: int
    since_ms: int
    error: str
    replicas: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TroubledMirror:
    """A flow with topics that are not copied; `error` is what the first of them is told, empty if all are silent."""

    flow: str
    failing: int
    silent: int
    since_ms: int
    error: str
    #: Where the copies lie: empty for this cluster.
    cluster: str = ""


@dataclass(frozen=True, slots=True)
class DisagreeingTopic:
    """One of which tiers of the message audit had another number: in so many windows; `evidence` is of the newest."""

    name: str
    windows: int
    evidence: str


@dataclass(frozen=True, slots=True)
class LateTopic:
    """One of which so many windows of the message audit wait for a tier; None: none was ever complete."""

    name: str
    windows: int
    complete_until_ms: int | None


@dataclass(frozen=True, slots=True)
class ProbeWord:
    """What the probe says: broker → since when it does not answer, and why; records of the last day that are lost.

    `error`: the probe itself does not answer, and what it said before counts no more.
    """

    process: str
    silent: Mapping[int, tuple[int, str]] = field(default_factory=dict)
    failing: tuple[FailingPartition, ...] = ()
    lost: int = 0
    error: str = ""
    error_since_ms: int | None = None


@dataclass(frozen=True, slots=True)
class HealthFacts:
    is_seen: bool
    #: Why the state of the brokers, of brokers or partitions, and of consumer groups is unknown; None: it is known.
    brokers_outage: Outage | None = None
    outage: Outage | None = None
    groups_outage: Outage | None = None
    #: The cluster does not let the console in, or the console has no way to ask: it does not pass by itself.
    is_refused: bool = False
    controller_id: int | None = None
    #: The fields of a QuorumSummary; None: the cluster has no KRaft quorum, or it cannot be read.
    quorum: Mapping[str, Any] | None = None
    missing: frozenset[int] = frozenset()
    #: Broker → since when it is missing, in ms.
    missing_since_ms: Mapping[int, int] = field(default_factory=dict)
    #: Broker → how often it left within the last minutes; only those that flap.
    flapping: Mapping[int, int] = field(default_factory=dict)
    #: Whether this console runs the cluster's processes; those of others have no page here.
    manages_processes: bool = True
    #: Brokers with a row on the processes page.
    managed: frozenset[int] = frozenset()
    troubled: tuple[TroubledPartition, ...] = ()
    processes: tuple[TroubledProcess, ...] = ()
    #: address → error of the ZooKeeper servers that do not serve; how many there are in all.
    zookeeper_errors: dict[str, str] = field(default_factory=dict)
    zookeeper_count: int = 0
    #: The worst first, and how many there are in all.
    groups: tuple[TroubledGroup, ...] = ()
    groups_count: int = 0
    #: Those that somebody has said something of; they are not among `groups`.
    quiet_groups: tuple[TroubledGroup, ...] = ()
    quiets: tuple["Quiet", ...] = ()
    now_ms: int = 0
    directories: tuple[TightDirectory, ...] = ()
    crowded: tuple[CrowdedBroker, ...] = ()
    strays: tuple[SetAsideLogs, ...] = ()
    certificates: tuple[EndingCertificate, ...] = ()
    #: Of the last days, the newest first.
    unclean: tuple[PastElection, ...] = ()
    unloaded: tuple[UnloadedCoordinators, ...] = ()
    #: Ids of another Kafka's brokers that are registered in this cluster's ensemble.
    foreign_brokers: tuple[int, ...] = ()
    crowded_budgets: tuple[BrokerBudget, ...] = ()
    #: Topics of coordinators with one replica, though there are more brokers.
    lone_internal_topics: tuple[str, ...] = ()
    #: Those that failed first, and how many have in all; and why Kafka Connect cannot be asked.
    connectors: tuple[TroubledConnector, ...] = ()
    connectors_count: int = 0
    connectors_error: str = ""
    #: None: there is no probe, or it is not this person's to see.
    probe: ProbeWord | None = None
    mirrors: tuple[TroubledMirror, ...] = ()
    #: The worst of them, and how many there are.
    disagreeing: tuple[DisagreeingTopic, ...] = ()
    disagreeing_count: int = 0
    late: tuple[LateTopic, ...] = ()
    late_count: int = 0
    #: Some of them, and how many there are.
    kept: tuple[KeptTopic, ...] = ()
    kept_count: int = 0
    held_quotas: tuple[HeldQuota, ...] = ()
    left_throttle: LeftThrottle | None = None
    filling: tuple[FillingVolume, ...] = ()
    denied: tuple[DeniedClient, ...] = ()
    leader_skew: LeaderSkew | None = None
    stuck_transactions: tuple[StuckTransaction, ...] = ()
    refused_schemas: tuple[RefusedSchema, ...] = ()
    registry_error: str = ""
    uncompacted: tuple[UncompactedTopic, ...] = ()

    @property
    def has_quorum(self) -> bool:
        return len(self.zookeeper_errors) * 2 < self.zookeeper_count


@dataclass(frozen=True, slots=True)
class Quiet:
    """An acknowledgement, mute or retirement of the reason with this `key`, at this level, weight and parts.

    `kind` is one of quiet.Kind; `until_ms` None: until it is taken back.
    """

    key: str
    kind: str
    level: HealthLevel
    weight: int
    parts: tuple[str, ...]
    until_ms: int | None
    by: str
    why: str


@dataclass(frozen=True, slots=True)
class HealthReason:
    """`subject` is the object, `text` what is wrong with it and why, `evidence` what says so.

    `key` says which trouble of what it is, as long as it lasts; `weight` and `parts` how much of it there is and which
    partitions it is of. `name` is the group's or process's it is about, of the resource `about`.
    """

    level: HealthLevel
    subject: str
    text: str
    action: NextAction
    evidence: str = ""
    since_ms: int | None = None
    key: str = ""
    weight: int = 0
    parts: tuple[str, ...] = ()
    about: str = "cluster"
    name: str = ""
    #: A group without members: it can be told that nobody will read for it any more.
    may_retire: bool = False
    #: It is over and cannot be undone: it counts until somebody has acknowledged it.
    is_past: bool = False
    quiet: Quiet | None = None
    #: The change that it may come of.
    cause: NextAction | None = None


@dataclass(frozen=True, slots=True)
class Health:
    """`muted` reasons are true, too, but excluded by an operator."""

    level: HealthLevel
    reasons: tuple[HealthReason, ...]
    muted: tuple[HealthReason, ...] = ()

    @property
    def is_unknown(self) -> bool:
        """Whether some of the cluster's state cannot be read; that may have been muted."""
        return any(reason.level is HealthLevel.UNKNOWN for reason in (*self.reasons, *self.muted))

    @property
    def muted_count(self) -> int:
        return self._count_muted("muted")

    @property
    def retired_count(self) -> int:
        return self._count_muted("retired")

    @property
    def acknowledged_count(self) -> int:
        """The number of acknowledged past reasons."""
        return self._count_muted("acknowledged")

    def _count_muted(self, kind: str) -> int:
        return sum(item.quiet is not None and item.quiet.kind == kind for item in self.muted)

    def find(self, key: str) -> HealthReason | None:
        """Return the reason with this key, muted or not."""
        return next((reason for reason in (*self.reasons, *self.muted) if key and reason.key == key), None)

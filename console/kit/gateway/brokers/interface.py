"""The words for what each broker says of itself: its settings, its log directories, the requests it answers."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from console.kit.gateway.quotas.interface import QuotaUse
from console.kit.gateway.retention.interface import SettingView

#: (topic, partition) → broker → bytes of its replica's log.
ReplicaSizes = Mapping[tuple[str, int], Mapping[int, int]]


@dataclass(frozen=True, slots=True)
class BrokerSetting(SettingView):
    """One setting of a broker. A sensitive one has no value: brokers do not tell it."""

    is_read_only: bool = False
    is_sensitive: bool = False
    #: What each place says, by source (broker, cluster, file, default); where nothing is said it is missing.
    values_by_source: Mapping[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LogDirView:
    """A directory of `log.dirs`; offline with an `error`. Bytes of the volume are None where the broker cannot say."""

    path: str
    error: str = ""
    total_bytes: int | None = None
    usable_bytes: int | None = None
    #: (topic, partition, bytes) of each replica in it.
    replicas: tuple[tuple[str, int, int], ...] = ()
    #: Likewise of copies that are on their way into it; each takes the place of the replica in another directory.
    arriving: tuple[tuple[str, int, int], ...] = ()
    #: The broker was refused a write there for want of room, so that in-sync replicas with room lead what it led.
    is_full: bool = False
    #: Logs that were set aside in it, and their bytes; only Barnabas brokers tell.
    stray_count: int = 0
    stray_bytes: int = 0

    @property
    def size_bytes(self) -> int:
        return sum(size for _, _, size in self.replicas)


@dataclass(frozen=True, slots=True)
class ErrorCount:
    """Answers whose first error was this one, since the broker started; `name` and `meaning` as in Kafka."""

    name: str
    meaning: str
    count: int


@dataclass(frozen=True, slots=True)
class ApiRequestTimes:
    """Requests of one API since the broker started. Bucket: (no answer in it took longer, µs; how many)."""

    api: str
    count: int
    error_count: int
    max_us: int
    buckets: tuple[tuple[int, int], ...]
    #: Together they are `error_count`, unless the broker does not tell them.
    errors: tuple[ErrorCount, ...] = ()


@dataclass(frozen=True, slots=True)
class NotLoaded:
    """Partitions of coordinators that a broker leads and could not load so far: what they coordinate stands still."""

    groups: int = 0
    transactions: int = 0


@dataclass(frozen=True, slots=True)
class BudgetUse:
    """A bound of a broker that all clients share, and the client that holds the most of it."""

    name: str
    size: int
    held: int
    #: How long ago a client was refused because it holds its share; None: never.
    refused_ms_ago: int | None = None
    #: Kafka's principal and the address of the client that holds the most; empty: no client is known.
    principal: str = ""
    host: str = ""
    owner_held: int = 0


@dataclass(frozen=True, slots=True)
class UncleanableLog:
    """A partition that a broker compacts no more since a pass of its cleaner failed, and why."""

    topic: str
    partition: int
    reason: str


@dataclass(frozen=True, slots=True)
class Software:
    """What a broker runs, as far as its APIs tell: no broker says its version."""

    name: str
    #: The Kafka release whose APIs these are, or the next older one known here.
    speaks: str
    api_count: int


class BrokerGateway(Protocol):
    """Each broker is asked itself; one that does not answer is missing from the answer."""

    def settings(self) -> Mapping[int, tuple[BrokerSetting, ...]]:
        """Return by broker every setting in effect, sorted by name."""
        ...

    def change_settings(self, broker_id: int | None, changes: Mapping[str, str | None]) -> None:
        """Set what is named, and only that, for one broker or (None) for all; None takes the value away."""
        ...

    def log_dirs(self, places: Collection[tuple[str, int]] | None = None) -> Mapping[int, tuple[LogDirView, ...]]:
        """Return the log directories with all replicas in them, or only those of `places`."""
        ...

    def move_replicas(self, broker_id: int, wanted: Mapping[tuple[str, int], str]) -> dict[tuple[str, int], str]:
        """Begin to copy replicas of one broker into other directories of it; what was refused, with a sentence why.

        Raises GatewayError if the broker unreachable.
        """
        ...

    def software(self) -> Mapping[int, Software]:
        """Return the software of brokers that have answered any request; sends none."""
        ...

    def request_times(self) -> Mapping[int, tuple[ApiRequestTimes, ...] | None]:
        """Return None for a broker that answers and does not tell: only Barnabas brokers do."""
        ...

    def not_loaded(self) -> Mapping[int, NotLoaded]:
        """Return the coordinators not loaded, as of the newest `request_times`; sends no request."""
        ...

    def foreign_brokers(self) -> Mapping[int, tuple[int, ...]]:
        """Return, by reporting broker, the ids of other Kafka brokers registered in its ensemble; sends no request."""
        ...

    def uncleanable(self) -> Mapping[int, tuple[UncleanableLog, ...]]:
        """As `not_loaded`: by broker that tells, the partitions that it compacts no more."""
        ...

    def budget_uses(self) -> Mapping[int, tuple[BudgetUse, ...]]:
        """Return, by broker, the bounds that its clients share; sends no request."""
        ...

    def quota_uses(self) -> Mapping[int, tuple[QuotaUse, ...]]:
        """Return, by reporting broker, the quota uses nearest to their limit, a hundred of each kind; sends no
        request.
        """
        ...


def replica_sizes(log_dirs: Mapping[int, tuple[LogDirView, ...]]) -> ReplicaSizes:
    """Return the sizes by replica."""
    sizes: dict[tuple[str, int], dict[int, int]] = {}
    for broker_id, directories in log_dirs.items():
        for directory in directories:
            for topic, partition, size in directory.replicas:
                sizes.setdefault((topic, partition), {})[broker_id] = size
    return sizes

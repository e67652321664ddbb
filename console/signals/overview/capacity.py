"""What limits the cluster now or soon, as facts: quotas, replication throttles, volumes. Pure."""

from dataclasses import dataclass

from console.signals.overview.next_action import NextAction


@dataclass(frozen=True, slots=True)
class HeldQuota:
    """A quota of `words` by which clients are held back. `query` finds it in the list; `cause` is its last change."""

    words: str
    label: str
    limit: str
    since_ms: int
    clients: tuple[str, ...]
    query: str = ""
    cause: NextAction | None = None


@dataclass(frozen=True, slots=True)
class LeftThrottle:
    """A replication throttle without a reassignment. No `broker_ids`: it is the default of all brokers."""

    broker_ids: tuple[int, ...]
    bytes_per_second: int
    topics: tuple[str, ...]
    #: Partitions of the topics with replicas out of sync.
    behind_count: int = 0
    since_ms: int | None = None
    cause: NextAction | None = None


@dataclass(frozen=True, slots=True)
class FillingVolume:
    """A volume that is full soon by its growth; `topic` grows most, by so many bytes per second."""

    broker_ids: tuple[int, ...]
    path: str
    usable_bytes: int
    full_in_ms: int
    topic: str = ""
    topic_per_second: float = 0.0

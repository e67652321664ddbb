"""The words for settings of a topic, for what retention would delete, and for what groups have committed."""

from collections.abc import Mapping
from dataclasses import dataclass

#: Under these settings every segment goes whose newest record is not of just now: a preview lists them all.
EVERYTHING_GOES = {"cleanup.policy": "delete", "retention.ms": "0", "retention.bytes": "-1"}


@dataclass(frozen=True, slots=True)
class SettingView:
    """One setting as it counts. `source` is topic, broker, cluster, file or default."""

    name: str
    value: str | None
    source: str
    #: Kafka's default and what the setting is for; empty where our table does not know it.
    default: str | None = None
    meaning: str = ""
    #: Every value it can have, where they are few.
    choices: tuple[str, ...] = ()
    #: What counts where the topic sets nothing; None where that is not told.
    inherited: str | None = None


@dataclass(frozen=True, slots=True)
class DoomedSegment:
    """A segment that goes. `last_offset` is inclusive; `newest_at_ms` None where no record has a time."""

    first_offset: int
    last_offset: int
    size_bytes: int
    newest_at_ms: int | None
    #: retention.ms, retention.bytes, compaction or deleted records
    reason: str


@dataclass(frozen=True, slots=True)
class PartitionRetention:
    """With an `error` nothing else is known. `compacted_records` is None where the policy does not compact."""

    partition: int
    error: str = ""
    first_offset: int = 0
    new_first_offset: int = 0
    next_offset: int = 0
    segment_count: int = 0
    size_bytes: int = 0
    deleted_segments: int = 0
    deleted_bytes: int = 0
    deleted_records: int = 0
    #: Of those that go, the oldest: the counts are of all.
    segments: tuple[DoomedSegment, ...] = ()
    compacted_records: int | None = None


@dataclass(frozen=True, slots=True)
class RetentionView:
    """What would be deleted, under the three settings named here.

    An estimate is of brokers that do not preview: it knows no segments and no compaction, and its records are the most
    that can go.
    """

    cleanup_policy: str
    retention_ms: int
    retention_bytes: int
    partitions: tuple[PartitionRetention, ...]
    is_estimate: bool = False


@dataclass(frozen=True, slots=True)
class CommittedView:
    """group → partition → committed offset, of the groups that have one in the topic.

    Groups of `silent_brokers` coordinators could not be read.
    """

    offsets: Mapping[str, Mapping[int, int]]
    silent_brokers: int = 0

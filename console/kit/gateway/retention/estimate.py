"""What retention would delete where brokers do not preview it: an estimate from offsets by time and log sizes. Pure.

Kafka deletes whole segments, and tells no client where they begin. What is older than retention.ms is therefore the
most that can go by time; by size, records are taken to be equally large.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from console.kit.gateway.retention.interface import PartitionRetention, RetentionView, SettingView


@dataclass(frozen=True, slots=True)
class PartitionExtent:
    """A partition's log: `next_offset` is exclusive, `size_bytes` the leader's, None where no broker has told it."""

    partition: int
    first_offset: int
    next_offset: int
    size_bytes: int | None


@dataclass(frozen=True, slots=True)
class RetentionLimits:
    """The three settings as they count; -1 is no limit."""

    cleanup_policy: str
    retention_ms: int
    retention_bytes: int

    @property
    def deletes(self) -> bool:
        return "delete" in self.cleanup_policy.replace(" ", "").split(",")


def limits_with(settings: Iterable[SettingView], changes: Mapping[str, str | None]) -> RetentionLimits:
    """Return the limits after `changes`; None takes the topic's own value away, and what is inherited counts."""
    values = {setting.name: setting.value for setting in settings}
    inherited = {setting.name: setting.inherited for setting in settings}
    values |= {name: inherited.get(name) if value is None else value for name, value in changes.items()}
    ages, sizes = values.get("retention.ms"), values.get("retention.bytes")
    return RetentionLimits(values.get("cleanup.policy") or "", int(ages or -1), int(sizes or -1))


def estimate(
    limits: RetentionLimits,
    logs: Iterable[PartitionExtent],
    young_from: Mapping[int, int | None],
    missing: Iterable[int],
) -> RetentionView:
    """Return the estimate. `young_from`: by partition the first offset younger than retention.ms, None: no record is.

    Partitions of `missing`, and those of `logs` that are not told what a limit needs, carry an error.
    """
    retentions = [_estimate(limits, log, young_from) for log in logs]
    retentions += [PartitionRetention(item, "its leader did not answer") for item in missing]
    partitions = tuple(sorted(retentions, key=lambda retention: retention.partition))
    return RetentionView(
        limits.cleanup_policy, limits.retention_ms, limits.retention_bytes, partitions, is_estimate=True
    )


def _estimate(
    limits: RetentionLimits, log: PartitionExtent, young_from: Mapping[int, int | None]
) -> PartitionRetention:
    start = log.first_offset
    if limits.deletes and limits.retention_ms >= 0:
        if log.partition not in young_from:
            return PartitionRetention(log.partition, "its leader did not tell which records are that old")
        young = young_from[log.partition]
        start = max(start, log.next_offset if young is None else min(young, log.next_offset))
    if limits.deletes and limits.retention_bytes >= 0:
        if log.size_bytes is None:
            return PartitionRetention(log.partition, "no broker reported the size of its log (DescribeLogDirs)")
        start = max(start, log.first_offset + _beyond(limits.retention_bytes, log, log.size_bytes))
    count, size = log.next_offset - log.first_offset, log.size_bytes or 0
    gone = start - log.first_offset
    return PartitionRetention(
        partition=log.partition,
        first_offset=log.first_offset,
        new_first_offset=start,
        next_offset=log.next_offset,
        size_bytes=size,
        deleted_bytes=round(size * gone / count) if count else 0,
        deleted_records=gone,
    )


def _beyond(retention_bytes: int, log: PartitionExtent, size_bytes: int) -> int:
    """Return how many of the oldest records lie beyond `retention_bytes`, if all are equally large."""
    count = log.next_offset - log.first_offset
    return count * (size_bytes - retention_bytes) // size_bytes if size_bytes > retention_bytes else 0

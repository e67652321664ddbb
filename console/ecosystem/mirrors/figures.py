"""What partitions' statuses say of their topic. Pure."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from console.kit.gateway.processes.mirror import WHOLE_TOPIC, MirrorStatus

#: A mirror says all of what it does once a minute; who has said nothing for longer is not at work.
SILENT_AFTER_MS = 150_000


class MirrorPartition(NamedTuple):
    """A partition as stored. `rate`: records a second between the last two reports."""

    next_offset: int
    lag: int | None
    copied_until_ms: int | None
    records: int
    bytes: int
    skipped: int
    rate: float
    error: str | None
    notice: str | None
    at_ms: int
    is_paused: bool = False


def partition_of(status: MirrorStatus, before: MirrorPartition | None) -> MirrorPartition:
    return MirrorPartition(
        status.next_offset, status.lag, status.copied_until_ms, status.records, status.bytes, status.skipped,
        _rate(status, before), status.error, status.notice, status.at_ms, status.is_paused,
    )  # fmt: skip


def _rate(status: MirrorStatus, before: MirrorPartition | None) -> float:
    """Return the rate; 0 for the first report, or the first of a restarted mirror."""
    if before is None or status.at_ms <= before.at_ms or status.records < before.records:
        return 0.0
    return (status.records - before.records) * 1000 / (status.at_ms - before.at_ms)


def named(number: int) -> str:
    """Return the metrics that a mirror reports, for a number."""
    return "topic" if number == WHOLE_TOPIC else f"partition {number}"


def total(partitions: Mapping[str, MirrorPartition]) -> dict[str, Any]:
    """Return the topic's columns as totals."""
    rows = list(partitions.values())
    failing = [
        (number, entry) for number, entry in sorted(partitions.items(), key=lambda item: int(item[0])) if entry.error
    ]
    lags = [row.lag for row in rows]
    behind = [row.copied_until_ms for row in rows if row.lag and row.copied_until_ms is not None]
    latest = [row.copied_until_ms for row in rows if row.copied_until_ms is not None]
    return {
        "lag": None if None in lags else sum(filter(None, lags)),
        "rate": sum(row.rate for row in rows),
        "records": sum(row.records for row in rows),
        "bytes": sum(row.bytes for row in rows),
        "skipped": sum(row.skipped for row in rows),
        "copied_until_ms": min(behind) if behind else max(latest, default=None),
        "failing": len(failing),
        "error": f"{named(int(failing[0][0])).capitalize()}: {failing[0][1].error}" if failing else "",
        "at_ms": max((row.at_ms for row in rows), default=0),
    }

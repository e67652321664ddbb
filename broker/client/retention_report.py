"""A preview of retention as a person reads it, and as a program does."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from broker.common.errors import error_code_of
from broker.protocol.messages.preview_retention import (
    DeletionReason,
    PreviewRetentionCompaction,
    PreviewRetentionPartitionResult,
    PreviewRetentionSegment,
    PreviewRetentionTopicResult,
)
from broker.protocol.schema import Struct

_REASONS = {
    DeletionReason.LOG_START_OFFSET: "deleted records",
    DeletionReason.TIME: "retention.ms",
    DeletionReason.SIZE: "retention.bytes",
    DeletionReason.COMPACTION: "compaction",
}
_UNITS_MS = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1_000, "s"))
#: What stands for no limit.
_ENDLESS = (-1, 2**63 - 1)


def report_lines(preview: PreviewRetentionTopicResult, *, with_segments: bool = False) -> Iterator[str]:
    """Yield a summary line, a table of what retention deletes, and one of what compaction drops."""
    yield f"{preview.name}: " + ", ".join(_policy(preview))
    looked_at = [partition for partition in preview.partitions if not partition.error_code]
    if looked_at:
        yield ""
        yield from _table(
            ("partition", "segments go", "records go", "bytes go", "of bytes", "log start", "because of"),
            [*map(_retention_row, looked_at), _total(looked_at)],
        )
    compacted = [(partition, compaction) for partition in looked_at if (compaction := partition.compaction)]
    if compacted:
        yield ""
        yield from _table(
            ("partition", "compaction", "records kept", "records go", "bytes before", "bytes after", "up to offset"),
            [_compaction_row(partition.partition_index, compaction) for partition, compaction in compacted],
        )
    if with_segments and any(partition.segments for partition in looked_at):
        yield ""
        yield from _table(
            ("partition", "first offset", "last offset", "bytes", "newest record", "because of"),
            [
                _segment_row(partition.partition_index, segment)
                for partition in looked_at
                for segment in partition.segments
            ],
        )
    for partition in preview.partitions:
        if partition.error_code:
            message = partition.error_message or error_code_of(partition.error_code).meaning
            yield f"partition {partition.partition_index} could not be asked: {message}"


def as_json(preview: PreviewRetentionTopicResult) -> dict[str, Any]:
    """Return every field of the response under its name on the wire; reasons and errors as words."""
    return _fields(preview)


def _fields(struct: Struct) -> dict[str, Any]:
    return {field.name: _plain(getattr(struct, field.name), field.name) for field in struct.fields}


def _plain(value: Any, name: str = "") -> Any:
    if isinstance(value, Struct):
        return _fields(value)
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if name == "reason":
        return DeletionReason(value).name
    return error_code_of(value).name if name == "error_code" else value


def _policy(preview: PreviewRetentionTopicResult) -> Iterator[str]:
    yield f"cleanup.policy {preview.cleanup_policy}"
    yield f"retention.ms {preview.retention_ms} ({duration(preview.retention_ms)})"
    limit = "no limit" if preview.retention_bytes in _ENDLESS else size(preview.retention_bytes)
    yield f"retention.bytes {preview.retention_bytes} ({limit})"


def _retention_row(partition: PreviewRetentionPartitionResult) -> tuple[str, ...]:
    start = str(partition.log_start_offset)
    if partition.new_log_start_offset != partition.log_start_offset:
        start += f" -> {partition.new_log_start_offset}"
    reasons = {segment.reason: None for segment in partition.segments if segment.reason != DeletionReason.COMPACTION}
    return (
        str(partition.partition_index),
        f"{partition.deleted_segments} of {partition.segment_count}",
        f"{partition.deleted_records:,}",
        size(partition.deleted_bytes),
        size(partition.size_bytes),
        start,
        ", ".join(_REASONS[DeletionReason(reason)] for reason in reasons) or "-",
    )


def _total(partitions: Sequence[PreviewRetentionPartitionResult]) -> tuple[str, ...]:
    return (
        "all",
        f"{sum(partition.deleted_segments for partition in partitions)} of "
        f"{sum(partition.segment_count for partition in partitions)}",
        f"{sum(partition.deleted_records for partition in partitions):,}",
        size(sum(partition.deleted_bytes for partition in partitions)),
        size(sum(partition.size_bytes for partition in partitions)),
        "",
        "",
    )


def _compaction_row(index: int, compaction: PreviewRetentionCompaction) -> tuple[str, ...]:
    gone = (
        compaction.records_superseded,
        compaction.records_expired,
        compaction.records_without_key,
        compaction.records_aborted,
    )
    state = "due" if compaction.is_due else "not due"
    return (
        str(index),
        f"{state}, {compaction.dirty_ratio:.0%} dirty" + ("" if compaction.is_complete else ", in parts"),
        f"{compaction.records_kept:,}",
        f"{sum(gone):,}",
        size(compaction.bytes_before),
        size(compaction.bytes_after),
        str(compaction.end_offset),
    )


def _segment_row(index: int, segment: PreviewRetentionSegment) -> tuple[str, ...]:
    return (
        str(index),
        str(segment.base_offset),
        str(segment.last_offset),
        size(segment.size_bytes),
        moment(segment.max_timestamp),
        _REASONS[DeletionReason(segment.reason)],
    )


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    for row in (head, *rows):
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def size(count: int) -> str:
    """Format bytes in the largest unit that leaves a whole part."""
    value, unit = float(count), "B"
    for larger in ("KB", "MB", "GB", "TB"):
        if value < 1000:
            break
        value, unit = value / 1000, larger
    return f"{count} B" if unit == "B" else f"{value:.1f} {unit}"


def duration(milliseconds: int) -> str:
    if milliseconds in _ENDLESS:
        return "no limit"
    for unit_ms, unit in _UNITS_MS:
        if milliseconds >= unit_ms:
            return f"{milliseconds / unit_ms:.1f} {unit}".replace(".0 ", " ")
    return f"{milliseconds} ms"


def moment(timestamp_ms: int) -> str:
    """Format a time in UTC; one beyond the calendar as a number."""
    if timestamp_ms < 0:
        return "-"
    try:
        return datetime.fromtimestamp(timestamp_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")
    except (OverflowError, ValueError, OSError):
        return str(timestamp_ms)

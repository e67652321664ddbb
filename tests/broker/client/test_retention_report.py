"""What a person and a program read of a preview."""

import json

from broker.client.retention_report import as_json, duration, moment, report_lines, size
from broker.common.errors import ErrorCode
from broker.protocol.messages.preview_retention import (
    DeletionReason,
    PreviewRetentionCompaction,
    PreviewRetentionPartitionResult,
    PreviewRetentionSegment,
    PreviewRetentionTopicResult,
)

SEGMENT = PreviewRetentionSegment(
    base_offset=100, last_offset=199, size_bytes=2_500, max_timestamp=1_700_000_000_000, reason=DeletionReason.TIME
)
PREVIEW = PreviewRetentionTopicResult(
    name="orders",
    cleanup_policy="delete",
    retention_ms=3_600_000,
    partitions=[
        PreviewRetentionPartitionResult(
            partition_index=0,
            log_start_offset=100,
            new_log_start_offset=200,
            log_end_offset=1_300,
            segment_count=4,
            size_bytes=1_200_000,
            deleted_segments=1,
            deleted_bytes=2_500,
            deleted_records=100,
            segments=[SEGMENT],
        ),
        PreviewRetentionPartitionResult(partition_index=1, error_code=ErrorCode.REQUEST_TIMED_OUT, error_message="no"),
    ],
)


def test_a_table_tells_what_goes_from_each_partition_and_in_all():
    assert list(report_lines(PREVIEW)) == [
        "orders: cleanup.policy delete, retention.ms 3600000 (1 h), retention.bytes -1 (no limit)",
        "",
        "partition  segments go  records go  bytes go  of bytes  log start   because of",
        "0          1 of 4       100         2.5 KB    1.2 MB    100 -> 200  retention.ms",
        "all        1 of 4       100         2.5 KB    1.2 MB",
        "partition 1 could not be asked: no",
    ]


def test_segments_are_named_when_asked_for():
    lines = list(report_lines(PREVIEW, with_segments=True))
    assert "0          100           199          2.5 KB  2023-11-14 22:13:20  retention.ms" in lines


def test_compaction_has_a_table_of_its_own():
    compaction = PreviewRetentionCompaction(
        is_due=True, dirty_ratio=0.75, is_complete=False, end_offset=1_000, bytes_before=1_000_000, bytes_after=250_000,
        records_kept=10, records_superseded=5, records_expired=2, records_without_key=1, records_aborted=1,
    )  # fmt: skip
    partition = PreviewRetentionPartitionResult(partition_index=3, compaction=compaction)
    lines = list(report_lines(PreviewRetentionTopicResult(name="t", partitions=[partition])))
    assert " ".join(lines[-1].split()) == "3 due, 75% dirty, in parts 10 9 1.0 MB 250.0 KB 1000"
    assert lines[-2].startswith("partition  compaction ")


def test_a_program_reads_every_field_and_words_for_numbers():
    read = json.loads(json.dumps(as_json(PREVIEW)))
    assert read["partitions"][0]["segments"][0]["reason"] == "TIME"
    assert read["partitions"][0]["deleted_bytes"] == 2_500
    assert read["partitions"][1]["error_code"] == "REQUEST_TIMED_OUT"
    assert read["partitions"][0]["compaction"] is None


def test_quantities_are_written_for_people():
    assert [size(count) for count in (0, 999, 1_000, 2_500_000, 10**13)] == [
        "0 B",
        "999 B",
        "1.0 KB",
        "2.5 MB",
        "10.0 TB",
    ]
    assert [duration(ms) for ms in (-1, 5, 1_500, 604_800_000)] == ["no limit", "5 ms", "1.5 s", "7 d"]
    assert [moment(ms) for ms in (-1, 0, 2**62)] == ["-", "1970-01-01 00:00:00", str(2**62)]

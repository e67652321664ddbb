"""Finds an offset by time, as ListOffsets asks.

Segments whose largest timestamp is too small are skipped; in the right one the time index says from where on headers
are to be read, and only the batch that decides is unpacked: nothing is kept of its records. A caller that must not
block asks from a worker thread.
"""

from collections.abc import Iterable

from broker.common.errors import ApiError
from broker.log.compaction.record_spans import record_spans, unpack_records
from broker.log.segment import Segment
from broker.records.batch import BatchHeader, TimestampType, crc_matches


def find_timestamp(segments: Iterable[Segment], timestamp_ms: int, log_start_offset: int) -> tuple[int, int] | None:
    """Return (offset, timestamp) of the first record at `log_start_offset` or later with `timestamp_ms` or a later
    time.
    """
    for segment in segments:
        if segment.max_timestamp < timestamp_ms:
            continue
        for position, header in segment.batches_from_timestamp(timestamp_ms):
            if header.max_timestamp >= timestamp_ms and header.last_offset >= log_start_offset:
                first_record = _first_record_at(segment, position, header, timestamp_ms, log_start_offset)
                if first_record is not None:
                    return first_record
    return None


def _first_record_at(
    segment: Segment, position: int, header: BatchHeader, timestamp_ms: int, log_start_offset: int
) -> tuple[int, int] | None:
    if not header.records_count:
        return None
    by_header = max(header.base_offset, log_start_offset), header.max_timestamp
    is_late = False
    try:
        batch = segment.read_batch(position, header)
        if not crc_matches(batch, header):
            return by_header
        appended = header.timestamp_type is TimestampType.LOG_APPEND_TIME
        for span in record_spans(header, unpack_records(header, batch)):
            time_ms = header.max_timestamp if appended else header.base_timestamp + span.timestamp_delta
            is_late = is_late or time_ms >= timestamp_ms
            if time_ms >= timestamp_ms and span.offset >= log_start_offset:
                return span.offset, time_ms
    except ApiError:
        return by_header
    return None if is_late else by_header

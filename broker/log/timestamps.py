"""Finds an offset by time, as ListOffsets asks.

Segments whose largest timestamp is too small are skipped; in the right one the time index says from where on headers
are to be read, and only the batch that decides is decoded. A caller that must not block asks from a worker thread.
"""

from collections.abc import Iterable

from broker.common.errors import ApiError
from broker.log.segment import Segment
from broker.records.batch import BatchHeader
from broker.records.record import decode_records


def find_timestamp(segments: Iterable[Segment], timestamp_ms: int, log_start_offset: int) -> tuple[int, int] | None:
    """(offset, timestamp) of the first record at `log_start_offset` or later with `timestamp_ms` or a later time."""
    for segment in segments:
        if segment.max_timestamp < timestamp_ms:
            continue
        for position, header in segment.batches_from_timestamp(timestamp_ms):
            if header.max_timestamp >= timestamp_ms and header.last_offset >= log_start_offset:
                found = _first_record_at(segment, position, header, timestamp_ms, log_start_offset)
                if found is not None:
                    return found
    return None


def _first_record_at(
    segment: Segment, position: int, header: BatchHeader, timestamp_ms: int, log_start_offset: int
) -> tuple[int, int] | None:
    if not header.records_count:
        return None
    by_header = max(header.base_offset, log_start_offset), header.max_timestamp
    try:
        records = decode_records(segment.read_batch(position, header))
    except ApiError:
        return by_header
    late = [record for record in records if record.timestamp_ms >= timestamp_ms]
    if not late:
        return by_header
    found = (record for record in late if record.offset >= log_start_offset)
    return next(((record.offset, record.timestamp_ms) for record in found), None)

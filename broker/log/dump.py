"""Prints a segment for a person: its batches line by line, and the records in them if asked.

Everything is checked on the way (CRC, offsets, what is inside), and the first damage is named and ends it, because
behind it nobody can say where the next batch begins.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from broker.common.errors import ApiError
from broker.log.files import OpenFile, read_at
from broker.log.scan import BadBatchError, scan_batches
from broker.records.batch import NO_PRODUCER_ID, NO_TIMESTAMP, BatchHeader, TimestampType
from broker.records.record import Record, decode_records

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SHOWN_CHARACTERS_MAX = 120
_BASE_OFFSET_DIGITS = 20


class SegmentDump:
    """Of the `.log` file `path`; its name tells the first offset."""

    def __init__(self, path: Path, *, with_records: bool = False):
        self._path = path
        self._with_records = with_records
        #: What ended it early; known once all lines were taken.
        self.damage: BadBatchError | None = None

    def lines(self) -> Iterator[str]:
        """Raises OSError if the file cannot be read."""
        file = OpenFile(self._path)
        name = self._path.name[:_BASE_OFFSET_DIGITS]
        base_offset = int(name) if name.isdigit() and len(name) == _BASE_OFFSET_DIGITS else 0
        batches = records = 0
        try:
            for position, header in scan_batches(file, 0, file.size_bytes, base_offset, verify_crc=True):
                yield f"{position:>12}  {_describe_batch(header)}"
                if self._with_records:
                    yield from _describe_records(read_at(file, position, header.size_bytes), header)
                batches, records = batches + 1, records + header.records_count
        except BadBatchError as damage:
            self.damage = damage
            yield f"{damage.position:>12}  DAMAGED: {damage.reason}; {file.size_bytes - damage.position} bytes not read"
        yield f"{batches} batches, {records} records, {file.size_bytes} bytes"


def _describe_batch(header: BatchHeader) -> str:
    kind = "appended" if header.timestamp_type is TimestampType.LOG_APPEND_TIME else "created"
    facts = [
        f"offsets {header.base_offset}-{header.last_offset}",
        f"{header.records_count} records",
        f"{header.size_bytes} bytes",
        f"{kind} {describe_time(header.max_timestamp)}",
        f"epoch {header.partition_leader_epoch}",
    ]
    if header.compression:
        facts.append(header.compression.name.lower())
    if header.producer_id != NO_PRODUCER_ID:
        facts.append(f"producer {header.producer_id}/{header.producer_epoch} sequence {header.base_sequence}")
    if header.is_transactional:
        facts.append("transactional")
    if header.is_control:
        facts.append("control")
    return "  ".join(facts)


def _describe_records(batch: bytes, header: BatchHeader) -> Iterator[str]:
    try:
        for record in decode_records(batch):
            yield f"{'':>14}{_describe_record(record)}"
    except ApiError as error:
        yield f"{'':>14}records of offset {header.base_offset} cannot be read: {error.message}"


def _describe_record(record: Record) -> str:
    headers = "".join(f"  {key}: {_shown(value)}" for key, value in record.headers)
    time = describe_time(record.timestamp_ms)
    return f"{record.offset}  {time}  key {_shown(record.key)}  value {_shown(record.value)}{headers}"


def _shown(data: bytes | None) -> str:
    """Text as a quoted string, anything else as escaped bytes; long data is cut and its length told."""
    if data is None:
        return "null"
    start = data[:_SHOWN_CHARACTERS_MAX]
    try:
        text = repr(start.decode())
    except UnicodeDecodeError:
        text = repr(start)
    return text if len(start) == len(data) else f"{text}… ({len(data)} bytes)"


def describe_time(timestamp_ms: int) -> str:
    """UTC, or the plain number if no calendar has that day."""
    if timestamp_ms == NO_TIMESTAMP:
        return "at no time"
    try:
        return (_EPOCH + timedelta(milliseconds=timestamp_ms)).isoformat(timespec="milliseconds")
    except OverflowError:
        return str(timestamp_ms)

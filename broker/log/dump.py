"""Prints what is in a segment's `.log` file as Kafka's DumpLogSegments does: its batches, and the records in them.

It goes on behind a batch whose CRC does not match, because its length says where the next one begins; where no batch
can begin any more, the bytes that are left are named. Kafka's message formats before 0.11 (magic 0 and 1) are told
batch by batch, and not looked into. A line is a `DumpRow`: names and values, which a program may as well have as JSON.
"""

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crc32c import crc32c

from broker.common.errors import ApiError
from broker.log.dump_rows import DumpRow
from broker.log.files import SharedFile, read_at
from broker.log.producer_state import last_sequence_of
from broker.records.batch import (
    CHECKED_FROM,
    CURRENT_MAGIC,
    DELETE_HORIZON_BIT,
    HEADER_BYTES,
    LENGTH_PREFIX_BYTES,
    NO_SEQUENCE,
    BatchHeader,
    TimestampType,
    parse_batch_header,
)
from broker.records.control import MarkerType
from broker.records.record import Record, decode_records

#: Key and value of a record as they are to be shown; None for what it does not have.
Decoder = Callable[[bytes | None, bytes | None], tuple[str | None, str | None]]

_CRC_WINDOW_BYTES = 1024 * 1024
#: Offset int64 · size int32 · crc uint32 · magic int8 · attributes int8, of a message of before 0.11.
_OLD_HEAD = struct.Struct(">qiIbb")
_OLD_PREFIX = struct.Struct(">qi")
_CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
_CONTROL_KEY, _CONTROL_VALUE = struct.Struct(">hh"), struct.Struct(">hi")
#: Of the metadata log; control records that no partition of a topic has.
_OTHER_CONTROLS = {
    2: "LEADER_CHANGE",
    3: "SNAPSHOT_HEADER",
    4: "SNAPSHOT_FOOTER",
    5: "KRAFT_VERSION",
    6: "KRAFT_VOTERS",
}


@dataclass
class SegmentDump:
    """Dump of the file `path`. With `with_records` a line for each record; `decoder` also shows what it holds."""

    path: Path
    with_records: bool = False
    decoder: Decoder | None = None
    with_metadata: bool = True
    bytes_max: int | None = None
    #: What follows is known once all lines were taken. Bytes at the end in which no batch begins.
    invalid_bytes: int = 0
    #: Batches that are not what was written: the CRC does not match, or the records cannot be read.
    damaged_batches: int = 0
    #: Neighbours among the records between which offsets are missing: compaction, or loss.
    gaps: list[tuple[int, int]] = field(default_factory=list)
    #: How far it has come.
    position: int = 0
    _last_offset: int | None = field(default=None, init=False, repr=False)

    @property
    def is_damaged(self) -> bool:
        return bool(self.invalid_bytes or self.damaged_batches)

    def rows(self) -> Iterator[DumpRow]:
        """Raises OSError if the file cannot be read."""
        file = SharedFile(self.path)
        size = file.size_bytes
        end = size if self.bytes_max is None else min(size, self.bytes_max)
        while (length := _batch_bytes(file, self.position, end)) is not None:
            yield from self._batch(file, length)
            self.position += length
        if self.position < end and self.bytes_max is None:
            self.invalid_bytes = end - self.position
            yield DumpRow.saying(
                f"Found {self.invalid_bytes} invalid bytes at the end of {self.path.name}",
                invalidBytes=self.invalid_bytes,
                position=self.position,
            )

    def _batch(self, file: SharedFile, length: int) -> Iterator[DumpRow]:
        head = read_at(file, self.position, HEADER_BYTES)
        if head[16] != CURRENT_MAGIC:
            yield _old_batch(head, self.position, length)
            return
        header = parse_batch_header(head)
        is_valid = _checksum(file, self.position + CHECKED_FROM, self.position + length) == header.crc
        self.damaged_batches += not is_valid
        yield _batch_row(header, self.position, is_valid=is_valid)
        if self.with_records:
            yield from self._records(read_at(file, self.position, length), header, is_valid=is_valid)

    def _records(self, batch: bytes, header: BatchHeader, *, is_valid: bool) -> Iterator[DumpRow]:
        try:
            records = decode_records(batch)
        except ApiError as error:
            self.damaged_batches += is_valid
            problem = f"the records of offset {header.base_offset} cannot be read: {error.message}"
            yield DumpRow.saying(f"| {problem}", baseOffset=header.base_offset, error=error.message)
            return
        for record in records:
            if self._last_offset is not None and record.offset != self._last_offset + 1:
                self.gaps.append((self._last_offset, record.offset))
            self._last_offset = record.offset
            yield self._record(record, header)

    def _record(self, record: Record, header: BatchHeader) -> DumpRow:
        """Return a record's row as Kafka prints it without metadata: a bar only before a key or a value, a control
        record empty.
        """
        row = DumpRow(_metadata(record, header) if self.with_metadata else {})
        row.prefix = "| " if self.with_metadata else ""
        if self.decoder and not header.is_control:
            key, payload = self.decoder(record.key, record.value)
            if key is not None:
                row["key"] = key
            if payload is not None:
                row["payload"] = payload
            if key is not None or payload is not None:
                row.prefix = "| "
        return row


def _batch_bytes(file: SharedFile, position: int, end: int) -> int | None:
    """Return the announced length of the batch at `position`; None where none can begin, or it is cut off."""
    if position + HEADER_BYTES > end and position + _OLD_HEAD.size > end:
        return None
    _, length = _OLD_PREFIX.unpack(read_at(file, position, _OLD_PREFIX.size))
    magic = read_at(file, position + 16, 1)[0]
    smallest = HEADER_BYTES if magic == CURRENT_MAGIC else _OLD_HEAD.size
    whole = LENGTH_PREFIX_BYTES + length
    return whole if magic <= CURRENT_MAGIC and smallest <= whole <= end - position else None


def _checksum(file: SharedFile, start: int, stop: int) -> int:
    crc = 0
    while start < stop:
        piece = read_at(file, start, min(stop - start, _CRC_WINDOW_BYTES))
        if not piece:
            break
        crc = crc32c(piece, crc)
        start += len(piece)
    return crc


def _batch_row(header: BatchHeader, position: int, *, is_valid: bool) -> DumpRow:
    time: dict[str, Any] = {_timestamp_type(header): header.max_timestamp}
    return DumpRow(
        baseOffset=header.base_offset,
        lastOffset=header.last_offset,
        count=header.records_count,
        baseSequence=header.base_sequence,
        lastSequence=last_sequence_of(header),
        producerId=header.producer_id,
        producerEpoch=header.producer_epoch,
        partitionLeaderEpoch=header.partition_leader_epoch,
        isTransactional=header.is_transactional,
        isControl=header.is_control,
        deleteHorizonMs=header.base_timestamp if header.attributes & DELETE_HORIZON_BIT else None,
        position=position,
        **time,
        size=header.size_bytes,
        magic=header.magic,
        compresscodec=_codec(header.attributes),
        crc=header.crc,
        isvalid=is_valid,
    )


def _old_batch(head: bytes, position: int, length: int) -> DumpRow:
    offset, _, crc, magic, attributes = _OLD_HEAD.unpack_from(head)
    time: dict[str, Any] = {"NoTimestampType": -1}
    if magic == 1:
        name = "LogAppendTime" if attributes & 0x08 else "CreateTime"
        time = {name: int.from_bytes(head[18:26], signed=True)}
    codec = _codec(attributes)
    return DumpRow(offset=offset, position=position, **time, size=length, magic=magic, compresscodec=codec, crc=crc)


def _metadata(record: Record, header: BatchHeader) -> dict[str, Any]:
    sequence = header.base_sequence
    if sequence != NO_SEQUENCE:
        sequence = (sequence + record.offset - header.base_offset) % (1 << 31)
    return {
        "offset": record.offset,
        _timestamp_type(header): record.timestamp_ms,
        "keySize": _size(record.key),
        "valueSize": _size(record.value),
        "sequence": sequence,
        "headerKeys": [key for key, _ in record.headers],
        **(_control(record) if header.is_control else {}),
    }


def _control(record: Record) -> dict[str, Any]:
    try:
        _, kind = _CONTROL_KEY.unpack_from(record.key or b"")
        if kind not in (MarkerType.ABORT, MarkerType.COMMIT):
            return {"controlType": f"{_OTHER_CONTROLS.get(kind, 'UNKNOWN')}({kind})"}
        _, epoch = _CONTROL_VALUE.unpack_from(record.value or b"")
    except struct.error:
        return {"controlType": "UNKNOWN(-1)"}
    return {"endTxnMarker": MarkerType(kind).name, "coordinatorEpoch": epoch}


def _size(data: bytes | None) -> int:
    return -1 if data is None else len(data)


def _codec(attributes: int) -> str:
    codec = attributes & 0x07
    return _CODECS[codec] if codec < len(_CODECS) else f"unknown({codec})"


def _timestamp_type(header: BatchHeader) -> str:
    return "LogAppendTime" if header.timestamp_type is TimestampType.LOG_APPEND_TIME else "CreateTime"

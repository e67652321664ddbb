"""Prints what is in a segment's `.log` file as Kafka's DumpLogSegments does: its batches, and the records in them.

It goes on behind a batch whose CRC does not match, because its length says where the next one begins; where no batch
can begin any more, the bytes that are left are named. Kafka's message formats before 0.11 (magic 0 and 1) are told
batch by batch, and not looked into.
"""

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from crc32c import crc32c

from broker.common.errors import ApiError
from broker.log.files import OpenFile, read_at
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
    """Of the file `path`. With `with_records` a line for each record; `decoder` also shows what it holds."""

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

    def lines(self) -> Iterator[str]:
        """Raises OSError if the file cannot be read."""
        file = OpenFile(self.path)
        size = file.size_bytes
        end = size if self.bytes_max is None else min(size, self.bytes_max)
        while (length := _batch_bytes(file, self.position, end)) is not None:
            yield from self._batch(file, length)
            self.position += length
        if self.position < end and self.bytes_max is None:
            self.invalid_bytes = end - self.position
            yield f"Found {self.invalid_bytes} invalid bytes at the end of {self.path.name}"

    def _batch(self, file: OpenFile, length: int) -> Iterator[str]:
        head = read_at(file, self.position, HEADER_BYTES)
        if head[16] != CURRENT_MAGIC:
            yield _old_line(head, self.position, length)
            return
        header = parse_batch_header(head)
        is_valid = _checksum(file, self.position + CHECKED_FROM, self.position + length) == header.crc
        self.damaged_batches += not is_valid
        yield _batch_line(header, self.position, is_valid=is_valid)
        if self.with_records:
            yield from self._records(read_at(file, self.position, length), header, is_valid=is_valid)

    def _records(self, batch: bytes, header: BatchHeader, *, is_valid: bool) -> Iterator[str]:
        try:
            records = decode_records(batch)
        except ApiError as error:
            self.damaged_batches += is_valid
            yield f"| the records of offset {header.base_offset} cannot be read: {error.message}"
            return
        for record in records:
            if self._last_offset is not None and record.offset != self._last_offset + 1:
                self.gaps.append((self._last_offset, record.offset))
            self._last_offset = record.offset
            yield self._record_line(record, header)

    def _record_line(self, record: Record, header: BatchHeader) -> str:
        """Without metadata a record without a key has no bar either, as in Kafka, and a control record nothing."""
        line = f"| {_metadata(record, header)}" if self.with_metadata else ""
        if self.decoder and not header.is_control:
            key, payload = self.decoder(record.key, record.value)
            line += "" if key is None else f"{' ' if self.with_metadata else '| '}key: {key}"
            line += "" if payload is None else f" payload: {payload}"
        return line


def _batch_bytes(file: OpenFile, position: int, end: int) -> int | None:
    """How long the batch at `position` says it is; None where none can begin, or it is cut off."""
    if position + HEADER_BYTES > end and position + _OLD_HEAD.size > end:
        return None
    _, length = _OLD_PREFIX.unpack(read_at(file, position, _OLD_PREFIX.size))
    magic = read_at(file, position + 16, 1)[0]
    smallest = HEADER_BYTES if magic == CURRENT_MAGIC else _OLD_HEAD.size
    whole = LENGTH_PREFIX_BYTES + length
    return whole if magic <= CURRENT_MAGIC and smallest <= whole <= end - position else None


def _checksum(file: OpenFile, start: int, stop: int) -> int:
    crc = 0
    while start < stop:
        piece = read_at(file, start, min(stop - start, _CRC_WINDOW_BYTES))
        if not piece:
            break
        crc = crc32c(piece, crc)
        start += len(piece)
    return crc


def _batch_line(header: BatchHeader, position: int, *, is_valid: bool) -> str:
    horizon = (
        f"OptionalLong[{header.base_timestamp}]" if header.attributes & DELETE_HORIZON_BIT else "OptionalLong.empty"
    )
    return (
        f"baseOffset: {header.base_offset} lastOffset: {header.last_offset} count: {header.records_count} "
        f"baseSequence: {header.base_sequence} lastSequence: {last_sequence_of(header)} "
        f"producerId: {header.producer_id} producerEpoch: {header.producer_epoch} "
        f"partitionLeaderEpoch: {header.partition_leader_epoch} isTransactional: {_bool(header.is_transactional)} "
        f"isControl: {_bool(header.is_control)} deleteHorizonMs: {horizon} position: {position} "
        f"{_timestamp_type(header)}: {header.max_timestamp} size: {header.size_bytes} magic: {header.magic} "
        f"compresscodec: {_codec(header.attributes)} crc: {header.crc} isvalid: {_bool(is_valid)}"
    )


def _old_line(head: bytes, position: int, length: int) -> str:
    offset, _, crc, magic, attributes = _OLD_HEAD.unpack_from(head)
    time = "NoTimestampType: -1"
    if magic == 1:
        name = "LogAppendTime" if attributes & 0x08 else "CreateTime"
        time = f"{name}: {int.from_bytes(head[18:26], signed=True)}"
    return (
        f"offset: {offset} position: {position} {time} size: {length} magic: {magic} "
        f"compresscodec: {_codec(attributes)} crc: {crc}"
    )


def _metadata(record: Record, header: BatchHeader) -> str:
    sequence = header.base_sequence
    if sequence != NO_SEQUENCE:
        sequence = (sequence + record.offset - header.base_offset) % (1 << 31)
    keys = ",".join(key for key, _ in record.headers)
    line = (
        f"offset: {record.offset} {_timestamp_type(header)}: {record.timestamp_ms} keySize: {_size(record.key)} "
        f"valueSize: {_size(record.value)} sequence: {sequence} headerKeys: [{keys}]"
    )
    return line + (_control(record) if header.is_control else "")


def _control(record: Record) -> str:
    try:
        _, kind = _CONTROL_KEY.unpack_from(record.key or b"")
        if kind not in (MarkerType.ABORT, MarkerType.COMMIT):
            return f" controlType: {_OTHER_CONTROLS.get(kind, 'UNKNOWN')}({kind})"
        _, epoch = _CONTROL_VALUE.unpack_from(record.value or b"")
    except struct.error:
        return " controlType: UNKNOWN(-1)"
    return f" endTxnMarker: {MarkerType(kind).name} coordinatorEpoch: {epoch}"


def _size(data: bytes | None) -> int:
    return -1 if data is None else len(data)


def _codec(attributes: int) -> str:
    codec = attributes & 0x07
    return _CODECS[codec] if codec < len(_CODECS) else f"unknown({codec})"


def _timestamp_type(header: BatchHeader) -> str:
    return "LogAppendTime" if header.timestamp_type is TimestampType.LOG_APPEND_TIME else "CreateTime"


def _bool(value: bool) -> str:
    return "true" if value else "false"

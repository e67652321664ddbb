"""Prints the files beside a segment's log, and says where they and the log do not agree: `.index`, `.timeindex`,
`.txnindex`, and the snapshots of producers. In the words of Kafka's DumpLogSegments, whose files these may be."""

import struct
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from broker.log.dump_rows import DumpRow
from broker.log.files import SharedFile, read_at
from broker.log.index_file import used_bytes
from broker.log.producer_snapshot_format import ProducerSnapshotEntry, decode_snapshot
from broker.log.scan import BadBatchError, scan_batches
from broker.log.segment_files import LOG_SUFFIX
from broker.log.transaction_index import ENTRY_BYTES as TRANSACTION_ENTRY_BYTES
from broker.records.batch import HEADER_BYTES, NO_SEQUENCE, parse_batch_header

_OFFSET_ENTRY, _TIME_ENTRY, _TRANSACTION_ENTRY = struct.Struct(">ii"), struct.Struct(">qi"), struct.Struct(">hqqqq")
_SEQUENCES = 1 << 31

assert _TRANSACTION_ENTRY.size == TRANSACTION_ENTRY_BYTES


@dataclass
class IndexDump:
    """Prints an `.index` or `.timeindex`; compared with the log beside it, if that is there."""

    path: Path
    #: Only say what does not agree.
    verify_only: bool = False
    #: Only look at the index itself: its size and its order.
    sanity_only: bool = False
    #: (what the index says, what the log says) of each entry that is not so; known once all lines were taken.
    mismatches: list[tuple[int, int]] = field(default_factory=list)
    #: Of a time index: (offset of an entry, last offset of the batch there, -1 without one), where that is another.
    not_found: list[tuple[int, int]] = field(default_factory=list)
    out_of_order: list[tuple[int, int]] = field(default_factory=list)

    @property
    def base_offset(self) -> int:
        return int(self.path.name.split(".")[0])

    @property
    def log(self) -> Path:
        return self.path.with_suffix(LOG_SUFFIX)

    def offset_rows(self) -> Iterator[DumpRow]:
        """Yield the entries of an `.index`. Raises OSError."""
        data = self.path.read_bytes()
        entries = list(_OFFSET_ENTRY.iter_unpack(data[: used_bytes(data, _OFFSET_ENTRY.size)]))
        if not entries:
            yield DumpRow.saying(f"{self.path} is empty.", entries=0)
            return
        if self.sanity_only:
            yield from self._sanity(data, _OFFSET_ENTRY.size, [relative for relative, _ in entries])
            return
        log = SharedFile(self.log) if self.log.exists() else None
        for relative, position in entries:
            offset = self.base_offset + relative
            if log is not None and (last_offset := _last_offset_at(log, position)) != offset:
                self.mismatches.append((offset, last_offset))
            if not self.verify_only:
                yield DumpRow(offset=offset, position=position)

    def time_rows(self) -> Iterator[DumpRow]:
        """Yield the entries of a `.timeindex`. Raises OSError."""
        data = self.path.read_bytes()
        entries = list(_TIME_ENTRY.iter_unpack(data[: used_bytes(data, _TIME_ENTRY.size)]))
        if not entries:
            yield DumpRow.saying(f"{self.path} is empty.", entries=0)
            return
        if self.sanity_only:
            yield from self._sanity(data, _TIME_ENTRY.size, [timestamp for timestamp, _ in entries])
            return
        batches = _batches_at(self.log, {self.base_offset + relative for _, relative in entries})
        before = None
        for timestamp, relative in entries:
            offset = self.base_offset + relative
            if batches is not None:
                last_offset, max_timestamp = batches.get(offset, (-1, -1))
                if last_offset != offset:
                    self.not_found.append((offset, last_offset))
                elif max_timestamp != timestamp:
                    self.mismatches.append((timestamp, max_timestamp))
            if before is not None and timestamp < before:
                self.out_of_order.append((before, timestamp))
            before = timestamp
            if not self.verify_only:
                yield DumpRow(timestamp=timestamp, offset=offset)

    def _sanity(self, data: bytes, entry_bytes: int, values: list[int]) -> Iterator[DumpRow]:
        if len(data) % entry_bytes:
            problem, passed = f"{self.path}: its size, {len(data)}, is no multiple of {entry_bytes}.", False
        elif values != sorted(values) or values[-1] < 0:
            problem, passed = f"{self.path}: its entries do not increase.", False
        else:
            problem, passed = f"{self.path} passed sanity check.", True
        yield DumpRow.saying(problem, passedSanityCheck=passed, told=problem)


def _last_offset_at(log: SharedFile, position: int) -> int:
    """Return the last offset of the batch that starts there; -1 if none can."""
    head = read_at(log, position, HEADER_BYTES) if position >= 0 else b""
    return parse_batch_header(head).last_offset if len(head) == HEADER_BYTES else -1


def _batches_at(log: Path, offsets: Iterable[int]) -> dict[int, tuple[int, int]] | None:
    """Return last offset and largest timestamp of the first batch that reaches each offset, as far as the log can be
    read; None without a log.
    """
    batches: dict[int, tuple[int, int]] = {}
    if not log.exists():
        return None
    file, sought = SharedFile(log), deque(sorted(offsets))
    try:
        for _, header in scan_batches(file, 0, file.size_bytes, 0):
            while sought and sought[0] <= header.last_offset:
                batches[sought.popleft()] = (header.last_offset, header.max_timestamp)
    except BadBatchError:
        pass
    return batches


def transaction_rows(path: Path) -> Iterator[DumpRow]:
    """Raises OSError."""
    data = path.read_bytes()
    whole = len(data) // TRANSACTION_ENTRY_BYTES * TRANSACTION_ENTRY_BYTES
    for version, producer_id, first_offset, last_offset, last_stable in _TRANSACTION_ENTRY.iter_unpack(data[:whole]):
        yield DumpRow(
            version=version,
            producerId=producer_id,
            firstOffset=first_offset,
            lastOffset=last_offset,
            lastStableOffset=last_stable,
        )
    if whole < len(data):
        invalid = len(data) - whole
        yield DumpRow.saying(f"Found {invalid} invalid bytes at the end of {path.name}", invalidBytes=invalid)


def snapshot_rows(path: Path) -> Iterator[DumpRow] | None:
    """Yield the rows of a snapshot; None if it is damaged: its CRC does not match. Raises OSError."""
    snapshot = decode_snapshot(path.read_bytes())
    return None if snapshot is None else (_producer(entry) for entry, _ in snapshot.producers)


def _producer(entry: ProducerSnapshotEntry) -> DumpRow:
    row = DumpRow(
        producerId=entry.producer_id,
        producerEpoch=entry.producer_epoch,
        coordinatorEpoch=entry.coordinator_epoch,
        currentTxnFirstOffset=entry.current_txn_first_offset if entry.current_txn_first_offset >= 0 else None,
        lastTimestamp=entry.timestamp,
    )
    if entry.last_sequence == NO_SEQUENCE and entry.last_offset < 0:
        return row
    first_sequence = entry.last_sequence
    if first_sequence != NO_SEQUENCE:
        first_sequence = (first_sequence - entry.offset_delta) % _SEQUENCES
    row |= {"firstSequence": first_sequence, "lastSequence": entry.last_sequence, "lastOffset": entry.last_offset}
    row |= {"offsetDelta": entry.offset_delta, "timestamp": entry.timestamp}
    return row

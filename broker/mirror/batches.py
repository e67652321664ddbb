"""What of a fetched batch goes to the other cluster, and the stamp of who writes it there. Pure.

A batch goes as its producer packed it wherever brokers take it so: all its records, at offsets without gaps. One with
gaps (compaction), one whose first records are there already, one with times that only a broker may set (LogAppendTime,
delete horizons, KIP-534) is packed anew.
"""

from typing import NamedTuple

from crc32c import crc32c

from broker.common.types import NO_LEADER_EPOCH
from broker.records.batch import (
    CHECKED_FROM,
    COMPRESSION_BITS,
    CRC,
    CRC_AT,
    CURRENT_MAGIC,
    HEADER,
    TRANSACTIONAL_BIT,
    BatchHeader,
    parse_batch_header,
)
from broker.records.builder import build_batch
from broker.records.record import decode_records

#: Attributes other than these are a broker's to set, or say how the producer wrote.
_KEPT_BITS = COMPRESSION_BITS
_AS_IT_IS_BITS = COMPRESSION_BITS | TRANSACTIONAL_BIT

#: Of the mirror's own, to be stamped.
Batch = bytearray | memoryview


class CopiedRun(NamedTuple):
    """`size` records at consecutive offsets from `source` on in one cluster, and from `target` on in the other."""

    source: int
    target: int
    size: int


class Copy(NamedTuple):
    """A batch for the target, not stamped yet. `stretches` are (first source offset, count) of its records."""

    batch: Batch
    stretches: tuple[tuple[int, int], ...]
    size: int
    #: Behind the batch in the source, whatever became of its last records there.
    next_offset: int
    leader_epoch: int
    max_timestamp: int

    def runs(self, base_offset: int) -> list[CopiedRun]:
        """Return the runs of its records, if the first gets `base_offset` in the target."""
        runs = []
        for source, count in self.stretches:
            runs.append(CopiedRun(source, base_offset, count))
            base_offset += count
        return runs


def copy_of(header: BatchHeader, batch: memoryview, position: int) -> Copy | None:
    """Return the records of a batch that was checked, from source offset `position` on; None if there are none.

    Raises ApiError(CORRUPT_MESSAGE) for records that cannot be unpacked where they must be.
    """
    if header.base_offset >= position and _goes_as_it_is(header):
        data: Batch = batch
        stretches: tuple[tuple[int, int], ...] = ((header.base_offset, header.records_count),)
    else:
        records = [record for record in decode_records(batch) if record.offset >= position]
        if not records:
            return None
        data = build_batch(records, compression=header.compression)
        stretches = tuple(_stretches([record.offset for record in records]))
    count = sum(count for _, count in stretches)
    return Copy(data, stretches, count, header.next_offset, header.partition_leader_epoch, header.max_timestamp)


def _goes_as_it_is(header: BatchHeader) -> bool:
    return (
        header.last_offset_delta == header.records_count - 1
        and not header.attributes & ~_AS_IT_IS_BITS
        and -1 <= header.base_timestamp <= header.max_timestamp
    )


def _stretches(offsets: list[int]) -> list[tuple[int, int]]:
    stretches: list[tuple[int, int]] = []
    for offset in offsets:
        if stretches and sum(stretches[-1]) == offset:
            stretches[-1] = stretches[-1][0], stretches[-1][1] + 1
        else:
            stretches.append((offset, 1))
    return stretches


def stamp(batch: Batch, producer_id: int, epoch: int, sequence: int, *, is_transactional: bool) -> None:
    """Make the batch one of that producer, in place."""
    header = parse_batch_header(batch)
    attributes = header.attributes & _KEPT_BITS | (TRANSACTIONAL_BIT if is_transactional else 0)
    HEADER.pack_into(
        batch, 0, 0, header.batch_length, NO_LEADER_EPOCH, CURRENT_MAGIC, 0, attributes, header.last_offset_delta,
        header.base_timestamp, header.max_timestamp, producer_id, epoch, sequence, header.records_count,
    )  # fmt: skip
    CRC.pack_into(batch, CRC_AT, crc32c(memoryview(batch)[CHECKED_FROM:]))

"""The bytes of a producer snapshot, `<offset>.snapshot`: Kafka's format, and behind it what Kafka's leaves out.

Kafka's: version int16 (1), CRC-32C uint32 of what follows, count int32, and per producer its id int64, epoch int16,
last sequence int32, last offset int64, offset delta int32, timestamp int64, coordinator epoch int32, first offset of
its open transaction int64; -1 is none.

That is the last batch of a producer only. A client has up to five unanswered; when its broker is started again, it
sends all of them again, and whoever knows only the last refuses the others as out of order, which ends the client. So
the batches before the last one follow, per producer in the same order: count int8, and of each batch its first and last
sequence int32, base and last offset and timestamp int64.

Last comes what the index of aborted transactions holds below the snapshot's offset, so that a start notices an index
file that is gone or was changed: the number of segments with entries int32, and of each its base offset int64, the
number of its entries int32 and their CRC-32C uint32. A snapshot of an earlier version lacks this part.

The CRC covers all of it. Kafka does not look behind its entries, and a snapshot of Kafka's ends with them.
"""

import struct
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from crc32c import crc32c

from broker.common.types import new_tuple

_VERSION = 1
_HEAD = struct.Struct(">hI")
_COUNT = struct.Struct(">i")
_ENTRY = struct.Struct(">qhiqiqiq")
_EARLIER_COUNT = struct.Struct(">b")
_EARLIER = struct.Struct(">iiqqq")
_ABORTS = struct.Struct(">qiI")


class SentBatch(NamedTuple):
    first_sequence: int
    last_sequence: int
    base_offset: int
    last_offset: int
    timestamp_ms: int


class ProducerSnapshotEntry(NamedTuple):
    """A producer as a snapshot has it; -1 is none."""

    producer_id: int
    producer_epoch: int
    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp: int
    coordinator_epoch: int
    current_txn_first_offset: int


#: A producer, and its batches before the last one, oldest first.
Remembered = tuple[ProducerSnapshotEntry, list[SentBatch]]


class NotedAborts(NamedTuple):
    """What the transaction index of one segment held: how many entries, and the CRC-32C of their bytes."""

    base_offset: int
    entries_count: int
    crc: int


class ProducerSnapshot(NamedTuple):
    """The content of a snapshot; `aborts` is None where the snapshot's writer did not note them."""

    producers: list[Remembered]
    aborts: tuple[NotedAborts, ...] | None


def encode_snapshot(producers: Iterable[Remembered], aborts: Sequence[NotedAborts] = ()) -> bytes:
    entries, tail = bytearray(), bytearray()
    count = 0
    for entry, earlier in producers:
        count += 1
        entries += _ENTRY.pack(*entry)
        tail += _EARLIER_COUNT.pack(len(earlier))
        for batch in earlier:
            tail += _EARLIER.pack(*batch)
    tail += _COUNT.pack(len(aborts))
    for noted in aborts:
        tail += _ABORTS.pack(*noted)
    body = _COUNT.pack(count) + entries + tail
    return _HEAD.pack(_VERSION, crc32c(body)) + body


def decode_snapshot(data: bytes) -> ProducerSnapshot | None:
    """Decode a snapshot; None if it is damaged."""
    try:
        version, crc = _HEAD.unpack_from(data)
        body = data[_HEAD.size :]
        (count,) = _COUNT.unpack_from(body)
    except struct.error:
        return None
    end = _COUNT.size + count * _ENTRY.size
    if version != _VERSION or crc != crc32c(body) or count < 0 or len(body) < end:
        return None
    entries = [new_tuple(ProducerSnapshotEntry, entry) for entry in _ENTRY.iter_unpack(body[_COUNT.size : end])]
    earlier, aborts_at = _earlier_batches(body[end:], count)
    aborts = None if aborts_at is None else _noted_aborts(body[end + aborts_at :])
    return ProducerSnapshot(list(zip(entries, earlier, strict=True)), aborts)


def _earlier_batches(tail: bytes, count: int) -> tuple[list[list[SentBatch]], int | None]:
    """Return the batches of each of `count` producers and where they end; none and None if the tail holds no such."""
    batch_lists = []
    at = 0
    try:
        for _ in range(count):
            (batches,) = _EARLIER_COUNT.unpack_from(tail, at)
            at += _EARLIER_COUNT.size
            batch_lists.append([SentBatch(*_EARLIER.unpack_from(tail, at + _EARLIER.size * i)) for i in range(batches)])
            at += _EARLIER.size * batches
    except struct.error:
        return [[]] * count, None
    return batch_lists, at


def _noted_aborts(data: bytes) -> tuple[NotedAborts, ...] | None:
    """Return what is noted in `data`, None if that is something else."""
    if len(data) < _COUNT.size:
        return None
    (count,) = _COUNT.unpack_from(data)
    if len(data) != _COUNT.size + count * _ABORTS.size:
        return None
    return tuple(NotedAborts(*entry) for entry in _ABORTS.iter_unpack(data[_COUNT.size :]))

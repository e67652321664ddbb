"""What a partition remembers of idempotent producers, so that a retried batch is written once (KIP-98).

Per producer id: its epoch and its last five batches. A batch seen before is answered with the offset it got then; a gap
is refused; so is an older epoch. A producer nobody remembers may begin with any sequence number (KIP-360).

Snapshot, `<offset>.snapshot`: the state as of that offset, in Kafka's format: version int16 (1), CRC-32C uint32 of what
follows, count int32, and per producer its id int64, epoch int16, last sequence int32, last offset int64, offset delta
int32, timestamp int64, coordinator epoch int32 (-1), first offset of an open transaction int64 (-1). As in Kafka
only the last batch of a producer survives in it.
"""

import struct
from collections import OrderedDict, deque
from dataclasses import dataclass, field
from typing import NamedTuple

from crc32c import crc32c

from broker.common.errors import ApiError, ErrorCode
from broker.common.limits import PRODUCERS_PER_PARTITION_MAX
from broker.records.batch import BatchHeader

BATCHES_REMEMBERED = 5
_SEQUENCES = 1 << 31
_SNAPSHOT_VERSION = 1
_HEAD = struct.Struct(">hI")
_COUNT = struct.Struct(">i")
_ENTRY = struct.Struct(">qhiqiqiq")


class SentBatch(NamedTuple):
    first_sequence: int
    last_sequence: int
    base_offset: int
    last_offset: int
    timestamp_ms: int


@dataclass(slots=True)
class _Producer:
    epoch: int
    #: Nothing of it is known from before this offset, under whatever epoch; 0 if that is not known either.
    since_offset: int = 0
    batches: deque[SentBatch] = field(default_factory=lambda: deque(maxlen=BATCHES_REMEMBERED))


def last_sequence_of(header: BatchHeader) -> int:
    """Sequence numbers wrap from 2^31 - 1 to 0."""
    return (header.base_sequence + header.last_offset_delta) % _SEQUENCES


class ProducerState:
    """The producers of one partition, least recently heard of first."""

    def __init__(self) -> None:
        self._producers: OrderedDict[int, _Producer] = OrderedDict()

    def __len__(self) -> int:
        return len(self._producers)

    def check(self, header: BatchHeader) -> SentBatch | None:
        """The batch this one repeats, None if it is new and next; raises ApiError if it is neither."""
        known = self._producers.get(header.producer_id)
        if known is None:
            return None
        if header.producer_epoch < known.epoch:
            raise ApiError(ErrorCode.INVALID_PRODUCER_EPOCH)
        if header.producer_epoch > known.epoch:
            expected = 0
        else:
            for sent in known.batches:
                if (sent.first_sequence, sent.last_sequence) == (header.base_sequence, last_sequence_of(header)):
                    return sent
            expected = (known.batches[-1].last_sequence + 1) % _SEQUENCES
        if header.base_sequence != expected:
            raise ApiError(
                ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
                f"producer {header.producer_id} sent sequence {header.base_sequence}, {expected} is next",
            )
        return None

    def note(self, header: BatchHeader, base_offset: int, since_offset: int | None = None) -> None:
        """The batch was written at `base_offset`. A producer that is new here may be known to be older than that."""
        known = self._producers.get(header.producer_id)
        if known is None or known.epoch != header.producer_epoch:
            if known is not None:
                since_offset = known.since_offset
            elif since_offset is None:
                since_offset = base_offset
            known = self._producers[header.producer_id] = _Producer(header.producer_epoch, since_offset)
        known.batches.append(
            SentBatch(
                header.base_sequence,
                last_sequence_of(header),
                base_offset,
                base_offset + header.last_offset_delta,
                header.max_timestamp,
            )
        )
        self._producers.move_to_end(header.producer_id)
        if len(self._producers) > PRODUCERS_PER_PARTITION_MAX:
            self._producers.popitem(last=False)

    def forget_from(self, end_offset: int) -> set[int]:
        """The log ends at `end_offset` now. The producers all of whose remembered batches went, but not all they wrote:
        they are forgotten, and only the log and `recall` can tell.
        """
        for producer in self._producers.values():
            while producer.batches and producer.batches[-1].last_offset >= end_offset:
                producer.batches.pop()
        gone = [producer_id for producer_id, producer in self._producers.items() if not producer.batches]
        return {producer_id for producer_id in gone if self._producers.pop(producer_id).since_offset < end_offset}

    def recall(self, producer_id: int, earlier: "ProducerState") -> None:
        """Know of the producer what an earlier state knew, if that did."""
        known = earlier._producers.get(producer_id)
        if known is not None:
            self._producers[producer_id] = known

    @property
    def last_offsets(self) -> frozenset[int]:
        """Last offset of each producer's newest batch; compaction keeps these, or the producers would be forgotten."""
        return frozenset(producer.batches[-1].last_offset for producer in self._producers.values())

    def encode(self) -> bytes:
        body = bytearray(_COUNT.pack(len(self._producers)))
        for producer_id, producer in self._producers.items():
            last = producer.batches[-1]
            delta = last.last_offset - last.base_offset
            entry = (producer_id, producer.epoch, last.last_sequence, last.last_offset, delta, last.timestamp_ms)
            body += _ENTRY.pack(*entry, -1, -1)
        return _HEAD.pack(_SNAPSHOT_VERSION, crc32c(body)) + body

    @classmethod
    def decode(cls, data: bytes) -> "ProducerState | None":
        """The state in a snapshot; None if the snapshot is damaged."""
        try:
            version, crc = _HEAD.unpack_from(data)
            body = data[_HEAD.size :]
            (count,) = _COUNT.unpack_from(body)
            if version != _SNAPSHOT_VERSION or crc != crc32c(body) or len(body) != _COUNT.size + count * _ENTRY.size:
                return None
        except struct.error:
            return None
        state = cls()
        for entry in _ENTRY.iter_unpack(body[_COUNT.size :]):
            producer_id, epoch, last_sequence, last_offset, delta, timestamp_ms, _, _ = entry
            first_sequence = (last_sequence - delta) % _SEQUENCES
            sent = SentBatch(first_sequence, last_sequence, last_offset - delta, last_offset, timestamp_ms)
            state._producers[producer_id] = _Producer(epoch, 0, deque([sent], maxlen=BATCHES_REMEMBERED))
        return state

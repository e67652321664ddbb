"""What a partition remembers of idempotent producers, so that a retried batch is written once (KIP-98).

Per producer id: its epoch and its last five batches. A batch seen before is answered with the offset it got then; a gap
is refused; so is an older epoch. A producer nobody remembers may begin with any sequence number (KIP-360).

A coordinator's batch for a producer (committed offsets) has no sequence numbers: its epoch alone is checked.

Transactions: the first batch opens one, a marker ends it. Where the oldest open one began, what is stable ends. A
marker of a coordinator that was replaced is refused, as is any batch of an older epoch.
"""

from collections import OrderedDict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from broker.common.errors import ApiError, ErrorCode
from broker.common.limits import PRODUCERS_PER_PARTITION_MAX
from broker.log.open_transactions import OpenTransactions
from broker.log.producer_snapshot_format import (
    NotedAborts,
    ProducerSnapshot,
    ProducerSnapshotEntry,
    SentBatch,
    decode_snapshot,
    encode_snapshot,
)
from broker.records.batch import NO_SEQUENCE, TRANSACTIONAL_BIT, BatchHeader

BATCHES_REMEMBERED = 5
_SEQUENCES = 1 << 31
_NONE = -1
#: Beyond every offset.
_UNKNOWN = 1 << 63


_NO_BATCH = SentBatch(_NONE, _NONE, _NONE, _NONE, _NONE)


class ProducerFacts(NamedTuple):
    """A producer's state for DescribeProducers; -1 is none."""

    producer_id: int
    producer_epoch: int
    last_sequence: int
    #: Of its last batch or marker.
    last_timestamp: int
    coordinator_epoch: int
    current_txn_start_offset: int


@dataclass(slots=True)
class _Producer:
    epoch: int
    #: Nothing of it is known from before this offset, under whatever epoch; 0 if that is not known either.
    since_offset: int = 0
    #: Empty when the epoch is known from a marker only.
    batches: deque[SentBatch] = field(default_factory=lambda: deque(maxlen=BATCHES_REMEMBERED))
    #: Of what was written last, batch or marker, which may be earlier than what was written before.
    last_timestamp_ms: int = _NONE
    #: Of whoever had the last marker written; -1 without one.
    coordinator_epoch: int = _NONE
    #: When it was noticed that nothing has come of it; None while nobody has looked since something came.
    silent_since_ms: int | None = None

    @property
    def last_batch(self) -> SentBatch:
        return self.batches[-1] if self.batches else _NO_BATCH


def last_sequence_of(header: BatchHeader) -> int:
    """Return the last sequence number, which wraps from 2^31 - 1 to 0; -1 for a batch without them."""
    if header.base_sequence == NO_SEQUENCE:
        return NO_SEQUENCE
    return (header.base_sequence + header.last_offset_delta) % _SEQUENCES


class PartitionProducers:
    """The producers of one partition, least recently heard of first."""

    def __init__(self) -> None:
        self._producers: OrderedDict[int, _Producer] = OrderedDict()
        self._open = OpenTransactions()
        #: No batch of a transaction and no marker lies beyond it.
        self._transactional_until = _NONE

    def __len__(self) -> int:
        return len(self._producers)

    def knows(self, producer_id: int) -> bool:
        return producer_id in self._producers

    def check(self, header: BatchHeader) -> SentBatch | None:
        """Return the batch this one repeats, None if it is new and next; raises ApiError if it is neither."""
        known = self._producers.get(header.producer_id)
        if known is None:
            return None
        if header.producer_epoch < known.epoch:
            raise ApiError(ErrorCode.INVALID_PRODUCER_EPOCH)
        if header.base_sequence == NO_SEQUENCE:
            return None
        if header.producer_epoch > known.epoch:
            expected = 0
        else:
            for sent in known.batches:
                if (sent.first_sequence, sent.last_sequence) == (header.base_sequence, last_sequence_of(header)):
                    return sent
            expected = (known.batches[-1].last_sequence + 1) % _SEQUENCES if known.batches else 0
        if header.base_sequence != expected:
            raise ApiError(
                ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
                f"producer {header.producer_id} sent sequence {header.base_sequence}, {expected} is next",
            )
        if self._open and header.producer_id in self._open and not header.is_transactional:
            raise ApiError(ErrorCode.INVALID_TXN_STATE, "the producer's transaction in this partition is still open")
        return None

    def check_marker(self, header: BatchHeader, coordinator_epoch: int) -> None:
        """Raises ApiError: INVALID_PRODUCER_EPOCH, TRANSACTION_COORDINATOR_FENCED."""
        known = self._producers.get(header.producer_id)
        if known is None:
            return
        if header.producer_epoch < known.epoch:
            raise ApiError(ErrorCode.INVALID_PRODUCER_EPOCH)
        if coordinator_epoch < known.coordinator_epoch:
            raise ApiError(ErrorCode.TRANSACTION_COORDINATOR_FENCED)

    def note(self, header: BatchHeader, base_offset: int, since_offset: int | None = None) -> None:
        """Note that the batch was written at `base_offset`. A producer that is new here may be known to be older than
        that.
        """
        known = self._producers.get(header.producer_id)
        if known is None or known.epoch != header.producer_epoch:
            if known is not None:
                since_offset = known.since_offset
            elif since_offset is None:
                since_offset = base_offset
            known = self._begin_epoch(header, since_offset)
        known.batches.append(
            SentBatch(
                header.base_sequence,
                last_sequence_of(header),
                base_offset,
                base_offset + header.last_offset_delta,
                header.max_timestamp,
            )
        )
        known.last_timestamp_ms = header.max_timestamp
        if header.attributes & TRANSACTIONAL_BIT:
            self._open.begin(header.producer_id, base_offset)
            self._transactional_until = max(self._transactional_until, base_offset + header.last_offset_delta)
        self._heard_of(header.producer_id)

    def note_marker(self, header: BatchHeader, base_offset: int, coordinator_epoch: int) -> int | None:
        """Note a marker at `base_offset`; return where the transaction it ended began, None if none was open."""
        known = self._producers.get(header.producer_id)
        if known is None or known.epoch != header.producer_epoch:
            known = self._begin_epoch(header, base_offset if known is None else known.since_offset)
        known.coordinator_epoch = coordinator_epoch
        known.last_timestamp_ms = header.max_timestamp
        self._transactional_until = max(self._transactional_until, base_offset)
        self._heard_of(header.producer_id)
        return self._open.end(header.producer_id, base_offset)

    def _begin_epoch(self, header: BatchHeader, since_offset: int) -> _Producer:
        before = self._producers.get(header.producer_id)
        fresh = self._producers[header.producer_id] = _Producer(header.producer_epoch, since_offset)
        if before is not None:
            fresh.coordinator_epoch, fresh.last_timestamp_ms = before.coordinator_epoch, before.last_timestamp_ms
        return fresh

    def _heard_of(self, producer_id: int) -> None:
        self._producers[producer_id].silent_since_ms = None
        self._producers.move_to_end(producer_id)
        if len(self._producers) > PRODUCERS_PER_PARTITION_MAX:
            # Whose transaction is open is never forgotten: its records would count as committed.
            idle = next((producer for producer in self._producers if producer not in self._open), None)
            if idle is not None:
                del self._producers[idle]

    def first_open_offset_of(self, producer_id: int) -> int | None:
        """Return the first offset of the producer's open transaction, None if none is open."""
        return self._open.first_offset_of(producer_id)

    def first_open_offset_besides(self, producer_id: int) -> int | None:
        """Return the first offset of the oldest open transaction of other producers, None if none is open."""
        return self._open.first_offset_besides(producer_id)

    def first_undecided_offset(self, high_watermark: int) -> int | None:
        """Return the first offset of the oldest transaction that is open, or whose marker is not committed yet."""
        return self._open.first_undecided_offset(high_watermark)

    def has_open_transaction(self, producer_id: int, epoch: int) -> bool:
        """Return whether the producer has one that was begun, or gone on with, under `epoch`."""
        return producer_id in self._open and self._producers[producer_id].epoch == epoch

    def has_transactions_from(self, offset: int) -> bool:
        """Return whether a batch of a transaction, or a marker, may lie at `offset` or beyond."""
        return self._transactional_until >= offset

    def forget_from(self, end_offset: int) -> set[int]:
        """Forget batches from `end_offset` on. Return the producers whose remembered batches are all gone, though older
        ones may be in the log: only `recall` can restore those.
        """
        gone = []
        for producer_id, producer in self._producers.items():
            had_any = bool(producer.batches)
            while producer.batches and producer.batches[-1].last_offset >= end_offset:
                producer.batches.pop()
                producer.last_timestamp_ms = producer.last_batch.timestamp_ms
            if had_any and not producer.batches:
                gone.append(producer_id)
        return {producer_id for producer_id in gone if self._producers.pop(producer_id).since_offset < end_offset}

    def recall(self, producer_id: int, earlier: "PartitionProducers") -> None:
        """Restore the producer from an earlier state, if that knows it."""
        known = earlier._producers.get(producer_id)
        if known is not None:
            self._producers[producer_id] = known

    def facts(self) -> list[ProducerFacts]:
        """Return the facts of every producer, least recently active first."""
        producer_facts = []
        for producer_id, item in self._producers.items():
            first_open = self._open.first_offset_of(producer_id)
            entry = (producer_id, item.epoch, item.last_batch.last_sequence, item.last_timestamp_ms)
            producer_facts.append(
                ProducerFacts(*entry, item.coordinator_epoch, _NONE if first_open is None else first_open)
            )
        return producer_facts

    def expire(self, now_ms: int, silence_ms_max: int) -> int:
        """Forget who has not been heard of for so long, as far as calls of this can tell; how many those were.

        Never one whose transaction is open: nobody could end it any more. Times of records do not count, unlike in
        Kafka: whoever writes old records would be forgotten while he writes, and his retries written twice.
        """
        expired = []
        for producer_id, item in self._producers.items():
            if item.silent_since_ms is None:
                item.silent_since_ms = now_ms
            elif now_ms - item.silent_since_ms >= silence_ms_max and producer_id not in self._open:
                expired.append(producer_id)
        for producer_id in expired:
            del self._producers[producer_id]
        return len(expired)

    @property
    def last_offsets(self) -> frozenset[int]:
        """Last offset of each producer's newest batch, which compaction must keep for deduplication."""
        return frozenset(producer.batches[-1].last_offset for producer in self._producers.values() if producer.batches)

    def encode(self, aborts: Sequence[NotedAborts] = ()) -> bytes:
        """Return a snapshot; `aborts` is what the index of aborted transactions holds."""
        producers = (
            (self._entry_of(producer_id, producer), list(producer.batches)[:-1])
            for producer_id, producer in self._producers.items()
        )
        return encode_snapshot(producers, aborts)

    def _entry_of(self, producer_id: int, producer: _Producer) -> ProducerSnapshotEntry:
        last = producer.last_batch
        first_open = self._open.first_offset_of(producer_id)
        return ProducerSnapshotEntry(
            producer_id,
            producer.epoch,
            last.last_sequence,
            last.last_offset,
            last.last_offset - last.base_offset,
            producer.last_timestamp_ms,
            producer.coordinator_epoch,
            _NONE if first_open is None else first_open,
        )

    @classmethod
    def decode(cls, data: bytes) -> "PartitionProducers | None":
        """Return the state in a snapshot; None if the snapshot is damaged."""
        snapshot = decode_snapshot(data)
        return None if snapshot is None else cls.of(snapshot)

    @classmethod
    def of(cls, snapshot: ProducerSnapshot) -> "PartitionProducers":
        """Return the state that a snapshot holds."""
        state = cls()
        open_from: dict[int, int] = {}
        for entry, earlier in snapshot.producers:
            state._recall_entry(entry, earlier)
            if entry.current_txn_first_offset >= 0:
                open_from[entry.producer_id] = entry.current_txn_first_offset
        state._open.restore(open_from)
        if open_from:
            state._transactional_until = _UNKNOWN
        return state

    def _recall_entry(self, entry: ProducerSnapshotEntry, earlier: list[SentBatch]) -> None:
        known = self._producers[entry.producer_id] = _Producer(
            entry.producer_epoch, last_timestamp_ms=entry.timestamp, coordinator_epoch=entry.coordinator_epoch
        )
        if entry.last_sequence >= 0:
            known.batches.extend(earlier)
            first_sequence = (entry.last_sequence - entry.offset_delta) % _SEQUENCES
            base_offset = entry.last_offset - entry.offset_delta
            span = (first_sequence, entry.last_sequence, base_offset, entry.last_offset)
            known.batches.append(SentBatch(*span, entry.timestamp))
        if entry.coordinator_epoch >= 0:
            self._transactional_until = _UNKNOWN

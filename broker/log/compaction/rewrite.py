"""What stays of a batch: the decision of log compaction, on bytes, without files or clock.

A record stays if it is the last of its key. A tombstone (no value) that is the last of its key stays until the batch's
delete horizon, which the first pass that sees it sets to delete.retention.ms later (KIP-534): by then whoever began to
read before the pass has had that long to learn of the deletion. A record without a key cannot be judged; it goes, as
in Kafka. Offsets never change.

Records at `end_offset` and beyond are not judged. A batch across it gets no horizon yet: the older values its
tombstones stand for are only gone from disk when the pass has seen the tombstones.
"""

from collections import Counter
from enum import Enum

from broker.common.errors import ApiError
from broker.log.compaction.offset_map import OffsetMap
from broker.log.compaction.rebuild import delete_horizon_of, empty_batch, rebuild_batch
from broker.log.compaction.record_spans import RecordSpan, unpack_batch
from broker.log.compaction.transactions import Transactions, is_marker
from broker.records.batch import BatchHeader
from broker.records.record import INT64_MAX


class RecordFate(Enum):
    """What became of a record."""

    KEPT = "kept"
    #: A later record has the same key.
    SUPERSEDED = "superseded"
    #: A tombstone, or the marker of a transaction, whose delete horizon has passed.
    EXPIRED = "expired"
    WITHOUT_KEY = "without_key"
    ABORTED = "aborted"
    #: The CRC is right but the records cannot be decoded, or not be written anew; the batch stays as it is.
    UNREADABLE = "unreadable"


def note_keys(offsets: OffsetMap, header: BatchHeader, batch: bytes, from_offset: int) -> int | None:
    """Put the keys of the batch into the map, from `from_offset` on. The offset that found no room, None if all did."""
    try:
        _, spans = unpack_batch(header, batch)
    except ApiError:
        return None
    for span in spans:
        if span.key is not None and span.offset >= from_offset and not offsets.put(span.key, span.offset):
            return span.offset
    return None


class Rewriter:
    """One pass over one log; `rewrite` sees its batches in order. `fates` counts records."""

    def __init__(
        self, offsets: OffsetMap, transactions: Transactions, end_offset: int, now_ms: int, delete_retention_ms: int
    ):
        self.fates: Counter[RecordFate] = Counter()
        self._offsets = offsets
        self._transactions = transactions
        self._end_offset = end_offset
        self._now_ms = now_ms
        self._new_horizon_ms = min(now_ms + delete_retention_ms, INT64_MAX)
        #: Producers of whose current transaction a batch stays, be it without records: read anew, it opens one.
        self._remembered: set[int] = set()

    def rewrite(self, header: BatchHeader, batch: bytes, *, keep_empty: bool) -> bytes | None:
        """Return `batch` itself if nothing changes, what stays of it, or None.

        With `keep_empty` a batch without records stays as a header: the last one of a producer, and the last one of the
        pass (KAFKA-17076).
        """
        kept = self._rewrite(header, batch, keep_empty)
        if kept is not None and header.is_transactional and not header.is_control:
            self._remembered.add(header.producer_id)
        return kept

    def _rewrite(self, header: BatchHeader, batch: bytes, keep_empty: bool) -> bytes | None:
        if header.base_offset >= self._end_offset:
            return batch
        if not header.records_count:
            return batch if keep_empty else None
        if self._transactions.is_aborted(header):
            return self._drop(header, RecordFate.ABORTED, keep_empty)
        try:
            sift = self._rewrite_marker if header.is_control else self._sift
            return sift(header, batch, keep_empty)
        except ApiError:
            self.fates[RecordFate.UNREADABLE] += header.records_count
            return batch

    def _drop(self, header: BatchHeader, fate: RecordFate, keep_empty: bool) -> bytes | None:
        self.fates[fate] += header.records_count
        return empty_batch(header) if keep_empty else None

    def _rewrite_marker(self, header: BatchHeader, batch: bytes, keep_empty: bool) -> bytes | None:
        has_data = header.producer_id in self._remembered
        self._remembered.discard(header.producer_id)
        horizon_ms = delete_horizon_of(header)
        if not has_data and horizon_ms is not None and self._now_ms >= horizon_ms:
            return self._drop(header, RecordFate.EXPIRED, keep_empty)
        self.fates[RecordFate.KEPT] += header.records_count
        if has_data or horizon_ms is not None or not is_marker(header):
            return batch
        return rebuild_batch(header, *unpack_batch(header, batch), self._new_horizon_ms)

    def _sift(self, header: BatchHeader, batch: bytes, keep_empty: bool) -> bytes | None:
        payload, spans = unpack_batch(header, batch)
        horizon_ms = delete_horizon_of(header)
        is_expired = horizon_ms is not None and self._now_ms >= horizon_ms
        fates = [self._fate(span, is_expired) for span in spans]
        kept = [span for span, fate in zip(spans, fates, strict=True) if fate is RecordFate.KEPT]
        rebuilt = self._rebuild(header, batch, payload, spans, kept, keep_empty)
        self.fates.update(fates)
        return rebuilt

    def _fate(self, span: RecordSpan, is_expired: bool) -> RecordFate:
        if span.offset >= self._end_offset:
            return RecordFate.KEPT
        if span.key is None:
            return RecordFate.WITHOUT_KEY
        if span.offset < self._offsets.latest(span.key):
            return RecordFate.SUPERSEDED
        return RecordFate.EXPIRED if span.is_tombstone and is_expired else RecordFate.KEPT

    def _rebuild(
        self,
        header: BatchHeader,
        batch: bytes,
        payload: bytes,
        spans: list[RecordSpan],
        kept: list[RecordSpan],
        keep_empty: bool,
    ) -> bytes | None:
        if not kept:
            return empty_batch(header) if keep_empty else None
        is_judged_whole = header.next_offset <= self._end_offset
        has_new_tombstones = delete_horizon_of(header) is None and any(span.is_tombstone for span in kept)
        if has_new_tombstones and is_judged_whole:
            return rebuild_batch(header, payload, kept, self._new_horizon_ms)
        return batch if len(kept) == len(spans) else rebuild_batch(header, payload, kept)

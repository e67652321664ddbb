"""One pass over one log, on a worker thread: read the keys of the dirty part, write anew what stays.

The order of the steps on disk is told in `swap`. A pass may be stopped between any two batches; what it has exchanged
by then is good, and the next pass does the rest. Memory is one batch, its uncompressed records and the offset map.
"""

import os
from collections.abc import Callable, Iterator, Sequence

from broker.log.compaction.log_to_clean import LogToClean
from broker.log.compaction.offset_map import SALT_BYTES, OffsetMap
from broker.log.compaction.pass_stats import PassStats
from broker.log.compaction.plan import CompactionPlan
from broker.log.compaction.record_spans import unpack_batch
from broker.log.compaction.replacement import Replacement
from broker.log.compaction.rewrite import Rewriter, note_keys
from broker.log.compaction.segment_reader import SegmentReader
from broker.log.compaction.settings import CleanerSettings
from broker.log.compaction.throttle import Throttle
from broker.log.compaction.transactions import Transactions
from broker.log.segment import Segment
from broker.records.batch import NO_PRODUCER_ID, BatchHeader


class CleanerPass:
    """`run` once. With `is_dry` it reads all that it would read, writes nothing, and tells the same."""

    def __init__(
        self, target: LogToClean, plan: CompactionPlan, settings: CleanerSettings, now_ms: int, *, is_dry: bool = False
    ):
        self._target = target
        self._plan = plan
        self._settings = settings
        self._now_ms = now_ms
        self._is_dry = is_dry
        self._throttle = Throttle(settings.bytes_per_second, settings.clock, settings.pause)
        self._reader = SegmentReader(settings, self._throttle)
        self._segments = {segment.base_offset: segment for segment in target.sealed}
        self._segments_before = self._segments_after = 0
        self._bytes_before = self._bytes_after = self._bytes_written = 0
        #: The last one with batches of those that are cleaned.
        self._last_segment: Segment | None = None

    def run(self) -> PassStats:
        """Clean the log.

        Raises ApiError(CORRUPT_MESSAGE), OSError, CleaningStopped; segments replaced before that stay replaced.
        """
        started_ms = self._settings.clock.monotonic_ms()
        transactions = self._find_transactions()
        undecided = transactions.first_undecided_offset()
        upper = self._plan.end_offset if undecided is None else min(undecided, self._plan.end_offset)
        keys_max = max(0, upper - self._plan.first_dirty_offset)
        offsets = OffsetMap(self._settings.offset_map_bytes, keys_max, os.urandom(SALT_BYTES))
        end_offset = self._note_keys(offsets, transactions, upper)
        retention_ms = self._target.config.delete_retention_ms
        rewriter = Rewriter(offsets, transactions, end_offset, self._now_ms, retention_ms)
        if end_offset > self._plan.first_dirty_offset:
            groups = [
                [self._segments[facts.base_offset] for facts in item] for item in self._plan.groups_below(end_offset)
            ]
            self._last_segment = next((s for group in groups[::-1] for s in group[::-1] if s.size_bytes), None)
            for group in groups:
                self._clean_group(group, rewriter)
        return PassStats(
            partition=self._target.partition,
            first_dirty_offset=self._plan.first_dirty_offset,
            end_offset=max(end_offset, self._plan.first_dirty_offset),
            segments_before=self._segments_before,
            segments_after=self._segments_after,
            bytes_before=self._bytes_before,
            bytes_after=self._bytes_after,
            bytes_read=self._reader.bytes_read,
            bytes_written=self._bytes_written,
            records=dict(rewriter.fates),
            keys=len(offsets),
            is_map_full=end_offset < upper,
            seconds=(self._settings.clock.monotonic_ms() - started_ms) / 1000,
        )

    # --- what is in the dirty part

    def _find_transactions(self) -> Transactions:
        transactions = Transactions()
        for facts in self._plan.segments:
            for header, batch in self._reader.transactional_batches(self._segments[facts.base_offset]):
                if batch is None:
                    transactions.note_data(header)
                else:
                    _, spans = unpack_batch(header, batch)
                    transactions.note_marker(header, spans[0].key if spans else None)
        return transactions

    def _note_keys(self, offsets: OffsetMap, transactions: Transactions, upper: int) -> int:
        """Put the keys of what is dirty and below `upper` into the map; how far that came."""
        first = self._plan.first_dirty_offset
        for facts in self._plan.segments:
            if not first < facts.next_offset or facts.base_offset >= upper:
                continue
            for header, batch in self._reader.batches(self._segments[facts.base_offset]):
                if header.base_offset >= upper:
                    return upper
                if header.next_offset <= first or header.is_control or transactions.is_aborted(header):
                    continue
                reached = note_keys(offsets, header, batch, first)
                if reached is not None:
                    return reached
        return upper

    # --- what stays

    def _clean_group(self, group: Sequence[Segment], rewriter: Rewriter) -> None:
        """Put one segment in the place of `group`, unless that would be the same."""
        bytes_before = sum(segment.size_bytes for segment in group)
        self._segments_before += len(group)
        self._bytes_before += bytes_before
        if self._is_dry or not bytes_before:
            bytes_after = sum(len(batch) for batch, _ in self._retained(group, rewriter))
        else:
            bytes_after = self._replace_group(group, bytes_before, rewriter)
        self._bytes_after += bytes_after
        self._segments_after += 1 if bytes_before else len(group)

    def _replace_group(self, group: Sequence[Segment], bytes_before: int, rewriter: Rewriter) -> int:
        """Replace a group of segments and return the new size."""
        replacement = Replacement(self._target, group)
        try:
            are_unchanged = self._fill(replacement, group, rewriter)
        except BaseException:
            replacement.discard()
            raise
        if are_unchanged and len(group) == 1 and replacement.size_bytes == bytes_before:
            replacement.discard()
        else:
            replacement.exchange(self._settings.on_owner)
        return replacement.size_bytes

    def _fill(self, replacement: Replacement, group: Sequence[Segment], rewriter: Rewriter) -> bool:
        """Write what stays of `group`; whether no batch is another (some may be missing)."""
        are_unchanged = True
        for batch, is_unchanged in self._retained(group, rewriter, replacement.note_end):
            replacement.append(batch)
            self._bytes_written += len(batch)
            self._throttle.spend(len(batch))
            are_unchanged = are_unchanged and is_unchanged
        return are_unchanged

    def _retained(
        self, group: Sequence[Segment], rewriter: Rewriter, on_read: Callable[[BatchHeader], None] = lambda header: None
    ) -> Iterator[tuple[bytes, bool]]:
        """Yield (batch, whether unchanged) of all that stays; `on_read` hears of every batch before.

        The last batch of the pass stays at least as a header: were the log's end forgotten with it, a new follower
        would give its offsets again (KAFKA-17076).
        """
        for segment in group:
            bytes_left = segment.size_bytes
            for header, batch in self._reader.batches(segment):
                bytes_left -= len(batch)
                on_read(header)
                is_last = segment is self._last_segment and not bytes_left
                keep_empty = is_last or self._is_last_of_producer(header)
                rewritten = rewriter.rewrite(header, batch, keep_empty=keep_empty)
                if rewritten is not None:
                    yield rewritten, rewritten is batch

    def _is_last_of_producer(self, header: BatchHeader) -> bool:
        return header.producer_id != NO_PRODUCER_ID and header.last_offset in self._target.last_offsets_of_producers

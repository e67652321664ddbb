"""The segment that takes the place of a group of segments: written aside, then exchanged.

The order of the steps on disk, and what a stop between them means, is told in `swap`.
"""

import os
from collections.abc import Sequence
from functools import partial

from broker.log.compaction.log_to_clean import LogToClean, is_closed
from broker.log.compaction.rebuild import end_mark
from broker.log.compaction.segment_notes import begin_segment_note, remove_segment_note
from broker.log.compaction.settings import CleaningStopped, OnOwner
from broker.log.files import SharedFile, fsync_directory, write_at
from broker.log.segment import Segment
from broker.log.segment_files import CLEANED_SUFFIX, SWAP_SUFFIX
from broker.log.transaction_index import join_transaction_indexes
from broker.records.batch import BatchHeader, parse_batch_header


class Replacement:
    """Either `exchange` or `discard` ends its life."""

    def __init__(self, target: LogToClean, group: Sequence[Segment]):
        """Creates the files, removing what a pass that failed may have left under their names. Raises OSError."""
        self._target = target
        self._log = log = target.log
        index_interval_bytes = target.config.index_interval_bytes
        self._group = group
        self._is_handed_over = False
        #: Offsets of the control batches that stay. A reader told of an aborted transaction without its marker would
        #: take the producer's next one for aborted as well.
        self._marker_offsets: set[int] = set()
        #: Of the last batch of the group, and where the last one that stays ends.
        self._end: BatchHeader | None = None
        self._next_offset = group[0].base_offset
        place = log.directory, group[0].base_offset
        self._segment = Segment(*place, 0, index_interval_bytes, CLEANED_SUFFIX)
        self._segment.remove_files()
        try:
            self._segment = Segment.create(*place, index_interval_bytes, CLEANED_SUFFIX)
        except OSError:
            self._segment.remove_files()
            raise

    @property
    def size_bytes(self) -> int:
        return self._segment.size_bytes

    def note_end(self, header: BatchHeader) -> None:
        """Note that the group goes on with the batch of `header`."""
        self._end = header

    def append(self, batch: bytes) -> None:
        header = parse_batch_header(batch)
        self._next_offset = header.next_offset
        if header.is_control and header.records_count:
            self._marker_offsets.add(header.base_offset)
        self._segment.append(batch, header.last_offset, header.max_timestamp)

    def discard(self) -> None:
        self._segment.remove_files()

    def exchange(self, on_owner: OnOwner) -> None:
        """Raises CleaningStopped if the group is no longer the log's, and OSError.

        Once the log has begun to exchange, nothing is taken back: should it fail there, the next start completes it.
        """
        try:
            file = self._segment.file
            self._make_durable()
            on_owner(self._refuse_if_changed)
            begin_segment_note(self._log.directory, self._group[-1].next_offset)
            on_owner(self._publish)
            fsync_directory(self._log.directory)
            on_owner(partial(self._replace, file))
        except BaseException:
            if not self._is_handed_over:
                self.discard()
            raise

    def _make_durable(self) -> None:
        self._log.flush_leader_epochs()
        parts = [segment.files.transaction_index for segment in self._group]
        join_transaction_indexes(parts, self._segment.files.transaction_index, self._marker_offsets)
        self._segment.store_indexes()
        self._segment.seal()
        if self._end is not None and self._end.next_offset > self._next_offset:
            write_at(self._segment.file, end_mark(self._end), self._segment.size_bytes)
        # Records without times are as old as their file: a pass must not make them young again.
        self._segment.take_age_of(self._group)
        self._segment.flush()
        self._segment.release()

    def _remove_end_mark(self, file: SharedFile) -> None:
        """Cut off what told the range of the segment while it was exchanged. Where a stop leaves it, readers pass over
        it, and the next pass drops it. At the owner: later there may be records behind it, written after a cut.
        """
        if file.size_bytes > self._segment.size_bytes:
            modified_ns = os.fstat(file.fd).st_mtime_ns
            os.ftruncate(file.fd, self._segment.size_bytes)
            os.utime(file.fd, ns=(modified_ns, modified_ns))

    def _publish(self) -> None:
        """Publish the segments on the owner's thread, because the directory of a deleted log may by now be another
        log's.
        """
        try:
            self._refuse_if_changed()
        except CleaningStopped:
            remove_segment_note(self._log.directory)
            raise
        self._segment.rename(SWAP_SUFFIX)

    def _replace(self, file: SharedFile) -> None:
        self._refuse_if_changed()
        self._is_handed_over = True
        self._log.replace_segments(self._group, [self._segment])
        self._remove_end_mark(file)

    def _refuse_if_changed(self) -> None:
        """Raise if the owner closed or truncated the log, or dropped segments, since the pass began.

        A cut of what is beyond the group ends the pass as well: it removed the `.swap` files, whosever they were. So
        does a copy that has begun: it would be of two moments of the log.
        """
        if self._log.is_being_copied:
            raise CleaningStopped("the log is being copied to another directory")
        if is_closed(self._log) or self._target.is_cut or not set(self._group) <= set(self._log.segments[:-1]):
            raise CleaningStopped("the log changed during the pass")

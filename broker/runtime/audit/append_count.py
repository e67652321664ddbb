"""What a leader counts of one partition as it appends, from the headers of the batches. Pure.

The log is cut into *pieces* that follow one another without a gap, each with what its windows hold; a piece is told
once it is committed, and the next begins where it ended. What headers alone do not tell (a batch over several windows,
one of a transaction, more windows than there is room for) makes a piece whose log has to be walked, `log_walk`; so
does what an earlier leader had not told.

A header says when the first record was made and when the newest: which window each of them belongs to is sure only
where a batch has one. The verdict knows that of counts by header.
"""

from typing import NamedTuple

from broker.audit.tally import NO_WINDOW, WINDOW_MS, RecordTally, Windows, window_of
from broker.records.batch import CONTROL_BIT, TRANSACTIONAL_BIT, BatchHeader

#: Windows of one partition that are open at a time; a log is walked that has more.
WINDOWS_OPEN_MAX = 200
_NOT_BY_HEADER = TRANSACTIONAL_BIT | CONTROL_BIT
_NEVER = 1 << 63
#: The window of no run: nothing is open.
_NO_RUN = -2


class WindowMemory:
    """For the open windows of all partitions of a broker, 0.2 KB each."""

    def __init__(self, windows: int):
        self.left = windows


class CountedRange(NamedTuple):
    """Offsets from `start` to `end` (exclusive); `windows` are None where the log has to be walked."""

    start: int
    end: int
    windows: Windows | None


class AppendCount:
    """Append count of one partition in one leader epoch, the *term*.

    What is within the open window costs an append two comparisons (`ReplicaManager.append_checked`): records are
    counted by offsets, of which a leader gives each to one record, when something else comes or a piece is sealed.
    """

    __slots__ = (
        "_is_plain",
        "_open",
        "_open_start",
        "_room",
        "_run_start",
        "_window",
        "_window_ms",
        "high",
        "is_placed",
        "low",
        "pieces",
        "term",
    )

    def __init__(self, log_end_offset: int, term: int, room: WindowMemory, window_ms: int = WINDOW_MS):
        self.term = term
        #: Not told yet, the oldest first; behind them comes what is open.
        self.pieces: list[CountedRange] = []
        #: Whether it is known where the leader before had got to.
        self.is_placed = False
        self._room, self._window_ms = room, window_ms
        #: Window → [records, first offset, last offset].
        self._open: dict[int, list[int]] = {}
        self._open_start = log_end_offset
        self._is_plain = True
        #: A batch whose times lie from `low` to `high` (exclusive) goes on with the run; any other is to be noted.
        self.low, self.high = _NEVER, 0
        #: From there on all is of this window; without a window nothing is.
        self._run_start, self._window = log_end_offset, _NO_RUN

    def note(self, header: BatchHeader, base_offset: int, last_offset: int, max_timestamp: int, end: int) -> None:
        """Note that a batch was appended and the log ends at `end`; or that a producer repeated one that is there
        already.
        """
        if self._is_plain and last_offset + 1 == end and base_offset >= self._run_start:
            self._note_window(header, header.base_timestamp, max_timestamp, base_offset, last_offset)

    def _note_window(
        self, header: BatchHeader, first_ms: int, last_ms: int, base_offset: int, last_offset: int
    ) -> None:
        self._end_run(base_offset)
        window = window_of(first_ms, self._window_ms)
        if header.attributes & _NOT_BY_HEADER or window != window_of(last_ms, self._window_ms):
            self.give_up()
            return
        if window not in self._open:
            if len(self._open) >= WINDOWS_OPEN_MAX or self._room.left <= 0:
                self.give_up()
                return
            self._room.left -= 1
            self._open[window] = [0, base_offset, -1]
        self._window, self.low, self.high = window, window, window + self._window_ms
        if window == NO_WINDOW:
            self._end_run(last_offset + 1)

    def _end_run(self, end: int) -> None:
        """End the run: records appended before `end` belong to its window."""
        tally = self._open.get(self._window)
        if tally is not None and end > self._run_start:
            tally[0] += end - self._run_start
            tally[2] = end - 1
        self._run_start, self._window = end, _NO_RUN
        self.low, self.high = _NEVER, 0

    def give_up(self) -> None:
        """Drop the open counts: that part of the log must be read again."""
        self._is_plain = False
        self._clear()

    def _clear(self) -> None:
        self._room.left += len(self._open)
        self._open = {}
        self._window, self.low, self.high = _NO_RUN, _NEVER, 0

    def begin_at(self, position: int) -> None:
        """Begin behind the reports of the previous leader, which end at `position`. Behind the log's end here, what it
        told was lost since, and is told anew from where this leader began.
        """
        self.is_placed = True
        first = self.pieces[0].start if self.pieces else self._open_start
        if position < first:
            self.pieces.insert(0, CountedRange(position, first, None))

    def seal(self, end: int) -> None:
        """Close the open count as a piece unless an earlier one is waiting; the log ends at `end`."""
        if self.pieces or end == self._open_start:
            return
        self._end_run(end)
        windows = {start: RecordTally(count, 0, 0, *places) for start, (count, *places) in self._open.items()}
        self.pieces.append(CountedRange(self._open_start, end, windows if self._is_plain else None))
        self._clear()
        self._is_plain, self._open_start = True, end

    def is_all_reported(self, end: int) -> bool:
        """Return whether everything up to `end`, the log's end, is reported."""
        return self.is_placed and not self.pieces and end == self._open_start

    def to_tell(self, high_watermark: int) -> CountedRange | None:
        """Return the oldest piece, if it is counted and committed."""
        piece = self.pieces[0] if self.is_placed and self.pieces else None
        return piece if piece and piece.windows is not None and piece.end <= high_watermark else None

    def to_walk(self) -> CountedRange | None:
        """Return the oldest piece, if its log has to be walked."""
        piece = self.pieces[0] if self.is_placed and self.pieces else None
        return piece if piece and piece.windows is None else None

    def walked(self, counted_range: CountedRange, go_on_at: int) -> None:
        """Take what the walk of the oldest piece brought, perhaps nothing; before `go_on_at` there is no more."""
        rest = self.pieces.pop(0)
        pieces = [counted_range] if counted_range.end > counted_range.start else []
        if go_on_at < rest.end:
            pieces.append(CountedRange(go_on_at, rest.end, None))
        self.pieces[:0] = pieces

    def piece_arrived(self) -> None:
        """Drop the oldest piece, which is in the audit topic now."""
        self.pieces.pop(0)

    def let_go(self) -> None:
        """Stop counting: another broker leads, or the audit is off."""
        self.give_up()


class AppendTimeCount(AppendCount):
    """Counts a partition whose records carry the leader's time (LogAppendTime): a batch has one."""

    __slots__ = ()

    def note(self, header: BatchHeader, base_offset: int, last_offset: int, max_timestamp: int, end: int) -> None:
        if self._is_plain and last_offset + 1 == end and base_offset >= self._run_start:
            self._note_window(header, max_timestamp, max_timestamp, base_offset, last_offset)

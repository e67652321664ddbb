"""What a leader counts of one partition as it appends, from the headers of the batches. Pure.

The log is cut into *pieces* that follow one another without a gap, each with what its windows hold; a piece is told
once it is committed, and the next begins where it ended. What headers alone do not tell (a batch over several windows,
one of a transaction, more windows than there is room for) makes a piece whose log has to be walked, `log_walk`; so
does what an earlier leader had not told.

A header says when the first record was made and when the newest: which window each of them belongs to is sure only
where a batch has one. The verdict knows that of counts by header.
"""

from typing import NamedTuple

from broker.audit.tally import NO_WINDOW, WINDOW_MS, Tally, Windows, window_of
from broker.records.batch import CONTROL_BIT, LENGTH_PREFIX_BYTES, TRANSACTIONAL_BIT, BatchHeader

#: Windows of one partition that are open at a time; a log is walked that has more.
WINDOWS_OPEN_MAX = 200
_NOT_BY_HEADER = TRANSACTIONAL_BIT | CONTROL_BIT
_NEVER = 1 << 63


class Room:
    """For the open windows of all partitions of a broker, 0.2 KB each."""

    def __init__(self, windows: int):
        self.left = windows


class Piece(NamedTuple):
    """Offsets from `start` to `end` (exclusive); `windows` are None where the log has to be walked."""

    start: int
    end: int
    windows: Windows | None


class AppendCount:
    """Of one partition in one leader epoch, the *term*. `note` is all that an append pays."""

    __slots__ = (
        "_high",
        "_is_plain",
        "_low",
        "_open",
        "_open_start",
        "_room",
        "_tally",
        "_window_ms",
        "end",
        "is_placed",
        "pieces",
        "term",
    )

    def __init__(self, log_end_offset: int, term: int, room: Room, window_ms: int = WINDOW_MS):
        self.term = term
        #: After all that was noted: the end of the log.
        self.end = log_end_offset
        #: Not told yet, the oldest first; behind them comes what is open.
        self.pieces: list[Piece] = []
        #: Whether it is known where the leader before had got to.
        self.is_placed = False
        self._room, self._window_ms = room, window_ms
        self._open: dict[int, list[int]] = {}
        self._open_start = log_end_offset
        self._is_plain = True
        #: The window counted into last: [records, bytes, first offset, last offset], for times from `_low` to `_high`.
        self._tally: list[int] = []
        self._low, self._high = _NEVER, 0

    def note(self, header: BatchHeader, base_offset: int, last_offset: int, max_timestamp: int) -> None:
        """A batch was appended, or one that a producer repeated is at these offsets already."""
        if base_offset != self.end:
            self._note_elsewhere(base_offset, last_offset)
            return
        self.end = last_offset + 1
        if self._low <= header[7] and max_timestamp < self._high and not header[5] & _NOT_BY_HEADER:
            tally = self._tally
            tally[0] += header[12]
            tally[1] += header[1] + LENGTH_PREFIX_BYTES
            tally[3] = last_offset
        elif self._is_plain:
            self._note_window(header, header.base_timestamp, max_timestamp, last_offset)

    def _note_elsewhere(self, base_offset: int, last_offset: int) -> None:
        if base_offset > self.end:
            self._give_up()
            self.end = last_offset + 1

    def _note_window(self, header: BatchHeader, first_ms: int, last_ms: int, last_offset: int) -> None:
        window = window_of(first_ms, self._window_ms)
        if header.attributes & _NOT_BY_HEADER or window != window_of(last_ms, self._window_ms):
            self._give_up()
            return
        tally = self._open.get(window)
        if tally is None:
            if len(self._open) >= WINDOWS_OPEN_MAX or self._room.left <= 0:
                self._give_up()
                return
            self._room.left -= 1
            tally = self._open[window] = [0, 0, last_offset - header.last_offset_delta, -1]
        tally[0] += header.records_count
        tally[1] += header.size_bytes
        tally[3] = last_offset
        if window != NO_WINDOW:
            self._tally, self._low, self._high = tally, window, window + self._window_ms

    def _give_up(self) -> None:
        """Of what is open the log has to be walked."""
        self._is_plain = False
        self._clear()

    def _clear(self) -> None:
        self._room.left += len(self._open)
        self._open = {}
        self._tally, self._low, self._high = [], _NEVER, 0

    def begin_at(self, position: int) -> None:
        """The leader before has told all up to `position`. Behind the log's end here, what it told was lost since, and
        is told anew from where this leader began.
        """
        self.is_placed = True
        first = self.pieces[0].start if self.pieces else self._open_start
        if position < first:
            self.pieces.insert(0, Piece(position, first, None))

    def seal(self) -> None:
        """What is open becomes a piece, unless one is left from before: it waits with what follows it, then."""
        if self.pieces or self.end == self._open_start:
            return
        windows = {start: Tally(count, size, 0, *places) for start, (count, size, *places) in self._open.items()}
        self.pieces.append(Piece(self._open_start, self.end, windows if self._is_plain else None))
        self._clear()
        self._is_plain, self._open_start = True, self.end

    @property
    def is_all_told(self) -> bool:
        return self.is_placed and not self.pieces and self.end == self._open_start

    def to_tell(self, high_watermark: int) -> Piece | None:
        """The oldest piece, if it is counted and committed."""
        piece = self.pieces[0] if self.is_placed and self.pieces else None
        return piece if piece and piece.windows is not None and piece.end <= high_watermark else None

    def to_walk(self) -> Piece | None:
        """The oldest piece, if its log has to be walked."""
        piece = self.pieces[0] if self.is_placed and self.pieces else None
        return piece if piece and piece.windows is None else None

    def walked(self, found: Piece, go_on_at: int) -> None:
        """`found` is what the walk of the oldest piece brought, perhaps nothing; before `go_on_at` there is no more."""
        rest = self.pieces.pop(0)
        pieces = [found] if found.end > found.start else []
        if go_on_at < rest.end:
            pieces.append(Piece(go_on_at, rest.end, None))
        self.pieces[:0] = pieces

    def told(self) -> None:
        """The oldest piece is in the audit topic."""
        self.pieces.pop(0)

    def let_go(self) -> None:
        """Somebody else leads, or nobody counts any more."""
        self._give_up()


class AppendTimeCount(AppendCount):
    """Of a partition whose records carry the leader's time (LogAppendTime): a batch has one."""

    __slots__ = ()

    def note(self, header: BatchHeader, base_offset: int, last_offset: int, max_timestamp: int) -> None:
        if base_offset != self.end:
            self._note_elsewhere(base_offset, last_offset)
            return
        self.end = last_offset + 1
        if self._low <= max_timestamp < self._high and not header[5] & _NOT_BY_HEADER:
            tally = self._tally
            tally[0] += header[12]
            tally[1] += header[1] + LENGTH_PREFIX_BYTES
            tally[3] = last_offset
        elif self._is_plain:
            self._note_window(header, max_timestamp, max_timestamp, last_offset)

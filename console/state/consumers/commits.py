"""The last commits of one group in one partition, after Burrow's ring. Pure.

They are added in the order in which the offsets topic tells of them. What a coordinator answers is only `seen`: it is
asked before the commits are read, and another coordinator may answer with older offsets.
"""

from dataclasses import dataclass, field
from statistics import median
from typing import NamedTuple

from console.state.consumers.rhythm import Rhythm

#: Commits kept, and how far they are apart at least: whoever commits all the time is remembered for minutes.
COMMITS_MAX = 10
DISTANCE_MS = 30_000
#: Offsets that move while the offsets topic has been silent for so long are commits that it does not tell of.
SILENT_LOG_MS = 10_000
#: A partition without a member for so long was left; less is a rebalance or a restart.
AWAY_MS = 120_000
#: So many pauses are a habit.
HABIT_MIN = 3


class Commit(NamedTuple):
    """`lag` is what was unread when it was made; None: the log's end was not known.

    `pause_ms` is what passed since the commit before, of it only while there was something to commit; None: not known.
    """

    offset: int
    at_ms: int
    lag: int | None
    pause_ms: int | None


@dataclass(slots=True)
class CommitRing:
    """Oldest first; the last one is the newest commit, those before it are thinned. Watched from `since_ms` on."""

    since_ms: int = 0
    commits: list[Commit] = field(default_factory=list)
    rhythm: Rhythm = field(default_factory=Rhythm)
    #: When the offset last became another.
    moved_ms: int | None = None
    #: It went back from here and has not come here again.
    left_offset: int | None = None
    #: At the last look it was behind by more than nobody minds.
    was_late: bool = False
    #: When the group committed last, of itself, before its offset was set for it.
    alive_ms: int = 0
    #: Since when no member holds the partition; None: one does, or none was expected.
    unread_since_ms: int | None = None
    #: Since when one holds it again; 0: since before that matters.
    reader_since_ms: int = 0
    #: What a coordinator answered last, and since when.
    seen_offset: int | None = None
    seen_since_ms: int = 0
    #: The log's end while a member holds the partition and nothing is committed.
    held_end: int | None = None
    _logged_offset: int | None = None
    _logged_at_ms: int | None = None
    _is_set: bool = False

    def add(
        self, offset: int, at_ms: int, log_end: int | None, waited_ms: int | None = None, now_ms: int | None = None
    ) -> None:
        """Add a commit from the offsets topic. A record that it covers had waited for `waited_ms`, if that is known.

        Its order is the truth: a commit that bears an earlier time than the one before it counts as made then.
        """
        self._note_rewind(offset)
        self._logged_offset, self._logged_at_ms = offset, at_ms if now_ms is None else now_ms
        self._is_set = False
        self._put(offset, at_ms, log_end, waited_ms)

    def see(self, offset: int, now_ms: int, log_end: int | None, waited_ms: int | None = None) -> None:
        """Note an offset from a coordinator; a changed one is a commit, if the offsets topic is unreadable."""
        is_log_silent = self._logged_at_ms is None or now_ms - self._logged_at_ms > SILENT_LOG_MS
        if self.seen_offset is not None and is_log_silent and now_ms - self.since_ms > SILENT_LOG_MS:
            self._put(offset, now_ms, log_end, waited_ms)
        self.seen_offset, self.seen_since_ms = offset, now_ms

    def is_before(self, offset: int) -> bool:
        """Return whether `offset` lies before the one that was committed last."""
        return self._logged_offset is not None and offset < self._logged_offset

    def set_to(self, offset: int, now_ms: int) -> None:
        """Note that the console, or a tool while the group has no members, set the offset. That is no commit of its
        own: neither a sign of life nor a pause, and no rate is computed across it.
        """
        if self._is_set and offset == self._logged_offset:
            return
        self._note_rewind(offset)
        self.alive_ms = self.last_alive_ms
        self.commits.clear()
        self.moved_ms, self._is_set = None, True
        self._logged_offset, self._logged_at_ms = offset, now_ms
        self.seen_offset, self.seen_since_ms = offset, now_ms

    def note_reader(self, has_reader: bool, now_ms: int) -> None:
        """Note whether the group has members. Those that come after minutes without, or after the offset was set, get
        the full time to commit.
        """
        if not has_reader:
            self.unread_since_ms = now_ms if self.unread_since_ms is None else self.unread_since_ms
            return
        if self.unread_since_ms is not None and (self._is_set or now_ms - self.unread_since_ms >= AWAY_MS):
            self.reader_since_ms = now_ms
        self.unread_since_ms = None

    def forget(self) -> None:
        """Forget the commit, which expired or was deleted."""
        self.commits.clear()
        self.rhythm = Rhythm()
        self.moved_ms = self.left_offset = self.seen_offset = self._logged_offset = None

    @property
    def last(self) -> Commit | None:
        return self.commits[-1] if self.commits else None

    @property
    def last_alive_ms(self) -> int:
        """When the group last committed by itself; 0 if unknown."""
        return self.alive_ms if self.last is None else max(self.alive_ms, self.last.at_ms)

    @property
    def habitual_pause_ms(self) -> int:
        """The usual pause as `usual_pause_ms`, but one or two pauses are no habit."""
        known = [commit.pause_ms for commit in self.commits if commit.pause_ms is not None]
        return self.usual_pause_ms if len(known) >= HABIT_MIN else 0

    @property
    def usual_pause_ms(self) -> int:
        """The median of the pauses; 0 while none is known."""
        known = [commit.pause_ms for commit in self.commits if commit.pause_ms is not None]
        return int(median(known)) if known else 0

    def progress(self, from_ms: int, span_min_ms: int) -> tuple[int, int] | None:
        """Return records read and records appended between the first commit from then on and the newest.

        None: there are no two that are so far apart.
        """
        known = [(commit, commit.lag) for commit in self.commits if commit.lag is not None and commit.at_ms >= from_ms]
        if len(known) < 2:
            return None
        (first, lag_then), (last, lag_now) = known[0], known[-1]
        if last.at_ms - first.at_ms < span_min_ms:
            return None
        read = last.offset - first.offset
        return read, read + lag_now - lag_then

    def _put(self, offset: int, at_ms: int, log_end: int | None, waited_ms: int | None) -> None:
        last, pause_ms = self.last, waited_ms
        if last is not None:
            at_ms = max(at_ms, last.at_ms)
            gap_ms = at_ms - last.at_ms
            pause_ms = gap_ms if waited_ms is None else min(gap_ms, waited_ms)
        if last is None or offset != last.offset:
            self.moved_ms = at_ms
        lag = None if log_end is None else max(0, log_end - offset)
        self.rhythm.note(at_ms, offset, lag)
        commit = Commit(offset, at_ms, lag, pause_ms)
        if last is not None and len(self.commits) > 1 and last.at_ms - self.commits[-2].at_ms < DISTANCE_MS:
            self.commits[-1] = commit
            return
        self.commits.append(commit)
        if len(self.commits) > COMMITS_MAX:
            del self.commits[0]

    def _note_rewind(self, offset: int) -> None:
        before = self._logged_offset
        if before is not None and offset < before:
            self.left_offset = max(before, self.left_offset or 0)
        elif self.left_offset is not None and offset >= self.left_offset:
            self.left_offset = None

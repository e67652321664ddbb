"""The last commits of one group in one partition, as Burrow keeps them. Pure."""

from dataclasses import dataclass, field, replace
from statistics import median

from console.consumers.rhythm import Rhythm

#: Commits a verdict looks back on.
COMMITS_MAX = 10
#: Commits that follow faster move the newest one on instead of pushing older ones out: the ring keeps some span.
DISTANCE_MS = 1_000


@dataclass(frozen=True, slots=True)
class Commit:
    """`lag` is what was unread when it was made; None: the log's end was not known, or it came out of order."""

    offset: int
    at_ms: int
    lag: int | None


@dataclass(slots=True)
class CommitRing:
    """Oldest first."""

    commits: list[Commit] = field(default_factory=list)
    rhythm: Rhythm = field(default_factory=Rhythm)

    def add(self, offset: int, at_ms: int, log_end: int | None) -> None:
        self.rhythm.note(at_ms)
        lag = None if log_end is None else max(0, log_end - offset)
        if not self.commits or at_ms > self.commits[-1].at_ms:
            self._append(Commit(offset, at_ms, lag))
        else:
            self._insert(Commit(offset, at_ms, None))

    def forget(self) -> None:
        """The commit was taken away: expired, or deleted."""
        self.commits.clear()
        self.rhythm = Rhythm()

    def has(self, offset: int) -> bool:
        return any(each.offset == offset for each in self.commits)

    @property
    def span_ms(self) -> int:
        return self.commits[-1].at_ms - self.commits[0].at_ms if self.commits else 0

    @property
    def usual_gap_ms(self) -> int:
        """The median time from one commit to the next; 0 with fewer than two."""
        gaps = [after.at_ms - before.at_ms for before, after in zip(self.commits, self.commits[1:], strict=False)]
        return int(median(gaps)) if gaps else 0

    def _append(self, commit: Commit) -> None:
        last = self.commits[-1] if self.commits else None
        before = self.commits[-2] if len(self.commits) > 1 else None
        # The slot keeps its time, so that somebody who commits all the time still gets through the ring.
        if last is not None and before is not None and commit.at_ms - last.at_ms < DISTANCE_MS:
            self.commits[-1] = replace(commit, at_ms=last.at_ms)
            return
        self.commits.append(commit)
        if len(self.commits) > COMMITS_MAX:
            del self.commits[0]

    def _insert(self, commit: Commit) -> None:
        is_known = any((each.at_ms, each.offset) == (commit.at_ms, commit.offset) for each in self.commits)
        is_too_old = len(self.commits) >= COMMITS_MAX and commit.at_ms < self.commits[0].at_ms
        if is_known or is_too_old:
            return
        if commit.at_ms == self.commits[-1].at_ms:
            self.commits[-1] = commit
            return
        self.commits.append(commit)
        self.commits.sort(key=lambda each: each.at_ms)
        del self.commits[:-COMMITS_MAX]

"""What a group has lost in a partition, and how fast it reads there. Pure.

Retention deletes records whether or not a group has read them. A group that finds its position deleted goes on at the
log start, and its committed offset then says nothing of what it skipped: so the count is kept here, for an episode.
"""

from dataclasses import dataclass, field, replace

from console.kit.common.rates import RecentValues

#: An episode of loss is over when nothing more was lost for so long.
EPISODE_MS = 24 * 3_600_000
#: A loss goes on while the last one is younger: retention is checked every few minutes.
LOSING_MS = 900_000
#: A reading rate is of the last minutes, of points no closer than the spacing.
READ_WINDOW_MS, READ_SPACING_MS = 300_000, 10_000


@dataclass(frozen=True, slots=True)
class Loss:
    """`count` records of one episode. It began at `since_ms` (None: before the first look) and grew last at `at_ms`.

    Offsets before `until` are counted.
    """

    count: int = 0
    since_ms: int | None = None
    at_ms: int | None = None
    until: int = 0


NO_LOSS = Loss()


def observe_loss(
    loss: Loss,
    *,
    committed: int | None,
    first_offset: int | None,
    next_offset: int | None,
    is_lost: bool,
    now_ms: int,
    is_first_look: bool = False,
) -> Loss:
    """Return the loss with what was deleted since. `is_lost`: records before `first_offset` were not read in time."""
    if next_offset is not None and loss.until > next_offset:
        loss = NO_LOSS
    if is_lost and committed is not None and first_offset is not None:
        deleted = first_offset - max(committed, loss.until)
        if deleted > 0:
            since_ms = loss.since_ms if loss.count else None if is_first_look else now_ms
            return Loss(loss.count + deleted, since_ms, now_ms, first_offset)
        return loss
    if loss.at_ms is not None and now_ms - loss.at_ms > EPISODE_MS:
        return replace(NO_LOSS, until=loss.until)
    return loss


def records_read(before: int, committed: int, first_offset: int | None) -> int:
    """Return how many offsets between two commits could be read: those before the log start are deleted."""
    return max(0, committed - max(before, min(first_offset or 0, committed)))


@dataclass(slots=True)
class PlaceReads:
    """How many records a group has read in a partition since it was first looked at, by its commits."""

    read: int = 0
    #: Records per second over the last minutes; None: looked at once.
    per_second: float | None = None
    _committed: int | None = None
    _at_ms: int | None = None
    _recent: RecentValues = field(default_factory=RecentValues)

    def observe(self, *, committed: int | None, first_offset: int | None, at_ms: int, is_set: bool = False) -> None:
        """Note the committed offset. Deleted records cannot be read, and a set offset (`is_set`) is no read."""
        before, self._committed = self._committed, committed
        if before is not None and committed is not None and not is_set:
            self.read += records_read(before, committed, first_offset)
        if self._at_ms is not None and 0 <= at_ms - self._at_ms < READ_SPACING_MS:
            return
        if self._at_ms is not None and at_ms < self._at_ms:
            self._recent.clear()
        self._at_ms = at_ms
        from_ms, read = self._recent.add(self.read, at_ms, READ_WINDOW_MS)
        if at_ms > from_ms:
            self.per_second = round((self.read - read) * 1_000 / (at_ms - from_ms), 1)

"""Where each leader's records begin in a log: what a follower is truncated by, instead of by its high watermark.

A leader's term is its epoch, and each batch carries the one it was appended under. Two replicas that hold the same
epoch hold the same records of it up to the shorter end; so a follower asks its leader where the follower's last epoch
ends and cuts there (KIP-101). The answer names the epoch that was found, the largest not above the one asked for,
because the leader may never have seen that one (KIP-279).
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from typing import NamedTuple

from broker.common.types import NO_LEADER_EPOCH

NO_OFFSET = -1


class EpochEntry(NamedTuple):
    """The first offset that was, or will be, written under `epoch`."""

    epoch: int
    start_offset: int


class EpochEnd(NamedTuple):
    """The epoch found, and the offset after its last record; both -1 if there is nothing to say."""

    epoch: int
    end_offset: int


UNKNOWN_END = EpochEnd(NO_LEADER_EPOCH, NO_OFFSET)


class LeaderEpochs:
    """Entries in which both epoch and start offset strictly increase."""

    def __init__(self, entries: Iterable[EpochEntry] = ()):
        """Raises ValueError if `entries` do not increase."""
        self._epochs: list[int] = []
        self._start_offsets: list[int] = []
        #: The newest epoch, -1 if there is none.
        self.latest_epoch = NO_LEADER_EPOCH
        for epoch, start_offset in entries:
            if epoch <= self.latest_epoch or (self._start_offsets and start_offset <= self._start_offsets[-1]):
                raise ValueError(f"epoch {epoch} from {start_offset} on comes too late")
            self.assign(epoch, start_offset)

    @property
    def entries(self) -> tuple[EpochEntry, ...]:
        return tuple(map(EpochEntry, self._epochs, self._start_offsets))

    def assign(self, epoch: int, start_offset: int) -> bool:
        """Assign records from `start_offset` on to `epoch`; return whether that is new. An epoch not above the latest
        is not.

        Epochs said to begin at `start_offset` or later have no records and are forgotten.
        """
        if epoch <= self.latest_epoch:
            return False
        self._keep(bisect_left(self._start_offsets, start_offset))
        self._epochs.append(epoch)
        self._start_offsets.append(start_offset)
        self.latest_epoch = epoch
        return True

    def confirm(self, epoch: int, first_offset: int, last_offset: int) -> None:
        """Note that a batch with these offsets is of `epoch`, as it says itself; what is known otherwise gives way.

        Where an epoch is known to begin before, that stays: its first batches may have been compacted away. So does
        what is known of later offsets: their batches are to come. A batch without an epoch says nothing.
        """
        if epoch <= NO_LEADER_EPOCH or epoch == self.epoch_at(first_offset) == self.epoch_at(last_offset):
            return
        known = [entry for entry in self.entries if entry.epoch < epoch and entry.start_offset < first_offset]
        begins = [entry for entry in self.entries if entry.epoch == epoch and entry.start_offset <= first_offset]
        later = [entry for entry in self.entries if entry.epoch > epoch and entry.start_offset > last_offset]
        agreed = (*known, *(begins or [EpochEntry(epoch, first_offset)]), *later)
        self._epochs = [entry.epoch for entry in agreed]
        self._start_offsets = [entry.start_offset for entry in agreed]
        self.latest_epoch = self._epochs[-1]

    def epoch_at(self, offset: int) -> int:
        """Return the epoch the record at `offset` was written under; -1 if it is older than all that is known."""
        after = bisect_right(self._start_offsets, offset)
        return self._epochs[after - 1] if after else NO_LEADER_EPOCH

    def end_offset_for(self, epoch: int, log_end_offset: int) -> EpochEnd:
        """Return where `epoch`, or the largest one below it, ends in a log that ends at `log_end_offset`.

        Below the first entry the answer is `epoch` itself, ending where that entry starts; for an epoch above the
        latest, which a leader should know of, it is UNKNOWN_END.
        """
        if epoch <= NO_LEADER_EPOCH or epoch > self.latest_epoch:
            return UNKNOWN_END
        if epoch == self.latest_epoch:
            return EpochEnd(epoch, log_end_offset)
        after = bisect_right(self._epochs, epoch)
        entry = self._epochs[after - 1] if after else epoch
        return EpochEnd(entry, self._start_offsets[after])

    def truncate_from_end(self, end_offset: int) -> bool:
        """Forget epochs from `end_offset` on, where the log ends now; return whether there were any."""
        return self._keep(bisect_left(self._start_offsets, end_offset))

    def truncate_from_start(self, start_offset: int) -> bool:
        """Forget epochs before `start_offset`, where the log starts now, and let its own epoch start there.

        Whether that changed anything.
        """
        drop = bisect_right(self._start_offsets, start_offset) - 1
        if drop < 0 or (drop == 0 and self._start_offsets[0] == start_offset):
            return False
        del self._epochs[:drop], self._start_offsets[:drop]
        self._start_offsets[0] = start_offset
        return True

    def _keep(self, count: int) -> bool:
        if count == len(self._epochs):
            return False
        del self._epochs[count:], self._start_offsets[count:]
        self.latest_epoch = self._epochs[-1] if self._epochs else NO_LEADER_EPOCH
        return True

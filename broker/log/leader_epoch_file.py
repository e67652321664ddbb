"""`leader-epoch-checkpoint` of a partition: "0", the number of entries, then a line "epoch start-offset" each.

The records carry their epochs: a missing or malformed file is made anew from the headers. Compaction may take the first
records of an epoch, or all, and then the file is the only witness of where the epoch began. So it is fsynced before
compaction exchanges a segment, and before the recovery point passes the records it speaks of. New epochs are written on
the broker's loop, for thousands of partitions at once, and without fsync: a power failure may leave an empty file. What
was fsynced last then stays under a second name.
"""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from broker.common.java.numbers import parse_integer
from broker.common.logs import logger
from broker.log.checkpoints import lines_of, parts_of
from broker.log.files import TEMPORARY_SUFFIX, SharedFile, fsync_file
from broker.log.index_file import put_in_place
from broker.log.leader_epochs import EpochEntry, LeaderEpochs

LEADER_EPOCH_CHECKPOINT = "leader-epoch-checkpoint"
#: The last one that was fsynced before the present one was written.
SYNCED_EPOCHS = LEADER_EPOCH_CHECKPOINT + ".synced"

_VERSION = "0"

_log = logger(__name__)


def store_leader_epochs(directory: Path, epochs: LeaderEpochs) -> None:
    """Replace the file atomically, without fsync. Raises OSError."""
    entries = epochs.entries
    lines = [_VERSION, str(len(entries)), *(f"{epoch} {start_offset}" for epoch, start_offset in entries)]
    put_in_place(directory / LEADER_EPOCH_CHECKPOINT, ("\n".join(lines) + "\n").encode())


def keep_synced_epochs(directory: Path) -> None:
    """Give the file, which was fsynced and is about to be replaced, its second name; where the file system has none, or
    no room for a name, nothing is kept: an earlier file could tell of epochs that have been cut off since.
    """
    link = directory / (SYNCED_EPOCHS + TEMPORARY_SUFFIX)
    try:
        link.unlink(missing_ok=True)
        os.link(directory / LEADER_EPOCH_CHECKPOINT, link)
        link.replace(directory / SYNCED_EPOCHS)
    except OSError:
        with suppress(OSError):
            (directory / SYNCED_EPOCHS).unlink(missing_ok=True)


def load_leader_epochs(directory: Path, name: str = LEADER_EPOCH_CHECKPOINT) -> LeaderEpochs | None:
    """Load leader epochs; None if the file is missing or malformed. Raises OSError."""
    path = directory / name
    try:
        text = path.read_text()
        version, count, *rows = lines_of(text)
        entries = [_entry(*parts_of(row)) for row in rows]
        if version != _VERSION or parse_integer(count, 32) != len(entries) or not text.endswith("\n"):
            raise ValueError
        return LeaderEpochs(entries)
    except FileNotFoundError:
        return None
    except (ValueError, TypeError):
        _log.warning("leader epochs malformed, rebuilt", path=str(path))
        return None


def _entry(epoch: str, start_offset: str) -> EpochEntry:
    """Raises ValueError."""
    return EpochEntry(parse_integer(epoch, 32), parse_integer(start_offset, 64))


def is_continued(before: Path, after: Path) -> bool:
    """Return whether the log in `after` goes on where that in `before` ends, as a copy does: that epoch is in both.

    False if either has no file. Raises OSError.
    """
    stored, other = load_leader_epochs(before), load_leader_epochs(after)
    return stored is not None and other is not None and stored.latest_epoch in [entry.epoch for entry in other.entries]


class StoredEpochs:
    """A cache whose news are in the file before records are written by them."""

    def __init__(self, directory: Path, cache: LeaderEpochs, *, is_synced: bool = False):
        self.cache = cache
        self.directory = directory
        #: How often the file was written, and how often it had been when an fsync of it that was done began.
        self._times_written = 0
        self._synced_times_written = 0 if is_synced else -1
        self._is_stored = True

    @property
    def is_synced(self) -> bool:
        """Whether an fsync of the file as it was written last is done."""
        return self._synced_times_written == self._times_written

    def is_noted(self, epoch: int) -> bool:
        """Return whether records of `epoch` may follow without more ado: it is the latest, and the file says so."""
        return self._is_stored and epoch == self.cache.latest_epoch

    def assign(self, epoch: int, start_offset: int) -> None:
        """See `LeaderEpochs.assign`. Raises OSError, then nothing is assigned that was not before."""
        is_news = self.cache.assign(epoch, start_offset)
        if is_news:
            self._is_stored = False
        try:
            self._store()
        except OSError:
            if is_news:
                self.cache.truncate_from_end(start_offset)
            raise

    def assign_in_memory(self, epoch: int, start_offset: int) -> None:
        """Assign without writing the file; `is_noted` is False until an `assign` has written it.

        An epoch that is lost with the process has no records, so no replica can ask for one of them.
        """
        if self.cache.assign(epoch, start_offset):
            self._is_stored = False

    def follow(self, epoch: int, start_offset: int, log_end_offset: int) -> None:
        """Take over that a leader wrote records under `epoch` from `start_offset` on, in whose log nothing is from
        `log_end_offset` on.

        An epoch that this replica began as a leader and wrote nothing under is forgotten. Raises OSError as `assign`.
        """
        self._cut(log_end_offset)
        self.assign(epoch, start_offset)

    def take_over(self, entries: Iterable[EpochEntry]) -> None:
        """Take over the epochs of the log that this is a copy of. Raises OSError."""
        self.cache, self._is_stored = LeaderEpochs(entries), False
        self._store()

    def truncate_from_end(self, end_offset: int) -> None:
        """See `LeaderEpochs.truncate_from_end`. If the file cannot be written, that is made good before the next news.

        Until then it speaks of epochs from beyond the log's end, which opening the log leaves out.
        """
        self._cut(end_offset)
        try:
            self._store()
        except OSError as error:
            _log.warning("leader epochs not written", directory=str(self.directory), reason=str(error))

    def _cut(self, end_offset: int) -> None:
        if self.cache.truncate_from_end(end_offset):
            self._is_stored = False

    def _store(self) -> None:
        if not self._is_stored:
            if self.is_synced:
                keep_synced_epochs(self.directory)
            store_leader_epochs(self.directory, self.cache)
            self._is_stored = True
            self._times_written += 1

    def flush(self) -> None:
        """fsync the file if it was written since the last time; may run on another thread. Raises OSError.

        It counts as synced when the fsync is done, and not if the file was replaced meanwhile.
        """
        path, times_written = self.directory / LEADER_EPOCH_CHECKPOINT, self._times_written
        if not self.is_synced and path.exists():
            fsync_file(SharedFile(path))
            self._synced_times_written = times_written

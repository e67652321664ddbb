"""`leader-epoch-checkpoint` of a partition: "0", the number of entries, then a line "epoch start-offset" each.

The records carry their epochs, so the file is never the only witness: a missing or malformed one is made anew from the
headers. It is fsynced before the recovery point passes the records it speaks of.
"""

from pathlib import Path

from broker.common.logs import logger
from broker.log.files import OpenFile, fsync_file
from broker.log.index_file import put_in_place
from broker.log.leader_epochs import EpochEntry, LeaderEpochs

LEADER_EPOCH_CHECKPOINT = "leader-epoch-checkpoint"

_VERSION = "0"

_log = logger(__name__)


def store_leader_epochs(directory: Path, epochs: LeaderEpochs) -> None:
    """Whole or not at all, but not fsynced. Raises OSError."""
    entries = epochs.entries
    lines = [_VERSION, str(len(entries)), *(f"{epoch} {start_offset}" for epoch, start_offset in entries)]
    put_in_place(directory / LEADER_EPOCH_CHECKPOINT, ("\n".join(lines) + "\n").encode())


def load_leader_epochs(directory: Path) -> LeaderEpochs | None:
    """None if the file is missing or malformed. Raises OSError."""
    path = directory / LEADER_EPOCH_CHECKPOINT
    try:
        version, count, *rows = path.read_text().splitlines()
        entries = [EpochEntry(*map(int, row.split(" "))) for row in rows]
        if version != _VERSION or int(count) != len(entries):
            raise ValueError
        return LeaderEpochs(entries)
    except FileNotFoundError:
        return None
    except (ValueError, TypeError):
        _log.warning("leader epochs malformed, made anew", path=str(path))
        return None


class StoredEpochs:
    """A cache whose news are in the file before anybody goes by them."""

    def __init__(self, directory: Path, cache: LeaderEpochs):
        self.cache = cache
        self._directory = directory
        self._is_unsynced = True

    def assign(self, epoch: int, start_offset: int) -> None:
        """See `LeaderEpochs.assign`. Raises OSError, then nothing is assigned."""
        if not self.cache.assign(epoch, start_offset):
            return
        try:
            store_leader_epochs(self._directory, self.cache)
        except OSError:
            self.cache.truncate_from_end(start_offset)
            raise
        self._is_unsynced = True

    def flush(self) -> None:
        """fsync the file if it was written since the last time; may run on another thread. Raises OSError."""
        path = self._directory / LEADER_EPOCH_CHECKPOINT
        if self._is_unsynced and path.exists():
            self._is_unsynced = False
            fsync_file(OpenFile(path))

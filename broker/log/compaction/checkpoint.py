"""How far each log of a directory is clean: Kafka's `cleaner-offset-checkpoint`.

Losing it costs one pass over everything, so a malformed one is no reason not to start.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Lock

from broker.common.errors import StartupError
from broker.common.logs import logger
from broker.common.types import TopicPartition
from broker.log.checkpoints import read_offset_checkpoint, write_offset_checkpoint

CLEANER_OFFSET_CHECKPOINT = "cleaner-offset-checkpoint"

_log = logger(__name__)


class CleanerCheckpoint:
    """Cleaner checkpoint of one log directory; read once, written through. Logs are cut on another thread than the
    cleaner's.
    """

    def __init__(self, log_dir: Path):
        """Raises OSError."""
        self._path = log_dir / CLEANER_OFFSET_CHECKPOINT
        self._lock = Lock()
        try:
            self._offsets = read_offset_checkpoint(self._path)
        except StartupError as error:
            _log.warning("everything counts as dirty", reason=str(error))
            self._offsets = {}

    def first_dirty_offset(self, partition: TopicPartition, log_start_offset: int, active_base_offset: int) -> int:
        """Return where the dirty part of a log begins; its start if the checkpoint belongs to an earlier log."""
        offset = self._offsets.get(partition, log_start_offset)
        return offset if log_start_offset <= offset <= active_base_offset else log_start_offset

    def advance(self, partition: TopicPartition, offset: int, unless: Callable[[], bool] = lambda: False) -> None:
        """Note that compaction came to `offset`, unless `unless` is true, which is asked when no `truncate` is under
        way. Raises OSError.
        """
        with self._lock:
            if not unless():
                self._write({**self._offsets, partition: offset})

    def truncate(self, ends: Mapping[TopicPartition, int]) -> None:
        """Take over that logs are truncated at these offsets: records written from there on are dirty. 0 forgets the
        log.

        Raises OSError.
        """
        with self._lock:
            offsets = {item: min(offset, ends.get(item, offset)) for item, offset in self._offsets.items()}
            self._write({item: offset for item, offset in offsets.items() if offset or item not in ends})

    def _write(self, offsets: dict[TopicPartition, int]) -> None:
        if offsets != self._offsets:
            write_offset_checkpoint(self._path, offsets)
            self._offsets = offsets

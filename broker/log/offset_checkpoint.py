"""One of a log directory's offset checkpoints: an offset for each of its partitions, written from time to time.

Offsets outlive the partition they were written for by the time between two writes. A topic that is made anew under the
same name must not inherit them, so whoever makes a partition says `forget` first.
"""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from threading import Lock

from broker.common.errors import StartupError
from broker.common.logs import logger
from broker.common.types import TopicPartition
from broker.log.checkpoints import read_offset_checkpoint, write_offset_checkpoint

_log = logger(__name__)


class OffsetCheckpoint:
    """May be written by a worker thread while the owner forgets partitions."""

    def __init__(self, path: Path):
        self._path = path
        self._lock = Lock()
        self._offsets: dict[TopicPartition, int] = {}
        #: There is no file, or none that can be read.
        self.is_missing = True

    def load(self) -> None:
        """Read the file; one that is malformed counts as missing, which is safe and slower. Raises OSError."""
        try:
            self._offsets = read_offset_checkpoint(self._path)
            self.is_missing = not self._path.exists()
        except StartupError as error:
            _log.error("checkpoint ignored", path=str(self._path), reason=str(error))
            self._offsets, self.is_missing = {}, True

    def get(self, partition: TopicPartition) -> int:
        """Return the partition's offset, 0 if it has none."""
        return self._offsets.get(partition, 0)

    def noted(self, partition: TopicPartition) -> int | None:
        return self._offsets.get(partition)

    def store(self, offsets: Callable[[], Mapping[TopicPartition, int]]) -> None:
        """Replace the file, durably, by what `offsets` answers now, unless it says that already. Raises OSError."""
        with self._lock:
            self._write(dict(offsets()))

    def note(self, offsets: Callable[[], Mapping[TopicPartition, int]]) -> None:
        """Add, durably, what `offsets` returns now; what is noted of other partitions stays. Raises OSError."""
        with self._lock:
            self._write({**self._offsets, **offsets()})

    def lower(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Lower the noted offsets to these at most, also in the file. Raises OSError."""
        with self._lock:
            lowered = {item: offset for item, offset in offsets.items() if self._offsets.get(item, 0) > offset}
            if lowered:
                self._write(self._offsets | lowered)

    def forget(self, partition: TopicPartition) -> None:
        """Remove what was noted of a partition of this name, also by a write that is under way. Raises OSError."""
        self.forget_all([partition])

    def forget_all(self, partitions: Iterable[TopicPartition]) -> None:
        """Forget several partitions as `forget` does, with one write. Raises OSError."""
        with self._lock:
            gone = self._offsets.keys() & set(partitions)
            if gone:
                self._write({known: offset for known, offset in self._offsets.items() if known not in gone})

    def _write(self, offsets: dict[TopicPartition, int]) -> None:
        """Write the offsets, under the lock: the file cannot change between the comparison and the write."""
        if offsets != self._offsets or self.is_missing or not self._path.exists():
            write_offset_checkpoint(self._path, offsets)
            self._offsets, self.is_missing = offsets, False

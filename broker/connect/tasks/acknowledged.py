"""How far a source may say it has come: the acknowledged prefix of each source partition (KAFKA-12226). Pure."""

from collections import deque
from collections.abc import Mapping
from typing import Any

from broker.connect.storage.records import dump


class PendingRun:
    """Records in a row of one source partition; settled when each of them was acknowledged or left out."""

    __slots__ = ("left", "offset", "partition")

    def __init__(self, partition: Mapping[str, Any]):
        self.partition = partition
        self.offset: Mapping[str, Any] = {}
        self.left = 0


class Acknowledged:
    """A run that is not settled holds back those behind it, of its own source partition only."""

    def __init__(self) -> None:
        self._runs: dict[bytes, deque[PendingRun]] = {}

    def begin(self, partition: Mapping[str, Any]) -> PendingRun:
        """Begin a run behind all earlier ones. Keep `left` above 0 until the run's last record is counted."""
        run = PendingRun(partition)
        self._runs.setdefault(dump(sorted(partition.items())), deque()).append(run)
        return run

    def take(self) -> list[tuple[Mapping[str, Any], Mapping[str, Any]]]:
        """Return partition and offset of each that advanced since the last call."""
        further = []
        for key, runs in list(self._runs.items()):
            last = None
            while runs and runs[0].left == 0:
                last = runs.popleft()
            if last is not None:
                further.append((last.partition, last.offset))
            if not runs:
                del self._runs[key]
        return further

    @property
    def waiting(self) -> int:
        return sum(run.left for runs in self._runs.values() for run in runs)

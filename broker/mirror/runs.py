"""Which offset of one cluster is which of the other: runs of records, kept for as far back as memory allows. Pure.

What is forgotten makes an answer earlier, never later: whoever goes on there reads some records again, and misses none.
"""

from bisect import bisect_right
from collections.abc import Iterable
from typing import NamedTuple

from broker.mirror.batches import CopiedRun

#: Some 100 bytes each.
RUNS_MAX = 4_096


class TranslatedOffset(NamedTuple):
    """An offset in the other cluster. `is_exact`: no record before the one asked for is at it or behind it."""

    offset: int
    is_exact: bool


class Runs:
    """Runs of one partition. The first run ever added stays: before it nothing was copied."""

    def __init__(self, runs: Iterable[CopiedRun] = (), runs_max: int = RUNS_MAX):
        self._max = runs_max
        self._runs: list[CopiedRun] = []
        for run in sorted(runs):
            self.add(run)

    def __len__(self) -> int:
        return len(self._runs)

    @property
    def newest(self) -> CopiedRun | None:
        return self._runs[-1] if self._runs else None

    def add(self, run: CopiedRun) -> None:
        """Append a run. Existing runs at or behind its source offset are forgotten: they were written anew."""
        while (
            self._runs
            and self._runs[-1].source + self._runs[-1].size > run.source
            and not _continues(self._runs[-1], run)
        ):
            last = self._runs.pop()
            if last.source < run.source:
                self._runs.append(CopiedRun(last.source, last.target, run.source - last.source))
                break
        if self._runs and _continues(self._runs[-1], run):
            first = self._runs[-1]
            self._runs[-1] = first._replace(size=max(first.size, run.source + run.size - first.source))
            return
        self._runs.append(run)
        if len(self._runs) > self._max:
            self._thin()

    def _thin(self) -> None:
        """Drop every second run of the older half."""
        half = len(self._runs) // 2
        self._runs = [*self._runs[:half:2], *self._runs[half:]]

    def target_of(self, source: int) -> TranslatedOffset | None:
        """Return the offset in the target for a reader that has read everything before `source`; None before the first
        run.

        Every record from `source` on that was copied lies at the place or behind it.
        """
        at = bisect_right(self._runs, source, key=lambda run: run.source) - 1
        if at < 0:
            return None
        run = self._runs[at]
        within = min(source - run.source, run.size)
        return TranslatedOffset(run.target + within, source - run.source <= run.size)

    def source_of(self, target: int) -> TranslatedOffset | None:
        """Return the offset in the source for a reader at `target`: the reverse of `target_of`."""
        at = bisect_right(self._runs, target, key=lambda run: run.target) - 1
        if at < 0:
            return None
        run = self._runs[at]
        within = min(target - run.target, run.size)
        return TranslatedOffset(run.source + within, target - run.target <= run.size)

    def since(self, source: int) -> list[CopiedRun]:
        """Return the runs that end after `source`."""
        return [run for run in self._runs if run.source + run.size > source]

    def spread(self, count: int) -> list[CopiedRun]:
        """Return at most `count` of the runs, always with the newest and the first."""
        if len(self._runs) <= count:
            return list(self._runs)
        step = len(self._runs) / (count - 1)
        picked = [self._runs[int(number * step)] for number in range(count - 1)]
        return [*picked, self._runs[-1]]


def _continues(run: CopiedRun, further: CopiedRun) -> bool:
    """Return whether both are parts of one run."""
    return (
        further.target - further.source == run.target - run.source
        and run.source <= further.source <= run.source + run.size
    )

"""From readings to rows: what changed is written at each step of the finest tier, what a step was at the others.

The cluster's values are always written: a step that has them is one at which somebody looked, and what is not written
there is as before.
"""

import math
from array import array
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field

from console.cluster.charts.measures import CLUSTER, KINDS, MEASURES, Reading
from console.cluster.charts.tiers import FINEST, TIERS, UNKNOWN, ChartRow, ChartTier

#: Kind and name of a series; of its row, with tier and begin.
Key = tuple[str, str]
RowKey = tuple[Key, int, int]
#: What the values of a column come to in a step: total, count, least, most; of thousands of series, so no objects.
_NOTHING = (0.0, 0.0, math.inf, -math.inf)
_FOLDED = len(_NOTHING)


@dataclass(slots=True)
class _OpenStep:
    """A series in one tier: its last point, and the row that has room for the next, once there is one."""

    begins_ms: int = 0
    row: ChartRow | None = None
    last: tuple[float, ...] | None = None
    #: The last reading, how many in a row were the same, and what those before come to in the step that is not over.
    reading: tuple[float, ...] = ()
    times: int = 0
    folded: "array[float] | None" = None

    def add(self, values: tuple[float, ...]) -> None:
        if values != self.reading and self.times:
            self._fold()
        self.reading = values
        self.times += 1

    def take(self, measures: Sequence[str]) -> tuple[float, ...]:
        """Return the step's values as a whole, and begin another."""
        taken = self.reading
        if self.folded is not None:
            self._fold()
            runs = (self.folded[at : at + _FOLDED] for at in range(0, len(self.folded), _FOLDED))
            taken = tuple(_summary(measure, *item) for measure, item in zip(measures, runs, strict=True))
        self.folded, self.times = None, 0
        return taken

    def _fold(self) -> None:
        folded = self.folded
        if folded is None:
            folded = self.folded = array("d", _NOTHING * len(self.reading))
        for at, value in zip(range(0, len(folded), _FOLDED), self.reading, strict=True):
            if value != UNKNOWN and self.times:
                folded[at] += value * self.times
                folded[at + 1] += self.times
                folded[at + 2], folded[at + 3] = min(folded[at + 2], value), max(folded[at + 3], value)
        self.times = 0


def _summary(measure: str, total: float, count: float, least: float, most: float) -> float:
    if not count:
        return UNKNOWN
    how = MEASURES[measure].summary
    return most if how is max else least if how is min else total / count


@dataclass(slots=True)
class Recorder:
    """Used by one thread. `load` finds a row that was begun before; `dirty` are those to be written."""

    load: Callable[[RowKey], ChartRow | None]
    dirty: dict[RowKey, ChartRow] = field(default_factory=dict)
    _open: list[dict[Key, _OpenStep]] = field(default_factory=lambda: [{} for _ in TIERS])
    _steps_ms: list[int] = field(default_factory=lambda: [0 for _ in TIERS])

    @property
    def known(self) -> Collection[Key]:
        return self._open[FINEST.number].keys()

    def observe(self, readings: Iterable[Reading], at_ms: int) -> None:
        """Record a step's readings; call once in each step of the finest tier. Series that are missing are unknown."""
        now = {(reading.kind, reading.name): _floats(reading.values) for reading in readings}
        self._begin_steps(at_ms)
        for key, values in now.items():
            self._point(key, FINEST, at_ms, values)
            for tier in TIERS[1:]:
                self._opened(key, tier).add(values)
        for key in [key for key in self.known if key not in now]:
            self._point(key, FINEST, at_ms, _unknown(key))
            del self._open[FINEST.number][key]
        for opened in self._open[FINEST.number + 1 :]:
            _let_go(opened, now)

    def _begin_steps(self, at_ms: int) -> None:
        """Turn steps that have ended into points at their beginnings."""
        for tier in TIERS[1:]:
            step_ms = at_ms - at_ms % tier.step_ms
            before_ms, self._steps_ms[tier.number] = self._steps_ms[tier.number], step_ms
            if not before_ms or step_ms == before_ms:
                continue
            for key, opened in self._open[tier.number].items():
                self._point(key, tier, before_ms, opened.take(KINDS[key[0]]))

    def _point(self, key: Key, tier: ChartTier, at_ms: int, values: tuple[float, ...]) -> None:
        opened = self._opened(key, tier)
        if values == opened.last and key[0] != CLUSTER:
            return
        opened.last = values
        row = self._row(key, opened, tier, tier.row_of(at_ms))
        row.write((at_ms - opened.begins_ms) // tier.step_ms, values)
        self.dirty[key, tier.number, opened.begins_ms] = row

    def _opened(self, key: Key, tier: ChartTier) -> _OpenStep:
        opened = self._open[tier.number].get(key)
        if opened is None:
            opened = self._open[tier.number][key] = _OpenStep()
        return opened

    def _row(self, key: Key, opened: _OpenStep, tier: ChartTier, begins_ms: int) -> ChartRow:
        if opened.row is None or opened.begins_ms != begins_ms:
            of_row = (key, tier.number, begins_ms)
            row = self.dirty.get(of_row) or self.load(of_row) or ChartRow(len(KINDS[key[0]]), tier.length)
            opened.row, opened.begins_ms = row, begins_ms
        return opened.row


def _let_go(opened: dict[Key, _OpenStep], now: Collection[Key]) -> None:
    """Count what is not there `now` as unknown, until a whole step was: its last value would go on for ever."""
    for key in [key for key in opened if key not in now]:
        if opened[key].last == _unknown(key):
            del opened[key]
        else:
            opened[key].add(_unknown(key))


def _unknown(key: Key) -> tuple[float, ...]:
    return (UNKNOWN,) * len(KINDS[key[0]])


def _floats(values: Iterable[float | None]) -> tuple[float, ...]:
    return tuple(UNKNOWN if value is None else float(value) for value in values)

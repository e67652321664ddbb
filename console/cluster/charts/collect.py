"""The collector's part: what the tables say, every 15 s, into rows."""

from collections.abc import Callable

from console.cluster.charts.feature import LIVE_GROUP
from console.cluster.charts.growth import save_growth
from console.cluster.charts.readings import readings
from console.cluster.charts.recorder import Recorder
from console.cluster.charts.store import RowStore
from console.kit.live.push import push_partial
from console.state.consumers.tiers import TierContext, TierLook

#: With more rows than this to write they are written a few steps at a time: what a chart shows is that much older.
ROWS_AT_ONCE = 1_000
SELDOM_MS = 60_000
_FORGET_EVERY_MS = 600_000
_GROWTH_EVERY_MS = 300_000


class ChartCollector:
    """Not thread-safe: one thread uses it."""

    def __init__(self, clock_ms: Callable[[], int]):
        self._now_ms = clock_ms
        self._store = RowStore()
        self._recorder = Recorder(self._store.load)
        self._written_at_ms = self._forgotten_at_ms = self._grown_at_ms = 0

    def look(self) -> None:
        at_ms = self._now_ms()
        self._recorder.observe(readings(at_ms), at_ms)
        if len(self._recorder.dirty) <= ROWS_AT_ONCE or at_ms - self._written_at_ms >= SELDOM_MS:
            self.write(at_ms)
        if at_ms - self._grown_at_ms >= _GROWTH_EVERY_MS:
            self._grown_at_ms = at_ms
            save_growth(at_ms)
        if at_ms - self._forgotten_at_ms >= _FORGET_EVERY_MS:
            self._forgotten_at_ms = at_ms
            self._store.forget_old(at_ms)
            self._store.forget_gone(self._recorder.known, at_ms)

    def write(self, at_ms: int) -> None:
        self._store.write(self._recorder.dirty)
        self._recorder.dirty.clear()
        self._written_at_ms = at_ms
        push_partial(LIVE_GROUP, "charts/partials/version.html", {"version": at_ms})


def tier(context: TierContext) -> TierLook:
    """Return the tier, which reads what the other tiers have seen."""
    charts = ChartCollector(context.clock_ms)
    return TierLook(charts.look, finish=lambda: charts.write(context.clock_ms()))

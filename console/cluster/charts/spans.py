"""How much of the past an address asks for. Pure."""

from dataclasses import dataclass

from django.http import QueryDict

from console.cluster.charts.tiers import FINEST, TIERS, tier_for
from console.cluster.charts.time_chart import COLUMNS_MAX
from console.kit.common.time_range import CHART_LENGTHS, TimeRange, length_ms

_DAY_MS = 24 * 3_600_000
_DEFAULT = "1h"
SPAN_MS_MIN = 5 * 60_000


@dataclass(frozen=True, slots=True)
class ChartQuery:
    """A range, and whether what was before is drawn beside it."""

    range: TimeRange
    compares: bool = False

    @classmethod
    def parse(cls, parameters: QueryDict, now_ms: int) -> "ChartQuery":
        chosen = TimeRange.parse(parameters, now_ms, CHART_LENGTHS, _DEFAULT)
        return cls(chosen, parameters.get("compare") == "before")

    def range_ms(self, now_ms: int) -> tuple[int, int]:
        """Return the range from and to, at least SPAN_MS_MIN long and not before the oldest kept value."""
        to_ms = now_ms if self.range.end_ms is None else min(self.range.end_ms, now_ms)
        start_ms = to_ms - length_ms(_DEFAULT) if self.range.start_ms is None else self.range.start_ms
        return min(max(start_ms, now_ms - TIERS[-1].kept_ms), to_ms - SPAN_MS_MIN), to_ms

    @property
    def compared_span_text(self) -> str:
        """What the chart is compared with, in words."""
        return {"7d": "a week before", "30d": "30 days before"}.get(self.range.last, "a day before")

    def former_ms(self, span_ms: int) -> int:
        """Return how long before that was: a day, or the span if it is longer."""
        return max(_DAY_MS, -(-span_ms // _DAY_MS) * _DAY_MS)


def column_count(span_ms: int, back_ms: int = 0) -> int:
    """Return the number of columns: one for each step, up to what can be told apart."""
    step_ms = tier_for(span_ms, back_ms=back_ms).step_ms
    return max(1, min(COLUMNS_MAX, span_ms // max(step_ms, FINEST.step_ms)))

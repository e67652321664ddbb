"""How much of the past an address asks for. Pure."""

from dataclasses import dataclass
from datetime import UTC, datetime

from django.http import QueryDict

from console.cluster.charts.tiers import FINEST, TIERS, tier_for
from console.cluster.charts.time_chart import COLUMNS_MAX
from console.kit.common.clock import moment_of

_MINUTE_MS, _DAY_MS = 60_000, 24 * 3_600_000
#: Word in the address → how much; the second is what a page opens with.
SPANS = {
    "15m": (15 * _MINUTE_MS, "15 min"),
    "1h": (60 * _MINUTE_MS, "1 hour"),
    "6h": (360 * _MINUTE_MS, "6 hours"),
    "24h": (_DAY_MS, "24 hours"),
    "7d": (7 * _DAY_MS, "7 days"),
    "30d": (30 * _DAY_MS, "30 days"),
}
_DEFAULT = "1h"
SPAN_MS_MIN = 15 * _MINUTE_MS


@dataclass(frozen=True, slots=True)
class ChartQuery:
    """A span up to now, or a free one. Nonsense in the address counts as not asked."""

    span: str = _DEFAULT
    since: datetime | None = None
    until: datetime | None = None
    compares: bool = False

    @classmethod
    def parse(cls, parameters: QueryDict) -> "ChartQuery":
        since, until = moment_of(parameters.get("since", "")), moment_of(parameters.get("until", ""))
        is_free = since is not None and until is not None and since < until
        span = parameters.get("span", "")
        return cls(
            span="" if is_free else span if span in SPANS else _DEFAULT,
            since=since if is_free else None,
            until=until if is_free else None,
            compares=parameters.get("compare") == "before",
        )

    @property
    def is_live(self) -> bool:
        """It ends now, and so goes on."""
        return bool(self.span)

    def range_ms(self, now_ms: int) -> tuple[int, int]:
        """From and to, at least SPAN_MS_MIN apart and not before anything that is kept."""
        if self.since is None or self.until is None:
            return now_ms - SPANS[self.span][0], now_ms
        to_ms = min(_ms(self.until), now_ms)
        from_ms = max(_ms(self.since), now_ms - TIERS[-1].kept_ms)
        return min(from_ms, to_ms - SPAN_MS_MIN), to_ms

    @property
    def former_words(self) -> str:
        """What it is compared with."""
        return {"7d": "a week before", "30d": "30 days before"}.get(self.span, "a day before")

    def former_ms(self, span_ms: int) -> int:
        """How long before that was: a day, or the span where that is longer."""
        return max(_DAY_MS, -(-span_ms // _DAY_MS) * _DAY_MS)


def column_count(span_ms: int, back_ms: int = 0) -> int:
    """As many as there are steps, and no more than are told apart."""
    step_ms = tier_for(span_ms, back_ms=back_ms).step_ms
    return max(1, min(COLUMNS_MAX, span_ms // max(step_ms, FINEST.step_ms)))


def _ms(moment: datetime) -> int:
    return int(moment.astimezone(UTC).timestamp() * 1000)

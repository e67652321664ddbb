"""Which records of a topic are counted, as it stands in the address. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.http import QueryDict

from console.kit.common.clock import now_ms
from console.kit.common.time_range import ANY_TIME, TimeRange
from console.kit.gateway.records.interface import OffsetSpan

COUNTS = (1_000, 10_000, 100_000)


@dataclass(frozen=True, slots=True)
class ProfileWindow:
    """The newest `count` records, or the first of a range that begins somewhere, at most `count`."""

    count: int = COUNTS[1]
    range: TimeRange = ANY_TIME

    @classmethod
    def parse(cls, parameters: QueryDict) -> "ProfileWindow":
        """Parse the window; invalid parameters are ignored."""
        count = next((count for count in COUNTS if parameters.get("count") == str(count)), COUNTS[1])
        return cls(count, TimeRange.parse(parameters, now_ms()))

    def __str__(self) -> str:
        until = f" before {_written(self.range.end)}" if self.range.end else ""
        if self.range.start is None:
            return f"the newest {self.count:,} offsets{until}"
        return f"up to {self.count:,} records from {_written(self.range.start)} on{until}"


def _written(when: datetime) -> str:
    return f"{when:%Y-%m-%d %H:%M:%S} UTC"


def newest_starts(spans: Mapping[int, OffsetSpan], count: int) -> dict[int, int]:
    """Return where to begin in each partition so that `count` offsets follow in all, evenly."""
    starts, left = {}, count
    ordered = sorted(spans.items(), key=lambda item: item[1].next - item[1].first)
    for number, (partition, span) in enumerate(ordered):
        share = min(span.next - span.first, left // (len(ordered) - number))
        starts[partition] = span.next - share
        left -= share
    return starts

"""Which records of a topic are counted, as it stands in the address. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.http import QueryDict

from console.kit.common.clock import moment_of
from console.kit.gateway.records.interface import OffsetSpan

COUNTS = (1_000, 10_000, 100_000)


@dataclass(frozen=True, slots=True)
class Window:
    """The newest `count` records, or those from a moment on, at most `count`."""

    count: int = COUNTS[1]
    since: datetime | None = None

    @classmethod
    def parse(cls, parameters: QueryDict) -> "Window":
        """Nonsense counts as not asked."""
        count = next((each for each in COUNTS if parameters.get("count") == str(each)), COUNTS[1])
        return cls(count, moment_of(parameters.get("since", "")))

    def __str__(self) -> str:
        if self.since is None:
            return f"the newest {self.count:,} offsets"
        return f"up to {self.count:,} records from {self.since:%Y-%m-%d %H:%M} on"


def newest_starts(spans: Mapping[int, OffsetSpan], count: int) -> dict[int, int]:
    """Where to begin in each partition, so that `count` offsets follow in all: the same of each that has as many."""
    starts, left = {}, count
    ordered = sorted(spans.items(), key=lambda each: each[1].next - each[1].first)
    for number, (partition, span) in enumerate(ordered):
        share = min(span.next - span.first, left // (len(ordered) - number))
        starts[partition] = span.next - share
        left -= share
    return starts

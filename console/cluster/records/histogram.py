"""How many records a topic has of which time, to pick a place to begin: counted by offsets, nothing is read.

A partition says for a moment which offset is the first of that time or later; between two moments lie so many offsets.
Where records were compacted away, or belong to transactions, that is more than there are records.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from console.kit.common.clock import LAST_MS
from console.kit.gateway.interface import ClusterGateway
from console.kit.gateway.records.interface import OffsetSpan

BARS_MAX = 60
#: Each bar asks every partition once.
PARTITIONS_MAX = 200
_SECOND, _MINUTE, _HOUR, _DAY = 1_000, 60_000, 3_600_000, 86_400_000
#: How far ahead a producer's clock may be.
_AHEAD_MS = _DAY
_STEPS_MS = (
    *(number * _SECOND for number in (1, 2, 5, 10, 15, 30)),
    *(number * _MINUTE for number in (1, 2, 5, 10, 15, 30)),
    *(number * _HOUR for number in (1, 2, 3, 6, 12)),
    *(number * _DAY for number in (1, 2, 7, 14, 28, 91, 182, 364, 1_820, 18_200, 50_000)),
)


@dataclass(frozen=True, slots=True)
class HistogramBar:
    from_ms: int
    to_ms: int
    count: int

    @property
    def lasts_ms(self) -> int:
        return self.to_ms - self.from_ms


@dataclass(frozen=True, slots=True)
class Histogram:
    bars: tuple[HistogramBar, ...]

    @property
    def largest(self) -> int:
        return max(bar.count for bar in self.bars)

    @property
    def total(self) -> int:
        return sum(bar.count for bar in self.bars)


def edges(oldest_ms: int, newest_ms: int, now_ms: int = LAST_MS) -> list[int]:
    """Return moments between bars: whole seconds, minutes, hours or days, the last after the newest record.

    The calendar's end is theirs, too: a producer may give a record any number as its time. What is of the future is
    one bar, so that a single such record does not make one of all the others.
    """
    if oldest_ms <= now_ms < newest_ms - _AHEAD_MS:
        until_now, later = edges(oldest_ms, now_ms), min(newest_ms + 1, LAST_MS)
        return [*until_now, later] if later > until_now[-1] else until_now
    oldest_ms, newest_ms = max(0, min(oldest_ms, LAST_MS)), min(newest_ms, LAST_MS)
    step = next(number for number in _STEPS_MS if (newest_ms - oldest_ms) / number < BARS_MAX - 1)
    moments = range(oldest_ms // step * step, newest_ms + step + 1, step)
    return [min(moment, LAST_MS) for moment in moments]


def counted(
    moments: Sequence[int], places: Sequence[Mapping[int, int | None]], spans: Mapping[int, OffsetSpan]
) -> Histogram:
    """Count records. `places` are the offsets of each moment, by partition; None: no record is as late. Silent
    partitions are left out.
    """
    heard = [(item, span) for item, span in spans.items() if all(item in starts for starts in places)]

    def before(starts: Mapping[int, int | None]) -> int:
        offsets = ((starts[number], span) for number, span in heard)
        return sum(span.next if offset is None else min(max(offset, span.first), span.next) for offset, span in offsets)

    sums = [before(place) for place in places]
    bars = [
        HistogramBar(from_ms, to_ms, max(0, after - earlier))
        for (from_ms, to_ms), (earlier, after) in zip(pairwise(moments), pairwise(sums), strict=True)
    ]
    return Histogram(tuple(bars))


def lookups(partition_count: int, partition: int | None) -> int:
    """Return the most offset look-ups that drawing it takes."""
    return (BARS_MAX + 3) * (min(partition_count, PARTITIONS_MAX) if partition is None else 1)


def read_histogram(gateway: ClusterGateway, topic: str, partition: int | None, now_ms: int) -> Histogram | None:
    """Return a histogram; None for a topic without records, or whose records have no time. Raises GatewayError."""
    spans = {
        item: span
        for item, span in sorted(gateway.record_spans(topic, False).items())[:PARTITIONS_MAX]
        if span.next > span.first and partition in (None, item)
    }
    places = [(topic, span) for span in spans]
    oldest = [record for record in gateway.oldest_records(places).values() if record is not None]
    newest = [record for record in gateway.newest_records(places).values() if record is not None]
    if not oldest or not newest:
        return None
    moments = edges(min(oldest), max(*newest, *oldest), now_ms)
    return counted(moments, [gateway.offsets_at(topic, moment, spans) for moment in moments], spans)

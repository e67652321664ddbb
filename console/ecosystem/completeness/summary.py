"""What came to a reader of a topic, beside what there was to come: over an hour, and bin by bin. Pure.

*Expected* is what lies in the log, where somebody counts that, and else what was produced. The time is always that of
the records, never of their reading: what is read late fills up its own bin.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from console.ecosystem.completeness.points import DeliveryPoint, Points, merged, stepped

#: Windows that are younger are normally not complete.
SETTLED_AFTER_MS = 120_000
SUMMARY_MS = 3_600_000
#: A counter that is further behind is one that rests.
BEYOND_AFTER_MS = 3_600_000


def expected_of(appended: Iterable[Points], produced: Points) -> dict[int, int]:
    """Return the expected records by step. Two who count the same log count the same records: who has come further is
    believed. What one has counted again, because it began anew, is there once.
    """
    expected: dict[int, int] = {}
    for points in appended:
        for at_ms, point in points.items():
            expected[at_ms] = max(expected.get(at_ms, 0), point.distinct)
    return expected or {at_ms: point.count for at_ms, point in produced.items()}


class Bin(NamedTuple):
    """One bin of produce time, from `at_ms` on. `expected` None: not counted. `ended_ms`: how long ago it ended."""

    at_ms: int
    expected: int | None
    point: DeliveryPoint
    ended_ms: int

    @property
    def moment(self) -> str:
        """The bin's time, as in an address."""
        return datetime.fromtimestamp(self.at_ms / 1000, UTC).isoformat()

    @property
    def is_settled(self) -> bool:
        """Whether the bin should be complete by now."""
        return self.ended_ms >= SETTLED_AFTER_MS

    @property
    def received(self) -> int:
        """How many records arrived, with duplicates and dead letters."""
        return self.point.count + self.point.put_aside

    @property
    def missing(self) -> int:
        """How many expected records have not been read yet, or are lost."""
        return max(0, (self.expected or 0) - self.point.distinct - self.point.put_aside)

    @property
    def over(self) -> int:
        """How many records were delivered more than once.

        Counts above the expected one are duplicates only where its counter has surely come as far.
        """
        is_sure = bool(self.expected) and self.ended_ms >= BEYOND_AFTER_MS
        return max(self.point.again, self.received - (self.expected or 0) if is_sure else 0)


def bins(
    expected: Mapping[int, int] | None, received: Points, steps: range, now_ms: int, since_ms: int = 0
) -> list[Bin]:
    """Return the bins of `steps`, multiples of their width. Before `since_ms` nothing was expected."""
    width_ms = steps.step
    wide = stepped(received, width_ms)
    sums: dict[int, int] = {}
    for at_ms, count in (expected or {}).items():
        sums[at_ms - at_ms % width_ms] = sums.get(at_ms - at_ms % width_ms, 0) + count
    return [
        Bin(
            at_ms,
            None if expected is None or at_ms < since_ms else sums.get(at_ms, 0),
            wide.get(at_ms, DeliveryPoint()),
            now_ms - at_ms - width_ms,
        )
        for at_ms in steps
    ]


class Summary(NamedTuple):
    """Summary of what can be compared, or of all where nothing can; latencies are of all. `delivered` in percent,
    percentiles in ms; None where unknown.
    """

    expected: int | None
    received: int
    again: int
    aside: int
    delivered: float | None
    latency: tuple[float | None, float | None, float | None, float | None]
    early: int


def summary(bins: Sequence[Bin]) -> Summary:
    """Return the summary of settled bins."""
    settled = [item for item in bins if item.is_settled]
    compared = [item for item in settled if item.expected is not None]
    expected = sum(bin_.expected or 0 for bin_ in compared) if compared else None
    missing = sum(bin_.missing for bin_ in compared)
    shown, whole = merged(item.point for item in compared or settled), merged(item.point for item in settled)
    return Summary(
        expected,
        shown.count,
        sum(bin_.over for bin_ in compared or settled),
        shown.put_aside,
        None if not expected else 100.0 * (expected - missing) / expected,
        latencies(whole),
        whole.latency.early,
    )


def latencies(point: DeliveryPoint) -> tuple[float | None, float | None, float | None, float | None]:
    """Return p50, p95, p99 and the highest latency."""
    percentiles = [point.latency.percentile(share) for share in (0.5, 0.95, 0.99)]
    return (
        percentiles[0],
        percentiles[1],
        percentiles[2],
        float(point.latency.most_ms) if percentiles[0] is not None else None,
    )

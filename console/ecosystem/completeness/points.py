"""What a tier counted within a step of time, in three resolutions, and how a run of steps is packed into a row. Pure.

Sums merge and so do latencies, so that a percentile of a day is that of a day. A row has what was counted only: a topic
that rests costs nothing.
"""

import zlib
from collections.abc import Iterable, Mapping
from typing import Any

import orjson

from broker.audit.latency import BUCKET_MAX, Latency
from console.cluster.charts.tiers import ChartTier

_HOUR_MS = 3_600_000
#: As windows are, for what happens now; yesterday beside today; two months.
TIERS = (
    ChartTier(0, 60_000, 60, 6 * _HOUR_MS),
    ChartTier(1, 600_000, 36, 48 * _HOUR_MS),
    ChartTier(2, _HOUR_MS, 48, 60 * 24 * _HOUR_MS),
)
FINEST = TIERS[0]
#: How many buckets of a latency are one in each of them: percentiles are right to 5, 10 and 15 %.
_BUCKETS = (1, 2, 3)


class DeliveryPoint:
    """`count`: all that came, of which `again` had come before. `aside`: what did not come on purpose, by its kind."""

    __slots__ = ("again", "aside", "bytes", "count", "latency")

    def __init__(
        self,
        count: int = 0,
        size: int = 0,
        again: int = 0,
        aside: Mapping[str, int] | None = None,
        latency: Latency | None = None,
    ):
        self.count, self.bytes, self.again, self.aside = count, size, again, dict(aside or {})
        self.latency = latency or Latency()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeliveryPoint) and self.as_list() == other.as_list()

    __hash__ = None  # type: ignore[assignment]  # as any class that has __eq__ and no __hash__

    def __repr__(self) -> str:
        return f"Point{self.as_list()}"

    def merge(self, other: "DeliveryPoint") -> None:
        self.count += other.count
        self.bytes += other.bytes
        self.again += other.again
        for kind, count in other.aside.items():
            self.aside[kind] = self.aside.get(kind, 0) + count
        self.latency.merge(other.latency)

    @property
    def distinct(self) -> int:
        return max(0, self.count - self.again)

    @property
    def put_aside(self) -> int:
        return sum(self.aside.values())

    def as_list(self) -> list[Any]:
        aside = {kind: count for kind, count in sorted(self.aside.items()) if count}
        return [self.count, self.bytes, self.again, aside, self.latency.as_list()]


#: By the beginning of their steps.
Points = dict[int, DeliveryPoint]


def merged(points: Iterable[DeliveryPoint]) -> DeliveryPoint:
    whole = DeliveryPoint()
    for point in points:
        whole.merge(point)
    return whole


def add(points: Points, at_ms: int, point: DeliveryPoint) -> None:
    if at_ms in points:
        points[at_ms].merge(point)
    else:
        points[at_ms] = merged([point])


def stepped(points: Mapping[int, DeliveryPoint], step_ms: int) -> Points:
    """Return the points in longer steps."""
    steps: Points = {}
    for at_ms, point in points.items():
        add(steps, at_ms - at_ms % step_ms, point)
    return steps


def by_row(points: Mapping[int, DeliveryPoint], tier: ChartTier) -> dict[int, Points]:
    """Group the points by row of the tier, in the tier's steps."""
    rows: dict[int, Points] = {}
    for at_ms, point in stepped(points, tier.step_ms).items():
        point.latency = point.latency.coarser(_BUCKETS[tier.number])
        rows.setdefault(tier.row_of(at_ms), {})[at_ms] = point
    return rows


def pack(points: Points, tier: ChartTier, begins_ms: int) -> bytes:
    width = _BUCKETS[tier.number]
    steps = []
    for at_ms, point in sorted(points.items()):
        *counts, _ = point.as_list()
        steps.append([(at_ms - begins_ms) // tier.step_ms, *counts, _dense(point.latency, width)])
    return zlib.compress(orjson.dumps(steps), 3)


def unpack(packed: bytes, tier: ChartTier, begins_ms: int) -> Points:
    width = _BUCKETS[tier.number]
    return {
        begins_ms + step * tier.step_ms: DeliveryPoint(count, size, again, aside, _sparse(latency, width))
        for step, count, size, again, aside, latency in orjson.loads(zlib.decompress(packed))
    }


def _dense(latency: Latency, width: int) -> list[int]:
    """Return [early, most_ms, first group of buckets, its count, the next one's …]."""
    groups: dict[int, int] = {}
    for bucket, count in latency.ages.counts.items():
        groups[bucket // width] = groups.get(bucket // width, 0) + count
    if not groups:
        return [latency.early, latency.most_ms]
    first = min(groups)
    return [latency.early, latency.most_ms, first, *(groups.get(index, 0) for index in range(first, max(groups) + 1))]


def _sparse(pairs: list[int], width: int) -> Latency:
    early, most_ms, *rest = pairs
    groups = ((rest[0] + at, count) for at, count in enumerate(rest[1:]) if count)
    ages = {min(group * width + width // 2, BUCKET_MAX): count for group, count in groups}
    return Latency(ages, early, most_ms)

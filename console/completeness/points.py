"""What a tier counted within a step of time, in three resolutions, and how a run of steps is packed into a row. Pure.

Sums merge and so do latencies, so that a percentile of a day is that of a day. A row has what was counted only: a topic
that rests costs nothing.
"""

import zlib
from collections.abc import Iterable, Mapping
from typing import Any

import orjson

from console.charts.tiers import Tier
from console.gateway.message_audit import Latency

_HOUR_MS = 3_600_000
#: As windows are, for what happens now; yesterday beside today; two months.
TIERS = (
    Tier(0, 60_000, 60, 6 * _HOUR_MS),
    Tier(1, 600_000, 36, 48 * _HOUR_MS),
    Tier(2, _HOUR_MS, 48, 60 * 24 * _HOUR_MS),
)
FINEST = TIERS[0]


class Point:
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
        return isinstance(other, Point) and self.as_list() == other.as_list()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Point{self.as_list()}"

    def merge(self, other: "Point") -> None:
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

    @classmethod
    def of_list(cls, said: list[Any]) -> "Point":
        count, size, again, aside, latency = said
        return cls(count, size, again, aside, Latency.of_list(latency))


#: By the beginning of their steps.
Points = dict[int, Point]


def merged(points: Iterable[Point]) -> Point:
    whole = Point()
    for each in points:
        whole.merge(each)
    return whole


def add(points: Points, at_ms: int, point: Point) -> None:
    if at_ms in points:
        points[at_ms].merge(point)
    else:
        points[at_ms] = merged([point])


def stepped(points: Mapping[int, Point], step_ms: int) -> Points:
    """In longer steps."""
    found: Points = {}
    for at_ms, point in points.items():
        add(found, at_ms - at_ms % step_ms, point)
    return found


def by_row(points: Mapping[int, Point], tier: Tier) -> dict[int, Points]:
    """In the steps of the tier, by the beginnings of its rows."""
    rows: dict[int, Points] = {}
    for at_ms, point in stepped(points, tier.step_ms).items():
        rows.setdefault(tier.row_of(at_ms), {})[at_ms] = point
    return rows


def pack(points: Points, tier: Tier, begins_ms: int) -> bytes:
    steps = [((at_ms - begins_ms) // tier.step_ms, point.as_list()) for at_ms, point in sorted(points.items())]
    return zlib.compress(orjson.dumps(steps), 6)


def unpack(packed: bytes, tier: Tier, begins_ms: int) -> Points:
    return {
        begins_ms + step * tier.step_ms: Point.of_list(said) for step, said in orjson.loads(zlib.decompress(packed))
    }

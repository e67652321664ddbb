"""How old records were when they were counted, by window, so that percentiles can be told of any sum of windows. Pure.

A latency is the clock of who counts less the record's time; two clocks, so it may be negative. Those are counted apart
and are in no percentile: a producer's clock that is ahead must not make a slow consumer look quick.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from broker.common.sketch import Sketch, bucket_of
from broker.common.types import TopicPartition

#: Older than that is that old.
LARGEST_MS = 90 * 24 * 3_600_000.0
BUCKET_MAX = bucket_of(LARGEST_MS)
#: Of one increment, some ten bytes each.
BUCKETS_MAX = 20_000


class Ages(Sketch):
    """A record may have waited for weeks."""

    __slots__ = ()
    largest_ms = LARGEST_MS


class Latency:
    """`early`: records whose time is ahead of the clock. `most_ms`: the highest, exactly."""

    __slots__ = ("ages", "early", "most_ms")

    def __init__(self, ages: Mapping[int, int] | None = None, early: int = 0, most_ms: int = 0):
        self.ages, self.early, self.most_ms = Ages(ages), early, most_ms

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Latency) and self.as_list() == other.as_list()

    __hash__ = None  # type: ignore[assignment]  # as any class that has __eq__ and no __hash__

    def add(self, ms: int) -> None:
        if ms < 0:
            self.early += 1
        else:
            self.ages.add(ms)
            self.most_ms = max(self.most_ms, ms)

    def merge(self, other: "Latency") -> None:
        self.ages.merge(other.ages)
        self.early += other.early
        self.most_ms = max(self.most_ms, other.most_ms)

    def coarser(self, width: int) -> "Latency":
        """Return the latencies with one bucket in place of `width`; the error grows to that many times 5 %.

        Idempotent.
        """
        ages: dict[int, int] = {}
        for bucket, count in self.ages.counts.items():
            middle = min(bucket - bucket % width + width // 2, BUCKET_MAX)
            ages[middle] = ages.get(middle, 0) + count
        return Latency(ages, self.early, self.most_ms)

    def percentile(self, share: float) -> float | None:
        """Return the latency in ms at that share of the records, at most the highest; None without a record."""
        age = self.ages.percentile(share)
        return None if age is None else min(age, float(self.most_ms))

    def as_list(self) -> list[int]:
        """Return [early, most_ms, bucket, count, bucket, count, …]."""
        return [self.early, self.most_ms, *(number for item in sorted(self.ages.counts.items()) for number in item)]

    @classmethod
    def of_list(cls, values: Sequence[Any]) -> "Latency":
        """Parse what `as_list` returned. Raises ValueError for anything else."""
        early, most_ms, *flat = values
        if any(type(value) is not int or value < 0 for value in values) or len(flat) % 2:
            raise ValueError("no latency")
        ages = dict(zip(flat[::2], flat[1::2], strict=True))
        if max(ages, default=0) > BUCKET_MAX:
            raise ValueError("no latency")
        return cls(ages, early, most_ms)


class WindowLatencies:
    """Latencies of the records counted since the last increment, by partition and window, in bounded memory."""

    def __init__(self, buckets_max: int = BUCKETS_MAX):
        self._open: dict[TopicPartition, dict[int, Latency]] = {}
        self._buckets, self._buckets_max = 0, buckets_max

    @property
    def is_full(self) -> bool:
        """Whether the caller must take everything before it adds more."""
        return self._buckets >= self._buckets_max

    def add(self, partition: TopicPartition, window: int, ms: int) -> None:
        latency = self._open.setdefault(partition, {}).setdefault(window, Latency())
        before = len(latency.ages.counts)
        latency.add(ms)
        self._buckets += len(latency.ages.counts) - before

    def take(self, partition: TopicPartition) -> dict[int, Latency]:
        """Return the latencies added to a partition since the last call, and reset them."""
        taken = self._open.pop(partition, {})
        self._buckets -= sum(len(latency.ages.counts) for latency in taken.values())
        return taken

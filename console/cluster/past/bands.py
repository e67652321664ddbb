"""Who led each partition of a topic over a span, and how many replicas were in sync: a band for each. Pure."""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from console.cluster.charts.colours import colour_of_number
from console.cluster.past.states import PartitionThen, TopicThen

#: A band's length in the picture.
LENGTH = 1_000.0
#: Stretches of one band: more are narrower than a screen can show, and the newest count.
STRETCHES_MAX = 300


@dataclass(frozen=True, slots=True)
class TopicSpan:
    """What a topic was from one moment until another, ms."""

    from_ms: int
    until_ms: int
    then: TopicThen


@dataclass(frozen=True, slots=True)
class LeaderBand:
    """`is_short`: not all replicas were in sync. `leader` None: nobody led."""

    from_ms: int
    until_ms: int
    leader: int | None
    isr: tuple[int, ...]
    is_short: bool
    x: float = 0.0
    width: float = 0.0

    @property
    def tooltip(self) -> str:
        who = "nobody led" if self.leader is None else f"led by broker {self.leader}"
        return f"{who}, in sync: {', '.join(map(str, self.isr)) or 'none'}"


@dataclass(frozen=True, slots=True)
class Band:
    partition: int
    stretches: tuple[LeaderBand, ...]

    @property
    def leaders(self) -> int:
        """How often the leader changed."""
        led = [stretch.leader for stretch in self.stretches]
        return sum(one != other for one, other in itertools.pairwise(led))

    @property
    def was_short(self) -> bool:
        """Whether replicas were out of sync at some time."""
        return any(stretch.is_short for stretch in self.stretches)


def bands(known: Sequence[TopicSpan], from_ms: int, to_ms: int, partitions: Iterable[int]) -> list[Band]:
    """Return bands. `known` is in the order of time, without overlaps; parts outside of the span are cut off."""
    return [Band(partition, _placed(_stretches(known, partition), from_ms, to_ms)) for partition in partitions]


def partitions_of(known: Iterable[TopicSpan]) -> list[int]:
    return sorted({partition.partition for one in known for partition in one.then.partitions})


def colours(bands: Iterable[Band]) -> dict[int, int]:
    """Return the colour of each leader, which it has beside any other, by its broker id."""
    leaders = {stretch.leader for band in bands for stretch in band.stretches if stretch.leader is not None}
    return {leader: colour_of_number(leader) for leader in leaders}


def _stretches(known: Iterable[TopicSpan], partition: int) -> list[LeaderBand]:
    """Return stretches; equal neighbours are one."""
    bands: list[LeaderBand] = []
    for one in known:
        then = next((then for then in one.then.partitions if then.partition == partition), None)
        if then is None:
            continue
        new = _stretch(one, then)
        last = bands[-1] if bands else None
        if last is not None and last.until_ms == new.from_ms and (last.leader, last.isr) == (new.leader, new.isr):
            bands[-1] = replace(last, until_ms=new.until_ms)
        else:
            bands.append(new)
    return bands[-STRETCHES_MAX:]


def _stretch(one: TopicSpan, then: PartitionThen) -> LeaderBand:
    return LeaderBand(one.from_ms, one.until_ms, then.leader, then.isr, then.is_out_of_sync)


def _placed(bands: Iterable[LeaderBand], from_ms: int, to_ms: int) -> tuple[LeaderBand, ...]:
    scale = LENGTH / max(1, to_ms - from_ms)
    placed = []
    for stretch in bands:
        start, end = max(stretch.from_ms, from_ms), min(stretch.until_ms, to_ms)
        if start < end:
            x, width = (start - from_ms) * scale, (end - start) * scale
            placed.append(replace(stretch, from_ms=start, until_ms=end, x=round(x, 1), width=round(max(width, 0.5), 1)))
    return tuple(placed)

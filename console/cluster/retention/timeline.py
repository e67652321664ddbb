"""The segments that go, on a time axis: one lane for each partition, older to the left, now at the right edge. Pure."""

from dataclasses import dataclass

from console.kit.gateway.retention.interface import DoomedSegment, PartitionRetention, RetentionView

#: Of 1000 units across.
WIDTH = 1_000
BAR_MIN = 4
LANES_MAX = 40


@dataclass(frozen=True, slots=True)
class SegmentBar:
    x: int
    width: int
    segment: DoomedSegment


@dataclass(frozen=True, slots=True)
class RetentionLane:
    """`kept_x` is where the time of the segments that stay begins; their own times are not asked."""

    partition: PartitionRetention
    bars: tuple[SegmentBar, ...]
    kept_x: int
    kept_segments: int


@dataclass(frozen=True, slots=True)
class RetentionTimeline:
    lanes: tuple[RetentionLane, ...]
    from_ms: int
    to_ms: int
    #: Where retention.ms cuts; None without a limit in sight.
    cut_x: int | None
    hidden_lanes: int


def timeline(view: RetentionView, now_ms: int) -> RetentionTimeline | None:
    """Return the timeline; None if no deletion has a time."""
    lanes = [partition for partition in view.partitions if partition.segments]
    moments = [s.newest_at_ms for lane in lanes for s in lane.segments if s.newest_at_ms is not None]
    if not moments:
        return None
    from_ms, to_ms = min(moments), max(now_ms, *moments)
    # The oldest segment's beginning is not known: a twentieth of the axis is left for it.
    from_ms -= max(1, (to_ms - from_ms) // 20)
    scale = _Scale(from_ms, to_ms)
    cut_ms = now_ms - view.retention_ms
    cut_x = scale.x(cut_ms) if view.retention_ms >= 0 and cut_ms > from_ms else None
    shown = tuple(_lane(lane, scale) for lane in lanes[:LANES_MAX])
    return RetentionTimeline(shown, from_ms, to_ms, cut_x, max(0, len(lanes) - LANES_MAX))


@dataclass(frozen=True, slots=True)
class _Scale:
    from_ms: int
    to_ms: int

    def x(self, at_ms: int) -> int:
        return round(WIDTH * (at_ms - self.from_ms) / max(1, self.to_ms - self.from_ms))


def _lane(partition: PartitionRetention, scale: _Scale) -> RetentionLane:
    bars, x = [], 0
    for segment in partition.segments:
        end = x if segment.newest_at_ms is None else max(x, min(WIDTH, scale.x(segment.newest_at_ms)))
        width = max(BAR_MIN, end - x - 2)
        bars.append(SegmentBar(min(x, WIDTH - BAR_MIN), min(width, WIDTH - min(x, WIDTH - BAR_MIN)), segment))
        x = max(end, x + width)
    kept = partition.segment_count - partition.deleted_segments
    return RetentionLane(partition, tuple(bars), min(x, WIDTH), kept)

"""The segments of one log in offset order: which holds an offset, which stay open, which come and go."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from broker.common.errors import InvariantViolation
from broker.log.segment import Segment
from broker.log.segment_files import DELETED_SUFFIX
from broker.log.set_aside import SetAside


class SegmentList:
    """At least one segment; the last is active. Of the sealed ones one at most stays open: two descriptors a log."""

    __slots__ = ("_base_offsets", "_open_sealed", "_segments", "active", "set_aside")

    def __init__(self, segments: Sequence[Segment]):
        self._segments = list(segments)
        self._base_offsets = [segment.base_offset for segment in segments]
        self._open_sealed: Segment | None = None
        self.active = segments[-1]
        #: Segments that were taken out, with `.deleted` behind their names.
        self.set_aside = SetAside()

    def __iter__(self) -> Iterator[Segment]:
        """A snapshot, which may be walked while segments come and go."""
        return iter(tuple(self._segments))

    def __len__(self) -> int:
        return len(self._segments)

    def __contains__(self, segment: Segment) -> bool:
        return segment in self._segments

    @property
    def size_bytes(self) -> int:
        return sum(segment.size_bytes for segment in self._segments)

    def from_offset(self, offset: int) -> list[Segment]:
        """The segment whose range `offset` is in, and all later ones."""
        segments = tuple(self._segments)
        bases = [segment.base_offset for segment in segments]
        return list(segments[max(0, bisect_right(bases, offset) - 1) :])

    def opened_from(self, offset: int) -> Iterator[Segment]:
        """The same, one at a time, and the last one given stays open."""
        if offset >= self.active.base_offset:
            yield self.active
            return
        for segment in self._segments[bisect_right(self._base_offsets, offset) - 1 :]:
            self.keep_open(segment)
            yield segment

    def keep_open(self, segment: Segment) -> None:
        """Make `segment` the sealed one that stays open."""
        if segment is not self.active and segment is not self._open_sealed:
            if self._open_sealed is not None:
                self._open_sealed.release()
            self._open_sealed = segment

    def add(self, segment: Segment) -> None:
        """A new active segment; the old one has been sealed."""
        old, self.active = self.active, segment
        self._segments.append(segment)
        self._base_offsets.append(segment.base_offset)
        self.keep_open(old)

    def replace(self, old: Sequence[Segment], new: Sequence[Segment]) -> None:
        """See `Log.replace_segments`. The list comes first: a thread that misses a file looks there again."""
        first = self._place_of(old)
        self._segments[first : first + len(old)] = new
        self._base_offsets = [segment.base_offset for segment in self._segments]
        for segment in old:
            segment.rename(DELETED_SUFFIX)
        for segment in new:
            segment.rename("")
        self.set_aside.add(old)
        if self._open_sealed in old:
            self._open_sealed = None

    @property
    def first(self) -> Segment:
        return self._segments[0]

    def restart(self, fresh: Segment, gone: Sequence[Segment]) -> None:
        """`fresh` is all there is now, and active."""
        self._segments, self._base_offsets = [fresh], [fresh.base_offset]
        self.active, self._open_sealed = fresh, None
        self.set_aside.add(gone)

    def cut(self, last: Segment, gone: Sequence[Segment]) -> None:
        """`last` is active now, and stands where all segments from its base offset on stood; of those `gone` have got
        `.deleted` behind their names.
        """
        keep = bisect_left(self._base_offsets, last.base_offset)
        if self._open_sealed in self._segments[keep:]:
            self._open_sealed = None
        self._segments[keep:] = [last]
        self._base_offsets[keep:] = [last.base_offset]
        self.active = last
        self.set_aside.add(gone)

    def _place_of(self, run: Sequence[Segment]) -> int:
        """Index of the first of `run`. Raises InvariantViolation if it is not a run of sealed segments."""
        first = self._segments.index(run[0]) if run and run[0] in self._segments else -1
        if first < 0 or self._segments[first : first + len(run)] != list(run) or run[-1] is self.active:
            raise InvariantViolation("not a run of sealed segments of this log")
        return first

    def release(self) -> None:
        """Let go of every descriptor."""
        for segment in self._segments:
            segment.release()
        self._open_sealed = None

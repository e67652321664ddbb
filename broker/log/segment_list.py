"""The segments of one log in offset order: which holds an offset, which come and go."""

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from broker.common.errors import InvariantViolation
from broker.log.open_segments import OpenSegments
from broker.log.segment import Segment
from broker.log.segment_files import DELETED_SUFFIX


class SegmentList:
    """At least one segment; the last is active. Of the sealed ones those stay open that `opened` keeps."""

    __slots__ = ("_base_offsets", "_opened", "_segments", "active", "set_aside")

    def __init__(self, segments: Sequence[Segment], opened: OpenSegments):
        self._segments = list(segments)
        self._base_offsets = [segment.base_offset for segment in segments]
        self._opened = opened
        self.active = segments[-1]
        #: Segments that were taken out, with `.deleted` behind their names.
        self.set_aside = SetAside()

    def __iter__(self) -> Iterator[Segment]:
        """Iterate over a snapshot, which may be walked while segments come and go."""
        return iter(tuple(self._segments))

    def __len__(self) -> int:
        return len(self._segments)

    def __contains__(self, segment: Segment) -> bool:
        return segment in self._segments

    @property
    def size_bytes(self) -> int:
        return sum(segment.size_bytes for segment in self._segments)

    def from_offset(self, offset: int) -> list[Segment]:
        """Return the segment whose range `offset` is in, and all later ones."""
        segments = tuple(self._segments)
        bases = [segment.base_offset for segment in segments]
        return list(segments[max(0, bisect_right(bases, offset) - 1) :])

    def opened_from(self, offset: int) -> Iterator[Segment]:
        """Yield the same segments one at a time, each kept open for a while."""
        if offset >= self.active.base_offset:
            yield self.active
            return
        for segment in self._segments[bisect_right(self._base_offsets, offset) - 1 :]:
            if segment is not self.active:
                self._opened.use(segment)
            yield segment

    def end_of(self, segment: Segment) -> int:
        """Return the offset behind the segment's last one: where the next segment begins, or where the log ends."""
        if segment is self.active:
            return self.active.next_offset
        return self._base_offsets[bisect_right(self._base_offsets, segment.base_offset)]

    def add(self, segment: Segment) -> None:
        """Add a new active segment; the old one has been sealed."""
        old, self.active = self.active, segment
        self._segments.append(segment)
        self._base_offsets.append(segment.base_offset)
        self._opened.use(old)

    def replace(self, old: Sequence[Segment], new: Sequence[Segment]) -> None:
        """See `Log.replace_segments`. The list comes first: a thread that misses a file looks there again."""
        first = self._place_of(old)
        self._segments[first : first + len(old)] = new
        self._base_offsets = [segment.base_offset for segment in self._segments]
        for segment in old:
            segment.rename(DELETED_SUFFIX)
        for segment in new:
            segment.rename("")
        self._let_go(old)

    def lie_in(self, directory: Path, opened: OpenSegments) -> None:
        """Note the segments' new directory, with `opened` to keep read ones open."""
        self.release_sealed()
        self._opened = opened
        for segment in (*self._segments, *self.set_aside):
            segment.files.directory = directory

    @property
    def first(self) -> Segment:
        return self._segments[0]

    def restart(self, fresh: Segment, gone: Sequence[Segment]) -> None:
        """Replace all segments by `fresh`, which is active."""
        self._segments, self._base_offsets = [fresh], [fresh.base_offset]
        self.active = fresh
        self._let_go(gone)

    def cut(self, last: Segment, gone: Sequence[Segment]) -> None:
        """Make `last` active in place of all segments from its base offset on; `gone` have been renamed to
        `.deleted`.
        """
        keep = bisect_left(self._base_offsets, last.base_offset)
        for segment in self._segments[keep:]:
            self._opened.forget(segment)
        self._segments[keep:] = [last]
        self._base_offsets[keep:] = [last.base_offset]
        self.active = last
        self._let_go(gone)

    def _let_go(self, segments: Sequence[Segment]) -> None:
        for segment in segments:
            self._opened.forget(segment)
        self.set_aside.add(segments)

    def _place_of(self, run: Sequence[Segment]) -> int:
        """Return the index of the first of `run`. Raises InvariantViolation if it is not a run of sealed segments."""
        first = self._segments.index(run[0]) if run and run[0] in self._segments else -1
        if first < 0 or self._segments[first : first + len(run)] != list(run) or run[-1] is self.active:
            raise InvariantViolation("not a run of sealed segments of this log")
        return first

    def release_sealed(self) -> None:
        """Close all descriptors but the active segment's; none is closed while a worker thread has the log."""
        for segment in self._segments[:-1]:
            if segment in self._opened:
                self._opened.forget(segment)
                segment.release()

    def release(self) -> None:
        """Close every open segment descriptor."""
        for segment in self._segments:
            self._opened.forget(segment)
            segment.release()


@dataclass(slots=True)
class _Leaving:
    segment: Segment
    #: When a purge first saw it.
    since_ms: int | None = None


class SetAside:
    """Segments that a log no longer has, on disk for file.delete.delay.ms for those who still read them.

    `add` is for the log's owner, `purge` may run on another thread, one at a time.
    """

    def __init__(self) -> None:
        self._leaving: deque[_Leaving] = deque()

    def __len__(self) -> int:
        return len(self._leaving)

    def __iter__(self) -> Iterator[Segment]:
        return (leaving.segment for leaving in self._leaving)

    def add(self, segments: Iterable[Segment]) -> None:
        self._leaving.extend(_Leaving(segment) for segment in segments)

    def purge(self, now_ms: int, delay_ms: int) -> int:
        """Remove the files of what was first seen `delay_ms` ago; how many bytes that frees. Raises OSError."""
        for leaving in list(self._leaving):
            if leaving.since_ms is None or leaving.since_ms > now_ms:
                leaving.since_ms = now_ms
        freed = 0
        while self._leaving:
            first = self._leaving[0]
            if first.since_ms is None or now_ms - first.since_ms < delay_ms:
                break
            first.segment.remove_files()
            freed += first.segment.size_bytes
            self._leaving.popleft()
        return freed

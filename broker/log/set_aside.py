"""Segments that a log no longer has, on disk for a while (file.delete.delay.ms) for those who still read them."""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from broker.log.segment import Segment


@dataclass(slots=True)
class _Leaving:
    segment: Segment
    #: When a purge first saw it.
    since_ms: int | None = None


class SetAside:
    """`add` is for the log's owner, `purge` may run on another thread, one at a time."""

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

"""Which sealed segments of a broker stay open: those read last, within bounds of descriptors and memory.

Readers that lag come back to where they were, each in a segment of its own; what is open costs them neither an open nor
the decoding of an index.
"""

from collections import OrderedDict
from threading import Lock

from broker.common.limits import OPEN_SEALED_INDEX_BYTES_MAX, OPEN_SEALED_SEGMENTS_MAX
from broker.log.segment import Segment


class OpenSegments:
    """Open segments of all logs of a broker. For their owner; `forget` also for a worker thread that was lent a log."""

    def __init__(self, count_max: int = OPEN_SEALED_SEGMENTS_MAX, bytes_max: int = OPEN_SEALED_INDEX_BYTES_MAX):
        self._count_max = count_max
        self._bytes_max = bytes_max
        self._lock = Lock()
        self._bytes = 0
        #: Those read longest ago first, and what their indexes take.
        self._sizes: OrderedDict[Segment, int] = OrderedDict()

    def __len__(self) -> int:
        return len(self._sizes)

    def __contains__(self, segment: Segment) -> bool:
        return segment in self._sizes

    def use(self, segment: Segment) -> None:
        """Keep a sealed segment open that is about to be read; others may be released for it."""
        size = segment.index_bytes
        with self._lock:
            self._forget(segment)
            self._sizes[segment] = size
            self._bytes += size
            while len(self._sizes) > self._count_max or (self._bytes > self._bytes_max and len(self._sizes) > 1):
                oldest, size = self._sizes.popitem(last=False)
                self._bytes -= size
                oldest.release()

    def forget(self, segment: Segment) -> None:
        """Close a segment that is no longer a sealed segment of its log."""
        with self._lock:
            self._forget(segment)

    def _forget(self, segment: Segment) -> None:
        self._bytes -= self._sizes.pop(segment, 0)

"""Which transactional batches count: found by reading the markers in the log itself, before anything is rewritten.

Records of an aborted transaction must neither stay nor supersede anything. A marker must stay as long as a record of
its transaction does, and then until its own delete horizon, so that no reader misses it (KIP-534). And nothing may be
judged from the first transaction on whose marker has not been read: a pass ends there.
"""

from bisect import bisect_right
from operator import itemgetter

from broker.records.batch import NO_PRODUCER_ID, BatchHeader

#: The type in the key of a control record, after its version (both int16).
ABORT_MARKER = 0
_TYPE = slice(2, 4)
_FIRST = itemgetter(0)


class Transactions:
    """Fed with the batches of a log in order, then asked."""

    def __init__(self) -> None:
        self._open: dict[int, int] = {}
        #: Per producer the offset ranges (first offset, offset of the marker) of aborted transactions, in their order.
        self._aborted: dict[int, list[tuple[int, int]]] = {}

    def note_data(self, header: BatchHeader) -> None:
        if header.is_transactional:
            self._open.setdefault(header.producer_id, header.base_offset)

    def note_marker(self, header: BatchHeader, key: bytes | None) -> None:
        """Note a control batch and the key of its record."""
        first_offset = self._open.pop(header.producer_id, None)
        if first_offset is not None and is_marker(header) and marker_type(key) == ABORT_MARKER:
            self._aborted.setdefault(header.producer_id, []).append((first_offset, header.base_offset))

    def first_undecided_offset(self) -> int | None:
        return min(self._open.values(), default=None)

    def is_aborted(self, header: BatchHeader) -> bool:
        """Return whether the batch belongs to a transaction that was aborted."""
        if not header.is_transactional or header.is_control:
            return False
        ranges = self._aborted.get(header.producer_id, ())
        # Of one producer no two overlap.
        at = bisect_right(ranges, header.base_offset, key=_FIRST) - 1
        return at >= 0 and header.base_offset < ranges[at][1]


def is_marker(header: BatchHeader) -> bool:
    """Return whether the control batch ends a transaction; there are other kinds, which belong to no producer."""
    return header.is_control and header.producer_id != NO_PRODUCER_ID


def marker_type(key: bytes | None) -> int:
    return int.from_bytes((key or b"")[_TYPE], "big") if key and len(key) >= _TYPE.stop else -1

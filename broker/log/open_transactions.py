"""The transactions of one partition that are not decided for good: below the first of them everything is stable.

One is open from its first batch to its marker, and it counts until its marker is committed: a leader that never had the
marker would find it open again.
"""

import heapq

from broker.common.errors import InvariantViolation


class OpenTransactions:
    """Offsets are inclusive. A producer has one transaction at a time."""

    def __init__(self) -> None:
        #: First offset by producer id, the oldest first.
        self._open: dict[int, int] = {}
        #: (first offset, the marker's offset), what began first on top.
        self._ended: list[tuple[int, int]] = []

    def __bool__(self) -> bool:
        return bool(self._open)

    def __contains__(self, producer_id: int) -> bool:
        return producer_id in self._open

    def begin(self, producer_id: int, offset: int) -> None:
        """Note the producer's transaction unless one is open."""
        self._open.setdefault(producer_id, offset)

    def end(self, producer_id: int, marker_offset: int) -> int | None:
        """End the producer's transaction and return its first offset; None if none was open."""
        first_offset = self._open.pop(producer_id, None)
        if first_offset is not None:
            heapq.heappush(self._ended, (first_offset, marker_offset))
        return first_offset

    def first_offset_of(self, producer_id: int) -> int | None:
        return self._open.get(producer_id)

    @property
    def first_offset(self) -> int | None:
        """First offset of the oldest open transaction, None if none is open."""
        return next(iter(self._open.values())) if self._open else None

    def first_offset_besides(self, producer_id: int) -> int | None:
        """Return the first offset of the oldest open transaction of other producers, None if there is none."""
        return next((offset for item, offset in self._open.items() if item != producer_id), None)

    def first_undecided_offset(self, high_watermark: int) -> int | None:
        """Return the first offset of transactions that are open or whose marker is not below `high_watermark`; forget
        the others.
        """
        ended = self._ended
        while ended and ended[0][1] < high_watermark:
            heapq.heappop(ended)
        if not ended:
            return self.first_offset
        first_open = self.first_offset
        return ended[0][0] if first_open is None else min(first_open, ended[0][0])

    def restore(self, open_from: dict[int, int]) -> None:
        """Restore from a snapshot, first offset by producer id, in any order. Nothing may have been noted before."""
        if self._open or self._ended:
            raise InvariantViolation("transactions are restored before others are noted")
        self._open = dict(sorted(open_from.items(), key=lambda item: item[1]))

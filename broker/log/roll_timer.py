"""When a segment is too old for one more batch (segment.ms).

As in Kafka the age is counted in the time of the records, from the first batch of the segment to the one that comes, so
that a log replayed from elsewhere has the segments it would have had; only without timestamps is it the clock.
"""

from broker.records.batch import NO_TIMESTAMP

#: Below every timestamp, so that each batch asks.
_UNKNOWN = -(2**63)


class RollTimer:
    """Of the active segment."""

    __slots__ = ("_segment_ms", "_since_ms", "after_ms")

    def __init__(self) -> None:
        #: Only a batch with a later timestamp than this needs to ask `is_due`.
        self.after_ms = _UNKNOWN
        self._segment_ms = 0
        self._since_ms: int | None = None

    def set_segment_ms(self, segment_ms: int) -> None:
        self._segment_ms = segment_ms
        self.after_ms = _UNKNOWN

    def forget(self) -> None:
        """Another segment is active now: its first batch tells."""
        self.after_ms, self._since_ms = _UNKNOWN, None

    def restart(self, first_timestamp: int, now_ms: int | None) -> None:
        """The segment begins with this batch."""
        self._since_ms = now_ms
        self.after_ms = _UNKNOWN if first_timestamp == NO_TIMESTAMP else first_timestamp + self._segment_ms

    def is_due(self, first_timestamp: int, max_timestamp: int, now_ms: int | None) -> bool:
        """Whether a batch with `max_timestamp` is too young for a segment whose first has `first_timestamp`."""
        if first_timestamp != NO_TIMESTAMP:
            self.after_ms = first_timestamp + self._segment_ms
            return max_timestamp > self.after_ms
        if now_ms is None or self._since_ms is None:
            self._since_ms = now_ms
            return False
        return now_ms - self._since_ms > self._segment_ms

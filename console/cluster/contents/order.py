"""How records follow each other in their partitions: times that go back, silence, offsets without a record. Pure."""

from console.kit.gateway.records.interface import RecordView


class Order:
    """Order of records added as each partition has them."""

    def __init__(self) -> None:
        self.no_time = self.append_time = 0
        #: Records earlier than one before them, and by how much at most.
        self.late = self.late_ms = 0
        self.first_ms: int | None = None
        self.last_ms: int | None = None
        #: The longest time between a record and the next of its partition, and the record it ended with.
        self.silence_ms, self.silence_until = 0, ""
        #: Offsets that no record has: of markers, of what was aborted or compacted away.
        self.gaps = self.missing = 0
        self._next: dict[int, int] = {}
        self._newest_ms: dict[int, int] = {}

    def add(self, record: RecordView) -> None:
        following = self._next.get(record.partition, record.offset)
        if record.offset > following:
            self.gaps += 1
            self.missing += record.offset - following
        self._next[record.partition] = record.offset + 1
        self.append_time += record.is_append_time
        if record.at_ms is None:
            self.no_time += 1
        else:
            self._add_time(record, record.at_ms)

    def _add_time(self, record: RecordView, at_ms: int) -> None:
        self.first_ms = at_ms if self.first_ms is None else min(self.first_ms, at_ms)
        self.last_ms = at_ms if self.last_ms is None else max(self.last_ms, at_ms)
        newest_ms = self._newest_ms.get(record.partition, at_ms)
        if at_ms < newest_ms:
            self.late += 1
            self.late_ms = max(self.late_ms, newest_ms - at_ms)
        elif at_ms - newest_ms > self.silence_ms:
            self.silence_ms, self.silence_until = at_ms - newest_ms, f"{record.partition}:{record.offset}"
        self._newest_ms[record.partition] = max(newest_ms, at_ms)

"""Reading the cluster in memory: what was appended without a value is its number in its segment, as text."""

from collections.abc import Callable, Mapping

from console.kit.gateway.records.interface import RecordView

#: (partition, offset) → the record there or the first one behind it, None at or beyond the end.
Lookup = Callable[[int, int], RecordView | None]


class FakeRecordStream:
    """A RecordStream that never waits: what is not there now is not waited for."""

    def __init__(self, lookup: Lookup, starts: Mapping[int, int]):
        self._lookup = lookup
        self._positions = dict(starts)
        self._dropped: set[int] = set()

    @property
    def positions(self) -> Mapping[int, int]:
        return self._positions

    def read(self, timeout_seconds: float, records_max: int) -> list[RecordView]:
        """From every partition in turn, as the library does, so that none hides the others."""
        records: list[RecordView] = []
        is_more = True
        while is_more and len(records) < records_max:
            is_more = False
            for partition in sorted(self._positions.keys() - self._dropped):
                record = self._lookup(partition, self._positions[partition])
                if record is None or len(records) == records_max:
                    continue
                records.append(record)
                self._positions[partition] = record.offset + 1
                is_more = True
        return records

    def drop(self, partition: int) -> None:
        self._dropped.add(partition)

    def close(self) -> None:
        self._dropped.update(self._positions)

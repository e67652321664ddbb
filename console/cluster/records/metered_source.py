"""Where records are read from for a person, within the budget of bytes per second (`read_ledger`).

A stream that has to wait says so in `waits`, and reads nothing meanwhile: the library's bounded queue fills, and it
asks brokers for no more.
"""

import time
from collections.abc import Callable, Iterable, Mapping

from console.cluster.records.read_ledger import LEDGER, ReadLedger, limits_now
from console.cluster.records.reading import RecordSource
from console.cluster.records.scan import note_of
from console.kit.gateway.errors import GatewayError
from console.kit.gateway.records.interface import BatchView, OffsetSpan, RecordStream, RecordView

#: What a broker reads at most to find the offset of a time: as much as lies between two entries of its index.
LOOKUP_BYTES = 4_096


def metered(source: RecordSource, person: object) -> RecordSource:
    """Return a source that counts bytes for `person`, the key of the reader."""
    limits = limits_now()
    return MeteredSource(source, person) if limits.total or limits.per_person else source


def charge_lookups(person: object, count: int) -> None:
    """Charge offset lookups by time to the person. Raises GatewayError when the budget is used up."""
    if standing_why := LEDGER.charge(person).why:
        raise GatewayError(f"Not looked up, {standing_why}. Ask again in a moment.")
    LEDGER.charge(person, count * LOOKUP_BYTES)


class MeteredSource:
    def __init__(self, source: RecordSource, person: object, ledger: ReadLedger = LEDGER):
        self._source, self._person, self._ledger = source, person, ledger

    def record_spans(self, topic: str, committed_only: bool) -> Mapping[int, OffsetSpan]:
        return self._source.record_spans(topic, committed_only)

    def offsets_at(self, topic: str, at_ms: int, partitions: Iterable[int]) -> Mapping[int, int | None]:
        offsets = self._source.offsets_at(topic, at_ms, partitions)
        self._ledger.charge(self._person, LOOKUP_BYTES * len(offsets))
        return offsets

    def open_records(self, topic: str, starts: Mapping[int, int], committed_only: bool) -> RecordStream:
        stream = self._source.open_records(topic, starts, committed_only)
        return MeteredStream(stream, self._person, self._ledger)

    def batches_at(self, topic: str, starts: Mapping[int, int]) -> list[BatchView]:
        batches = self._source.batches_at(topic, starts)
        self._ledger.charge(self._person, sum(view.size_bytes for view in batches))
        return batches


class MeteredStream:
    def __init__(
        self,
        stream: RecordStream,
        person: object,
        ledger: ReadLedger,
        sleep: Callable[[float], None] = time.sleep,
    ):
        self._stream, self._person, self._ledger, self._sleep = stream, person, ledger, sleep
        self._standing = ledger.charge(person)

    @property
    def positions(self) -> Mapping[int, int]:
        return self._stream.positions

    @property
    def waits(self) -> str:
        """What the stream waits for; empty if it may read on."""
        return self._standing.why

    @property
    def note(self) -> str:
        return note_of(self._stream)

    def read(self, timeout_seconds: float, records_max: int) -> list[RecordView]:
        """Read records; none while the reader's budget is used up."""
        if self._standing.wait_ms:
            self._sleep(min(timeout_seconds, self._standing.wait_ms / 1_000))
            self._standing = self._ledger.charge(self._person)
            if self._standing.wait_ms:
                return []
        records = self._stream.read(timeout_seconds, records_max)
        self._standing = self._ledger.charge(self._person, sum(record.held_bytes for record in records))
        return records

    def drop(self, partition: int) -> None:
        self._stream.drop(partition)

    def close(self) -> None:
        self._stream.close()

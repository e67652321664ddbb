"""What a source connector promises to the worker that runs it (the shape of Kafka Connect's source API)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

#: Where a connector stands in one source partition; JSON, only the connector knows what is in it.
SourceOffset = dict[str, Any]


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """One record to be written, and where the source continues after it.

    `source_partition` names the part of the source (a file, a table) and `source_offset` the place behind this record;
    both None when the source has no past to resume (a measurement).
    """

    topic: str
    key: bytes | None
    value: bytes
    timestamp_ms: int
    headers: tuple[tuple[str, bytes], ...] = ()
    source_partition: str | None = None
    source_offset: SourceOffset | None = None


class SourceConnector(Protocol):
    """One source. The worker calls it from one thread only, and polls again only when everything was acknowledged."""

    @property
    def topic(self) -> str:
        """The topic every record of this connector goes to."""
        ...

    @property
    def poll_interval_ms(self) -> int:
        """How long the worker waits after a poll that gave nothing."""
        ...

    def start(self, offsets: Mapping[str, SourceOffset]) -> None:
        """Continue behind each stored offset; a source partition without one starts at its beginning."""
        ...

    def poll(self, now_ms: int) -> list[SourceRecord]:
        """New records in source order, a bounded number of them, without waiting; empty when there is nothing new."""
        ...

    def stop(self) -> None:
        """Give back what start and poll took."""
        ...


def resume_points(records: list[SourceRecord]) -> dict[str, SourceOffset]:
    """For each source partition the offset behind its last record."""
    return {
        record.source_partition: record.source_offset
        for record in records
        if record.source_partition is not None and record.source_offset is not None
    }


def acknowledged_prefix(records: list[SourceRecord], acknowledged: set[int]) -> list[SourceRecord]:
    """The records before the first one, by index, that is not acknowledged: what a stored offset may cover."""
    first_open = next((index for index in range(len(records)) if index not in acknowledged), len(records))
    return records[:first_open]

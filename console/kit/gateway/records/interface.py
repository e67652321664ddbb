"""The words for reading and producing single records."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

Headers = tuple[tuple[str, bytes | None], ...]
#: What a header takes in memory besides its name and value, and at least: one without both is two bytes in a batch.
HEADER_HELD_BYTES = 80


@dataclass(frozen=True, slots=True)
class RecordView:
    """A record as consumers get it. `at_ms` is None where it has no time."""

    partition: int
    offset: int
    at_ms: int | None
    key: bytes | None
    value: bytes | None
    headers: Headers = ()
    #: True if the broker stamped it (LogAppendTime), False if its producer did.
    is_append_time: bool = False

    @property
    def size_bytes(self) -> int:
        headers = sum(len(name) + len(value or b"") for name, value in self.headers)
        return len(self.key or b"") + len(self.value or b"") + headers

    @property
    def held_bytes(self) -> int:
        """The bytes charged to memory budgets."""
        return self.size_bytes + HEADER_HELD_BYTES * len(self.headers)


@dataclass(frozen=True, slots=True)
class BatchView:
    """A batch as the log has it. `records` may be fewer than were written: compaction takes them out."""

    partition: int
    base_offset: int
    records: int
    size_bytes: int
    #: none, gzip, snappy, lz4 or zstd.
    compression: str
    is_transactional: bool = False


@dataclass(frozen=True, slots=True)
class OffsetSpan:
    """What can be read of a partition: from `first` to below `next`."""

    first: int
    next: int


class RecordStream(Protocol):
    """Records of assigned partitions, each in its own order. One thread uses it. Nothing is ever committed."""

    @property
    def positions(self) -> Mapping[int, int]:
        """The offset to be read next, by partition; offsets that hold no record for a consumer are stepped over."""
        ...

    def read(self, timeout_seconds: float, records_max: int) -> list[RecordView]:
        """Return what has arrived, at most `records_max`, waiting up to the timeout for the first. May be empty."""
        ...

    def drop(self, partition: int) -> None:
        """Read no more of `partition`; its position stays."""
        ...

    def close(self) -> None: ...

"""The cluster's recent past as rows of a file."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import TypeAlias

#: (ms since the epoch, records per second, bytes per second, records not read); None where nothing was known.
StoredSample: TypeAlias = tuple[int, float | None, float | None, int | None]
SAMPLE_TITLES = ("time", "records_per_second", "bytes_per_second", "records_not_read")


def sample_cells(samples: Iterable[StoredSample]) -> Iterator[tuple[object, ...]]:
    for at_ms, *values in samples:
        yield (datetime.fromtimestamp(at_ms / 1_000, UTC), *values)

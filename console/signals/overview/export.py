"""The cluster's recent past as rows of a file."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

SAMPLE_TITLES = ("time", "records_per_second", "bytes_per_second", "records_not_read")


def sample_cells(samples: Iterable[tuple[int, float, float, int]]) -> Iterator[tuple[object, ...]]:
    for at_ms, *values in samples:
        yield (datetime.fromtimestamp(at_ms / 1_000, UTC), *values)

"""Batches decoded once. A run meets each of them some ten times, at every replica, reader and checker; the same bytes
hold the same records.
"""

from functools import lru_cache

from broker.records.record import Record, decode_records

_BATCHES_MAX = 4_096


def records_of(batch: bytes | memoryview) -> tuple[Record, ...]:
    """As `decode_records`."""
    return _decoded(bytes(batch))


@lru_cache(_BATCHES_MAX)
def _decoded(batch: bytes) -> tuple[Record, ...]:
    return tuple(decode_records(batch))

"""What the tests of the log share: batches to append, and reading a log from one end to the other."""

import pytest

from broker.log.log import Log
from broker.records.batch import iterate_headers
from broker.records.builder import build_batch
from broker.records.record import Record, decode_records


def _batch_of(*values: bytes, timestamp_ms: int = 1_000) -> bytearray:
    """One batch, a record per value, a millisecond apart."""
    return build_batch([Record(0, timestamp_ms + place, None, value) for place, value in enumerate(values)])


def _records_of(log: Log, *, max_bytes: int = 1 << 20, end_offset: int | None = None) -> list[tuple[int, bytes]]:
    """(offset, value) of everything from the log start on, read slice by slice as a consumer does."""
    end_offset = log.log_end_offset if end_offset is None else end_offset
    collected, fetch_offset = [], log.log_start_offset
    while True:
        data = log.read(fetch_offset, max_bytes, end_offset).read()
        if not data:
            return collected
        headers = list(iterate_headers(data))
        assert sum(header.size_bytes for _, header in headers) == len(data), "a slice holds whole batches"
        for at, _ in headers:
            collected += [(record.offset, record.value) for record in decode_records(data[at:])]
        fetch_offset = collected[-1][0] + 1


@pytest.fixture(scope="session")
def batch_of():
    return _batch_of


@pytest.fixture(scope="session")
def records_of():
    return _records_of

"""Rows encoded in bulk are what a consumer decodes, in batches a broker takes."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.records.batch import Compression, check_produced_batch
from broker.records.record import decode_records
from broker.spark import record_encoding
from broker.spark.record_encoding import EncodedRows, Writer, encode_batch, encode_headers, in_batches

NOW_MS = 1_700_000_000_000

some_bytes = st.none() | st.binary(max_size=20) | st.integers(60, 70_000).map(bytes)
headers = st.none() | st.lists(st.tuples(st.text(max_size=5), st.none() | st.binary(max_size=5)), max_size=3)
record = st.tuples(some_bytes, some_bytes, headers)


def rows_of(records) -> EncodedRows:
    keys, values, headers = zip(*records, strict=True)
    encoded = encode_headers(list(headers)) if any(headers) else None
    return EncodedRows(pa.array(keys, pa.binary()), pa.array(values, pa.binary()), encoded)


@given(st.lists(record, min_size=1, max_size=90), st.sampled_from(Compression), st.integers(0, 3))
def test_encoded_rows_decode_to_themselves(records, compression, skipped):
    rows = rows_of([(b"skipped", b"", None)] * skipped + records).slice(skipped, skipped + len(records))
    batch = encode_batch(rows, Writer(7, 3, compression), 5, NOW_MS)
    header = check_produced_batch(batch)
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (7, 3, 5)
    assert header.is_transactional
    assert [(r.timestamp_ms, r.key, r.value, list(r.headers)) for r in decode_records(batch)] == [
        (NOW_MS, key, value, headers or []) for key, value, headers in records
    ]


@given(st.lists(st.integers(0, 500), min_size=1, max_size=60))
def test_batches_are_bounded_and_leave_nothing_out(sizes):
    rows = rows_of([(None, bytes(size), None) for size in sizes])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(record_encoding, "BATCH_RECORDS", 7)
        parts = list(in_batches(rows, 600))
    assert [len(value) for part in parts for value in part.value.to_pylist()] == sizes
    for part in parts:
        assert len(part.key) <= 7
        assert len(part.key) == 1 or sum(len(value) + 32 for value in part.value.to_pylist()) <= 600

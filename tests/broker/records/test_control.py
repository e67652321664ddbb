"""Markers, as bytes that Kafka's clients and tools read."""

import pytest

from broker.common.errors import ApiError, ErrorCode
from broker.records.batch import parse_batch_header
from broker.records.builder import build_batch
from broker.records.control import EndMarker, MarkerType, build_marker, parse_marker
from broker.records.record import Record, decode_records


def control(key: bytes | None, value: bytes | None) -> bytearray:
    return build_batch([Record(0, 0, key, value)], producer_id=7, producer_epoch=1, is_control=True)


@pytest.mark.parametrize("kind", list(MarkerType))
def test_a_marker_says_how_it_ended_and_who_said_so(kind):
    batch = build_marker(EndMarker(kind, 12), 7, 3, 1_000)
    assert parse_marker(batch) == EndMarker(kind, 12)
    header = parse_batch_header(batch)
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (7, 3, -1)
    assert (header.is_control, header.is_transactional) == (True, True)


def test_a_commit_marker_has_kafkas_bytes():
    (record,) = decode_records(build_marker(EndMarker(MarkerType.COMMIT, 258), 7, 3, 1_000))
    assert (record.key, record.value) == (b"\0\0\0\1", b"\0\0\0\0\1\2")


def test_other_control_records_end_no_transaction():
    assert parse_marker(control(b"\0\0\0\2", b"whatever")) is None


@pytest.mark.parametrize(("key", "value"), [(None, None), (b"\0", b""), (b"\0\0\0\1", b"\0\0\0")])
def test_a_marker_that_is_too_short_is_damage(key, value):
    with pytest.raises(ApiError) as refused:
        parse_marker(control(key, value))
    assert refused.value.code is ErrorCode.CORRUPT_MESSAGE

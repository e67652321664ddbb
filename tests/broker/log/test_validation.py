"""What a topic's configuration asks of a batch: times within bounds, keys, the broker's own clock."""

import pytest
from crc32c import crc32c

from broker.common.errors import ApiError, ErrorCode, InvariantViolation, RecordsRefused
from broker.log.config import LOG_APPEND_TIME, LogConfig
from broker.log.log import Log
from broker.records.batch import (
    CHECKED_FROM,
    CRC,
    CRC_AT,
    HEADER,
    Compression,
    TimestampType,
    check_produced_batch,
    parse_batch_header,
)
from broker.records.builder import build_batch
from broker.records.control import EndMarker, MarkerType, build_marker
from broker.records.record import INT64_MAX, INT64_MIN, Record, decode_records

NOW_MS = 1_700_000_000_000
APPEND_TIME = LogConfig(message_timestamp_type=LOG_APPEND_TIME)
BOUNDED = LogConfig(message_timestamp_before_max_ms=1_000, message_timestamp_after_max_ms=500)
COMPACTED = LogConfig(cleanup_policy=("compact",))


def batch(*times: int, key: bytes | None = b"k", **options) -> bytearray:
    return build_batch([Record(0, time, key, b"v") for time in times], **options)


@pytest.fixture
def open_log(tmp_path):
    return lambda config: Log.open(tmp_path / "t-0", config)


def refused(log: Log, sent: bytearray, now_ms: int | None = NOW_MS) -> ErrorCode:
    before = bytes(sent)
    with pytest.raises(ApiError) as caught:
        log.append(sent, 3, now_ms=now_ms)
    assert (sent, log.log_end_offset) == (before, 0)
    return caught.value.code


@pytest.mark.parametrize("compression", [Compression.NONE, Compression.ZSTD])
def test_log_append_time_becomes_the_time_of_every_record(open_log, compression):
    log = open_log(APPEND_TIME)
    result = log.append(batch(5, 6, 7, compression=compression), 0, now_ms=NOW_MS)
    assert result.max_timestamp == NOW_MS
    stored = log.read(0, 1 << 20, 3).read()
    header = parse_batch_header(stored)
    assert (header.timestamp_type, header.max_timestamp) == (TimestampType.LOG_APPEND_TIME, NOW_MS)
    assert [record.timestamp_ms for record in decode_records(stored)] == [NOW_MS] * 3, "the CRC fits as well"
    assert log.max_timestamp_offset() == (0, NOW_MS)


def test_a_producer_is_remembered_by_the_time_that_the_log_has_set(open_log):
    """Else one whose clock is old is forgotten at the next check, and what it sends again is appended again."""
    log = open_log(APPEND_TIME)
    log.append(batch(5, producer_id=7, producer_epoch=0, base_sequence=0), 0, now_ms=NOW_MS)
    (producer,) = log.producers()
    assert producer.last_timestamp == NOW_MS
    (read_back,) = Log.open(log.directory, APPEND_TIME).producers()
    assert read_back.last_timestamp == NOW_MS


def test_log_append_time_without_a_clock_is_a_broken_promise(open_log):
    with pytest.raises(InvariantViolation):
        open_log(APPEND_TIME).append(batch(5), 0)


def test_batch_that_was_stamped_and_could_not_be_written_is_as_before(open_log, monkeypatch):
    log = open_log(APPEND_TIME)

    def no_space(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr("broker.log.segment.write_at", no_space)
        assert refused(log, batch(5)) is ErrorCode.KAFKA_STORAGE_ERROR
    again = Log.open(log.directory, APPEND_TIME)
    assert again.append(batch(5), 0, now_ms=NOW_MS).base_offset == 0


@pytest.mark.parametrize("delta_ms", [INT64_MAX, INT64_MIN])
def test_record_of_a_compacted_topic_has_a_time_that_64_bits_can_tell(open_log, delta_ms):
    """The header names times of its own, which most topics go by; compaction makes a header anew from the records."""
    sent = batch(0, delta_ms)
    base_ms = NOW_MS if delta_ms > 0 else -1
    HEADER.pack_into(sent, 0, *parse_batch_header(sent)._replace(base_timestamp=base_ms, max_timestamp=base_ms))
    CRC.pack_into(sent, CRC_AT, crc32c(memoryview(sent)[CHECKED_FROM:]))
    assert check_produced_batch(sent)
    assert refused(open_log(COMPACTED), sent) is ErrorCode.INVALID_TIMESTAMP


@pytest.mark.parametrize(
    ("times", "is_fine"),
    [
        ([NOW_MS], True),
        ([NOW_MS - 1_000, NOW_MS + 500], True),
        ([NOW_MS - 1_001, NOW_MS], False),
        ([NOW_MS, NOW_MS + 501], False),
        ([-1], True),
    ],
)
def test_create_time_may_not_be_too_far_from_now(open_log, times, is_fine):
    log = open_log(BOUNDED)
    if is_fine:
        assert log.append(batch(*times), 0, now_ms=NOW_MS).base_offset == 0
    else:
        assert refused(log, batch(*times)) is ErrorCode.INVALID_TIMESTAMP


@pytest.mark.parametrize("policy", [("compact",), ("delete", "compact")])
@pytest.mark.parametrize("compression", [Compression.NONE, Compression.LZ4])
def test_compacted_topic_takes_no_record_without_a_key(open_log, policy, compression):
    log = open_log(LogConfig(cleanup_policy=policy))
    sent = build_batch([Record(0, 1, b"k", b"v"), Record(0, 1, None, b"v")], compression=compression)
    assert refused(log, sent) is ErrorCode.INVALID_RECORD
    assert log.append(batch(1, key=b"", compression=compression), 0).base_offset == 0


def test_compacted_topic_takes_no_batch_whose_records_cannot_be_read(open_log):
    import struct

    from crc32c import crc32c

    sent = batch(1, compression=Compression.LZ4)
    sent[61:] = bytes(len(sent) - 61)
    struct.pack_into(">I", sent, 17, crc32c(bytes(sent[21:])))
    assert refused(open_log(COMPACTED), sent) is ErrorCode.CORRUPT_MESSAGE


def test_control_batches_have_keys_of_their_own_kind(open_log):
    sent = build_marker(EndMarker(MarkerType.COMMIT, 0), producer_id=1, producer_epoch=0, now_ms=NOW_MS)
    assert open_log(COMPACTED).append(sent, 0).base_offset == 0


def test_new_configuration_holds_from_the_next_batch_on(open_log):
    log = open_log(LogConfig())
    assert log.append(batch(1, key=None), 0, now_ms=NOW_MS).base_offset == 0
    log.config = BOUNDED
    with pytest.raises(ApiError):
        log.append(batch(1), 0, now_ms=NOW_MS)
    log.config = COMPACTED
    with pytest.raises(ApiError):
        log.append(batch(1, key=None), 0, now_ms=NOW_MS)
    log.config = LogConfig()
    assert log.append(batch(1, key=None), 0, now_ms=NOW_MS).base_offset == 1


@pytest.mark.parametrize("compression", [Compression.NONE, Compression.ZSTD])
def test_records_without_a_key_are_named_by_their_place_in_the_batch(open_log, compression):
    sent = build_batch([Record(0, 1, key, b"v") for key in (b"a", None, b"b", None)], compression=compression)
    with pytest.raises(RecordsRefused) as caught:
        open_log(COMPACTED).append(sent, 0)
    assert caught.value.code is ErrorCode.INVALID_RECORD
    assert list(caught.value.records) == [1, 3]


@pytest.mark.parametrize("compression", [Compression.NONE, Compression.ZSTD])
def test_records_with_a_time_out_of_bounds_are_named_with_it(open_log, compression):
    times = [NOW_MS - 2_000, NOW_MS, NOW_MS + 501]
    with pytest.raises(RecordsRefused) as caught:
        open_log(BOUNDED).append(batch(*times, compression=compression), 0, now_ms=NOW_MS)
    assert caught.value.records.keys() == {0, 2}
    within = f"is out of range. The timestamp should be within [{NOW_MS - 1_000}, {NOW_MS + 500}]; message.timestamp."
    before, after = (f"Timestamp {times[at]} of message with offset {at} {within}" for at in (0, 2))
    assert caught.value.records[0] == f"{before}before.max.ms is 1000"
    assert caught.value.records[2] == f"{after}after.max.ms is 500"


def test_a_batch_too_large_to_be_looked_at_for_its_times_is_refused_as_one(open_log, monkeypatch):
    for limit, sent in (
        ("RECORDS_LOOKED_AT_AT_ONCE_MAX", batch(1, 1)),
        ("NAMED_RECORDS_BYTES_MAX", batch(1, compression=Compression.ZSTD)),
    ):
        with monkeypatch.context() as lower:
            lower.setattr(f"broker.log.validation.{limit}", 1)
            with pytest.raises(RecordsRefused) as caught:
                open_log(BOUNDED).append(sent, 0, now_ms=NOW_MS)
        assert (caught.value.code, caught.value.records) == (ErrorCode.INVALID_TIMESTAMP, {})


def test_so_many_records_are_named_and_no_more(open_log, monkeypatch):
    monkeypatch.setattr("broker.log.validation.RECORD_ERRORS_MAX", 2)
    with pytest.raises(RecordsRefused) as caught:
        open_log(COMPACTED).append(batch(1, 2, 3, key=None), 0)
    assert list(caught.value.records) == [0, 1]

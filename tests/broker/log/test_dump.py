"""A segment's log as Kafka's tool prints it."""

import struct

import pytest

from broker.log.config import LOG_APPEND_TIME, LogConfig
from broker.log.dump import SegmentDump
from broker.log.log import Log
from broker.records.batch import Compression
from broker.records.builder import build_batch
from broker.records.control import EndMarker, MarkerType, build_marker
from broker.records.record import Record

NOW_MS = 1_700_000_000_123


def texts_of(rows) -> list[str]:
    return [str(row) for row in rows]


@pytest.fixture
def log(tmp_path):
    log = Log.open(tmp_path / "t-0", LogConfig())
    records = [Record(0, NOW_MS, b"k", b"v" * 20, (("trace", b"\xff"),)), Record(0, NOW_MS + 1, None, None)]
    log.append(build_batch(records, compression=Compression.ZSTD), 3)
    log.append(build_batch([Record(0, -1, b"", b"x")], producer_id=7, producer_epoch=2, base_sequence=40), 4)
    return log


def texts(key, value):
    return tuple(None if item is None else item.decode() for item in (key, value))


def lines(log: Log, **options) -> list[str]:
    return texts_of(SegmentDump(log.segments[0].files.log, **options).rows())


def test_each_batch_is_a_line_in_kafkas_words(log):
    (_, one), (position, two) = log.segments[0].batches()
    assert lines(log) == [
        "baseOffset: 0 lastOffset: 1 count: 2 baseSequence: -1 lastSequence: -1 producerId: -1 producerEpoch: -1 "
        "partitionLeaderEpoch: 3 isTransactional: false isControl: false deleteHorizonMs: OptionalLong.empty "
        f"position: 0 CreateTime: {NOW_MS + 1} size: {one.size_bytes} magic: 2 compresscodec: zstd crc: {one.crc} "
        "isvalid: true",
        "baseOffset: 2 lastOffset: 2 count: 1 baseSequence: 40 lastSequence: 40 producerId: 7 producerEpoch: 2 "
        "partitionLeaderEpoch: 4 isTransactional: false isControl: false deleteHorizonMs: OptionalLong.empty "
        f"position: {position} CreateTime: -1 size: {two.size_bytes} magic: 2 compresscodec: none crc: {two.crc} "
        "isvalid: true",
    ]


def test_records_follow_their_batch_and_what_they_lack_is_left_out(log):
    shown = [line for line in lines(log, with_records=True, decoder=texts) if line.startswith("|")]
    assert shown == [
        f"| offset: 0 CreateTime: {NOW_MS} keySize: 1 valueSize: 20 sequence: -1 headerKeys: [trace] key: k "
        f"payload: {'v' * 20}",
        f"| offset: 1 CreateTime: {NOW_MS + 1} keySize: -1 valueSize: -1 sequence: -1 headerKeys: []",
        "| offset: 2 CreateTime: -1 keySize: 0 valueSize: 1 sequence: 40 headerKeys: [] key:  payload: x",
    ]
    without = lines(log, with_records=True, decoder=texts, with_metadata=False)
    assert [line for line in without if not line.startswith("base")] == [
        f"| key: k payload: {'v' * 20}",
        "",
        "| key:  payload: x",
    ]


def test_without_metadata_a_bar_stands_before_a_value_without_key_too(tmp_path, batch_of):
    log = Log.open(tmp_path / "t-1", LogConfig())
    log.append(batch_of(b"v"), 0)
    shown = lines(log, with_records=True, decoder=texts, with_metadata=False)
    assert shown[1:] == ["| payload: v"]


def test_markers_append_time_and_delete_horizons_are_told(tmp_path, batch_of):
    log = Log.open(tmp_path / "t-1", LogConfig(message_timestamp_type=LOG_APPEND_TIME))
    log.append(batch_of(b"v"), 0, now_ms=NOW_MS)
    assert f" LogAppendTime: {NOW_MS} " in lines(log)[0]
    marker = tmp_path / f"{0:020d}.log"
    marker.write_bytes(build_marker(EndMarker(MarkerType.ABORT, 5), 7, 1, NOW_MS))
    batch, record = texts_of(SegmentDump(marker, with_records=True).rows())
    assert " isTransactional: true isControl: true " in batch
    assert record.endswith(
        " keySize: 4 valueSize: 6 sequence: -1 headerKeys: [] endTxnMarker: ABORT coordinatorEpoch: 5"
    )


def test_a_batch_whose_checksum_is_wrong_is_not_valid_and_those_behind_it_are_shown(log):
    path = log.segments[0].files.log
    second = list(log.segments[0].batches())[1][0]
    content = bytearray(path.read_bytes())
    content[second - 1] ^= 1
    path.write_bytes(content)
    dump = SegmentDump(path, with_records=True)
    first, unread, next_, _ = texts_of(dump.rows())
    assert first.endswith("isvalid: false")
    assert unread.startswith("| the records of offset 0 cannot be read: ")
    assert next_.endswith("isvalid: true")
    assert (dump.damaged_batches, dump.is_damaged) == (1, True)


@pytest.mark.parametrize("cut", [1, 30, 61])
def test_a_torn_end_is_named_however_little_is_left(log, cut):
    path = log.segments[0].files.log
    second = list(log.segments[0].batches())[1][0]
    path.write_bytes(path.read_bytes()[: second + cut])
    dump = SegmentDump(path)
    assert texts_of(dump.rows())[1:] == [f"Found {cut} invalid bytes at the end of {path.name}"]
    assert dump.is_damaged


def test_a_length_that_cannot_be_is_the_end(log):
    path = log.segments[0].files.log
    second = list(log.segments[0].batches())[1][0]
    content = bytearray(path.read_bytes())
    content[second + 8 : second + 12] = struct.pack(">i", -5)
    path.write_bytes(content)
    assert lines(log)[1] == f"Found {len(content) - second} invalid bytes at the end of {path.name}"


def test_only_the_first_bytes_are_looked_at_if_told_so(log):
    second = list(log.segments[0].batches())[1][0]
    assert len(lines(log, bytes_max=second + 10)) == 1


def test_missing_offsets_are_known_by_their_neighbours(tmp_path):
    path = tmp_path / f"{0:020d}.log"
    batches = [bytearray(build_batch([Record(0, 1, None, b"v")])) for _ in range(2)]
    batches[1][:8] = struct.pack(">q", 5)
    path.write_bytes(b"".join(batches))
    dump = SegmentDump(path, with_records=True)
    assert len(texts_of(dump.rows())) == 4
    assert dump.gaps == [(0, 5)]


def test_messages_of_before_batches_are_told_and_do_not_stop_it(tmp_path):
    path = tmp_path / f"{0:020d}.log"
    body = struct.pack(">bbqii", 1, 2, NOW_MS, -1, 2) + b"hi"
    message = struct.pack(">qiI", 9, 4 + len(body), 77) + body
    path.write_bytes(message + build_batch([Record(0, 1, None, b"v")]))
    old, new = texts_of(SegmentDump(path).rows())
    assert old == (
        f"offset: 9 position: 0 CreateTime: {NOW_MS} size: {len(message)} magic: 1 compresscodec: snappy crc: 77"
    )
    assert f" position: {len(message)} " in new

"""Index files and snapshots as Kafka's tool prints them, compared with the log they belong to."""

import struct

import pytest

from broker.log.config import LogConfig
from broker.log.dump_indexes import IndexDump, snapshot_rows, transaction_rows
from broker.log.log import Log
from broker.records.builder import build_batch
from broker.records.control import EndMarker, MarkerType, build_marker
from broker.records.record import Record


def texts_of(rows) -> list[str]:
    return [str(row) for row in rows]


@pytest.fixture
def directory(tmp_path):
    """Four batches of two records and 1000 bytes, an index entry for every second one or so."""
    directory = tmp_path / "t-0"
    log = Log.open(directory, LogConfig(index_interval_bytes=1000))
    for number in range(4):
        records = [Record(0, 1_000 + number, b"k", b"x" * 500), Record(0, 900 + number, b"k", b"x" * 500)]
        log.append(build_batch(records, producer_id=7, producer_epoch=2, base_sequence=2 * number), 0)
    log.flush()
    log.store_clean_state()
    log.close()
    return directory


def index(directory, suffix: str, **options) -> IndexDump:
    return IndexDump(directory / f"{0:020d}{suffix}", **options)


def test_entries_agree_with_the_log_they_were_made_of(directory):
    offsets, times = index(directory, ".index"), index(directory, ".timeindex")
    rows = texts_of(offsets.offset_rows())
    assert rows
    assert all(line.startswith("offset: ") and " position: " in line for line in rows)
    assert texts_of(times.time_rows())[-1] == "timestamp: 1003 offset: 7"
    assert (offsets.mismatches, times.mismatches, times.out_of_order) == ([], [], [])


def test_preallocated_zeros_are_no_entries(directory):
    path = directory / f"{0:020d}.index"
    before = texts_of(index(directory, ".index").offset_rows())
    path.write_bytes(path.read_bytes() + bytes(80))
    assert texts_of(index(directory, ".index").offset_rows()) == before
    path.write_bytes(bytes(80))
    assert texts_of(index(directory, ".index").offset_rows()) == [f"{path} is empty."]


def test_an_entry_that_the_log_does_not_bear_out_is_known(directory):
    (directory / f"{0:020d}.index").write_bytes(struct.pack(">iiii", 3, 0, 5, 1 << 30))
    (directory / f"{0:020d}.timeindex").write_bytes(struct.pack(">qiqi", 1_001, 3, 999, 5))
    offsets, times = index(directory, ".index", verify_only=True), index(directory, ".timeindex", verify_only=True)
    assert (texts_of(offsets.offset_rows()), texts_of(times.time_rows())) == ([], [])
    assert offsets.mismatches == [(3, 1), (5, -1)]
    assert times.mismatches == [(999, 1_002)]
    assert times.out_of_order == [(1_001, 999)]


def test_an_index_alone_is_looked_at_without_its_log(directory):
    (directory / f"{0:020d}.log").unlink()
    path = directory / f"{0:020d}.index"
    assert texts_of(index(directory, ".index", sanity_only=True).offset_rows()) == [f"{path} passed sanity check."]
    path.write_bytes(path.read_bytes() + b"torn")
    (line,) = texts_of(index(directory, ".index", sanity_only=True).offset_rows())
    assert "is no multiple of 8" in line


def test_producers_of_a_snapshot_are_told_and_a_damaged_one_is_none(directory):
    path = directory / f"{8:020d}.snapshot"
    assert texts_of(snapshot_rows(path)) == [
        "producerId: 7 producerEpoch: 2 coordinatorEpoch: -1 currentTxnFirstOffset: OptionalLong.empty "
        "lastTimestamp: 1003 firstSequence: 6 lastSequence: 7 lastOffset: 7 offsetDelta: 1 timestamp: 1003"
    ]
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    assert snapshot_rows(path) is None


def test_aborted_transactions_are_told(tmp_path):
    log = Log.open(tmp_path / "t-1", LogConfig())
    batch = build_batch(
        [Record(0, 1, None, b"v")], producer_id=7, producer_epoch=0, base_sequence=0, is_transactional=True
    )
    log.append(batch, 0)
    log.append(build_marker(EndMarker(MarkerType.ABORT, 0), 7, 0, 1), 0)
    log.close()
    assert texts_of(transaction_rows(tmp_path / "t-1" / f"{0:020d}.txnindex")) == [
        "version: 0 producerId: 7 firstOffset: 0 lastOffset: 1 lastStableOffset: 2"
    ]

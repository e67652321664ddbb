"""Open and aborted transactions of one log, through restarts, cuts, rolls, on followers and on a disk that is full."""

import errno
import os
import struct

import pytest

from broker.common.errors import ApiError, ErrorCode
from broker.common.types import TopicPartition
from broker.log.compaction.log_to_clean import LogToClean
from broker.log.compaction.replacement import Replacement
from broker.log.config import LogConfig
from broker.log.files import write_at
from broker.log.log import Log
from broker.records.builder import build_batch
from broker.records.control import EndMarker, MarkerType, build_marker
from broker.records.record import Record

CONFIG = LogConfig(segment_bytes=400)


def data(producer_id: int, sequence: int, epoch: int = 0, *, is_transactional: bool = True) -> bytearray:
    return build_batch(
        [Record(0, 1_000, b"k", b"v")],
        producer_id=producer_id,
        producer_epoch=epoch,
        base_sequence=sequence,
        is_transactional=is_transactional,
    )


def marker(producer_id: int, kind: MarkerType, epoch: int = 0, coordinator_epoch: int = 0) -> bytearray:
    return build_marker(EndMarker(kind, coordinator_epoch), producer_id, epoch, 1_000)


def reopened(log: Log, *, is_clean: bool) -> Log:
    if is_clean:
        log.flush()
        log.store_clean_state()
    log.close()
    return Log.open(log.directory, CONFIG, is_clean=is_clean)


def aborted(log: Log) -> list[tuple[int, int, int]]:
    aborted_ranges = log.aborted_transactions(log.log_start_offset, log.log_end_offset)
    return [(segment.producer_id, segment.first_offset, segment.last_offset) for segment in aborted_ranges]


def facts(log: Log) -> tuple:
    return log.last_stable_offset(log.log_end_offset), aborted(log)


def write(log: Log, *batches: bytearray) -> None:
    for batch in batches:
        log.append(batch, 0)


ABORT, COMMIT = MarkerType.ABORT, MarkerType.COMMIT


@pytest.fixture
def log(tmp_path):
    return Log.open(tmp_path / "t-0", CONFIG)


@pytest.fixture
def busy(log):
    """Offsets: 7 began at 0 and was aborted at 3; 8 began at 1 and was committed at 4; 7 began anew at 5, 9 at 6."""
    write(log, data(7, 0), data(8, 0), data(7, 1), marker(7, ABORT), marker(8, COMMIT), data(7, 2), data(9, 0))
    return log


def test_trap_36_what_is_stable_ends_where_the_oldest_open_transaction_began(log):
    write(log, data(7, 0, is_transactional=False))
    assert log.last_stable_offset(1) == 1
    write(log, data(8, 0), data(9, 0), marker(9, COMMIT))
    assert log.last_stable_offset(4) == 1
    assert log.last_stable_offset(0) == 0
    write(log, marker(8, COMMIT))
    assert log.last_stable_offset(5) == 5


def test_ended_transaction_is_stable_only_when_its_marker_is_committed(log):
    write(log, data(7, 0), data(8, 0), marker(7, COMMIT), marker(8, ABORT), data(9, 0))
    assert [log.last_stable_offset(high_watermark) for high_watermark in range(6)] == [0, 0, 0, 1, 4, 4]


def test_open_transaction_whose_beginning_was_deleted_is_unstable_from_the_start_on(log):
    write(log, data(7, 0), data(8, 0), marker(8, COMMIT))
    log.delete_records(2, 3)
    assert log.last_stable_offset(3) == 2


def test_producer_goes_on_with_an_open_transaction_under_the_same_epoch_only(log):
    write(log, data(7, 0))
    assert log.has_open_transaction(7, 0)
    assert not log.has_open_transaction(7, 1)
    assert not log.has_open_transaction(8, 0)
    log = reopened(log, is_clean=True)
    assert log.has_open_transaction(7, 0)
    write(log, marker(7, COMMIT))
    assert not log.has_open_transaction(7, 0)


def test_marker_is_larger_than_the_topic_allows_and_written_all_the_same(tmp_path):
    log = Log.open(tmp_path / "t-0", LogConfig())
    write(log, data(7, 0))
    log.config = LogConfig(max_message_bytes=10)
    write(log, marker(7, COMMIT))
    assert log.last_stable_offset(2) == 2


def test_aborted_transactions_are_told_to_whoever_reads_their_records(busy):
    assert facts(busy) == (5, [(7, 0, 3)])
    assert busy.aborted_transactions(4, 7) == []
    assert busy.aborted_transactions(0, 0) == []
    assert [transaction.producer_id for transaction in busy.aborted_transactions(3, 4)] == [7]


def test_the_index_has_kafkas_bytes(busy):
    index_bytes = b"".join(path.read_bytes() for path in sorted(busy.directory.glob("*.txnindex")))
    assert index_bytes == struct.pack(">hqqqq", 0, 7, 0, 3, 1)


@pytest.mark.parametrize("is_clean", [True, False])
def test_transactions_survive_a_restart(busy, is_clean):
    assert facts(reopened(busy, is_clean=is_clean)) == (5, [(7, 0, 3)])


@pytest.mark.parametrize("is_clean", [True, False])
def test_an_index_is_made_anew_behind_the_last_snapshot(busy, is_clean):
    busy.close()
    for path in [*busy.directory.glob("*.txnindex"), *busy.directory.glob("*.snapshot")]:
        path.unlink()
    assert facts(Log.open(busy.directory, CONFIG, is_clean=is_clean)) == (5, [(7, 0, 3)])


@pytest.mark.parametrize("is_clean", [True, False])
@pytest.mark.parametrize(
    "spoil",
    [
        lambda entry: bytes(len(entry)),
        lambda entry: entry + bytes(4_000),
        lambda entry: bytes([0xA5]) * len(entry),
        lambda entry: struct.pack(">hqqqq", 0, 7, 0, 3_000, 1),
        lambda entry: struct.pack(">hqqqq", 0, 7, 4, 3, 1),
    ],
    ids=["zeros", "zeros behind", "noise", "of another segment", "that ends before it begins"],
)
def test_an_index_that_cannot_be_true_is_made_anew(busy, spoil, is_clean):
    """Though a snapshot says that all before it is well: who reads committed records would be given aborted ones."""
    write(busy, data(9, 1), marker(9, COMMIT))
    path = next(iter(sorted(busy.directory.glob("*.txnindex"))))
    busy.flush()
    busy.store_clean_state()
    busy.close()
    path.write_bytes(spoil(path.read_bytes()))
    assert aborted(Log.open(busy.directory, CONFIG, is_clean=is_clean)) == [(7, 0, 3)]


@pytest.mark.parametrize("is_restarted", [True, False])
@pytest.mark.parametrize(
    ("end_offset", "expected"),
    [(6, (5, [(7, 0, 3)])), (5, (5, [(7, 0, 3)])), (4, (1, [(7, 0, 3)])), (3, (0, [])), (1, (0, [])), (0, (0, []))],
)
def test_a_cut_takes_markers_back(busy, end_offset, expected, is_restarted):
    log = reopened(busy, is_clean=True) if is_restarted else busy
    log.truncate_to(end_offset)
    assert facts(log) == expected
    assert facts(reopened(log, is_clean=False)) == expected


def test_an_emptied_log_has_no_transactions(busy):
    busy.truncate_fully_and_start_at(100)
    assert facts(busy) == (100, [])


def test_a_follower_knows_the_same_transactions(busy, tmp_path):
    follower = Log.open(tmp_path / "follower-0", LogConfig())
    while follower.log_end_offset < busy.log_end_offset:
        log_slice = busy.read(follower.log_end_offset, 1 << 20, busy.log_end_offset)
        follower.append_as_follower(memoryview(log_slice.read()))
    assert facts(follower) == facts(busy)


def test_trap_35_a_marker_of_a_replaced_coordinator_is_refused(log):
    write(log, data(7, 0), marker(7, COMMIT, coordinator_epoch=5), data(7, 1))
    with pytest.raises(ApiError) as refused:
        log.append(marker(7, ABORT, coordinator_epoch=4), 0)
    assert refused.value.code is ErrorCode.TRANSACTION_COORDINATOR_FENCED
    assert facts(log) == (2, [])


def test_a_replaced_coordinator_is_refused_after_a_restart_too(log):
    write(log, data(7, 0), marker(7, COMMIT, coordinator_epoch=5))
    log = reopened(log, is_clean=True)
    with pytest.raises(ApiError) as refused:
        log.append(marker(7, ABORT, coordinator_epoch=4), 0)
    assert refused.value.code is ErrorCode.TRANSACTION_COORDINATOR_FENCED


def test_a_marker_fences_the_epochs_before_its_own(log):
    write(log, data(7, 0), marker(7, ABORT, epoch=1))
    for late in (data(7, 1), marker(7, COMMIT)):
        with pytest.raises(ApiError) as refused:
            log.append(late, 0)
        assert refused.value.code is ErrorCode.INVALID_PRODUCER_EPOCH
    with pytest.raises(ApiError) as refused:
        log.append(data(7, 1, epoch=1), 0)
    assert refused.value.code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    write(log, data(7, 0, epoch=1))


def test_sequences_go_on_behind_a_marker_of_the_same_epoch(log):
    write(log, data(7, 0), marker(7, COMMIT), data(7, 1))
    assert log.append(data(7, 1), 0).base_offset == 2


def test_a_plain_batch_inside_a_transaction_is_refused(log):
    write(log, data(7, 0))
    with pytest.raises(ApiError) as refused:
        log.append(data(7, 1, is_transactional=False), 0)
    assert refused.value.code is ErrorCode.INVALID_TXN_STATE


def test_a_compacted_segment_keeps_the_aborted_transactions_of_those_it_replaces(log):
    for sequence in range(6):
        write(log, data(7, sequence), marker(7, ABORT))
    before = facts(log)
    *sealed, _ = log.segments
    assert len([item for item in sealed if item.files.transaction_index.exists()]) > 1
    replacement = Replacement(LogToClean.of(TopicPartition("t", 0), log, 12, frozenset()), sealed)
    for segment in sealed:
        for position, header in segment.batches():
            replacement.append(segment.read_batch(position, header))
    replacement.exchange(lambda work: work())
    assert len(log.segments) == 2
    assert facts(log) == before
    assert facts(reopened(log, is_clean=True)) == before


def test_aborted_transaction_whose_marker_was_compacted_away_is_told_to_nobody(log):
    """A reader told of it would wait for the marker, and take the producer's next transaction for aborted."""
    for sequence in range(6):
        write(log, data(7, sequence), marker(7, ABORT))
    *sealed, _ = log.segments
    replacement = Replacement(LogToClean.of(TopicPartition("t", 0), log, 12, frozenset()), sealed)
    for segment in sealed:
        for position, header in segment.batches():
            if header.base_offset > 3:
                replacement.append(segment.read_batch(position, header))
    replacement.exchange(lambda work: work())
    assert aborted(log) == [(7, 4, 5), (7, 6, 7), (7, 8, 9), (7, 10, 11)]


def test_segments_let_go_take_their_aborted_transactions_along(log):
    for sequence in range(6):
        write(log, data(7, sequence), marker(7, ABORT))
    first, *_ = log.segments
    assert log.aborted_transactions(0, 1)
    log.replace_segments([first], [])
    assert log.aborted_transactions(0, 1) == []
    log.purge_segments(0)
    log.purge_segments(log.config.file_delete_delay_ms + 1)
    assert not first.files.transaction_index.exists()


def test_a_torn_entry_of_the_index_does_not_count(busy):
    write(busy, marker(7, ABORT))
    (last,) = busy.aborted_transactions(4, 8)
    path = sorted(busy.directory.glob("*.txnindex"))[-1]
    path.write_bytes(path.read_bytes() + b"torn")
    assert busy.aborted_transactions(4, 8) == [last]
    write(busy, marker(9, ABORT))
    assert [transaction.last_offset for transaction in busy.aborted_transactions(4, 9)] == [7, 8]


def full(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def full_after_ten_bytes(file, data, position):
    write_at(file, memoryview(data)[:10], position)
    full()


FULL = {
    "of the note": ("broker.log.transaction_index.write_at", full),
    "in the middle of the note": ("broker.log.transaction_index.write_at", full_after_ten_bytes),
    "of the marker": ("broker.log.segment.write_at", full),
    "in the middle of the marker": ("broker.log.segment.write_at", full_after_ten_bytes),
}


@pytest.mark.parametrize("where", FULL)
def test_marker_that_a_full_disk_refuses_leaves_nothing_and_may_come_again(busy, monkeypatch, where):
    write(busy, data(7, 3))
    before = facts(busy)
    with monkeypatch.context() as disk:
        disk.setattr(*FULL[where])
        for _ in range(2):
            with pytest.raises(ApiError) as refused:
                busy.append(marker(7, ABORT), 0)
            assert refused.value.code is ErrorCode.KAFKA_STORAGE_ERROR
            assert facts(busy) == before
    write(busy, data(9, 1), marker(7, ABORT))
    expected = 6, [(7, 0, 3), (7, 5, 9)]
    assert facts(busy) == expected
    for is_clean in (True, False):
        busy = reopened(busy, is_clean=is_clean)
        assert facts(busy) == expected


@pytest.mark.parametrize("where", FULL)
def test_follower_whose_disk_is_full_goes_on_when_there_is_room(busy, tmp_path, monkeypatch, where):
    write(busy, marker(7, ABORT), data(7, 3), marker(9, COMMIT), marker(7, ABORT))
    follower = Log.open(tmp_path / "follower-0", LogConfig())

    def follow() -> None:
        while follower.log_end_offset < busy.log_end_offset:
            log_slice = busy.read(follower.log_end_offset, 1 << 20, busy.log_end_offset)
            follower.append_as_follower(memoryview(log_slice.read()))

    with monkeypatch.context() as disk:
        disk.setattr(*FULL[where])
        for _ in range(2):
            with pytest.raises(ApiError):
                follow()
    follow()
    assert facts(follower) == facts(busy) == (11, [(7, 0, 3), (7, 5, 7), (7, 8, 10)])


@pytest.mark.parametrize("is_clean", [True, False])
def test_note_whose_marker_a_stop_kept_from_being_written_is_left_out(busy, monkeypatch, is_clean):
    write(busy, data(7, 3))
    before = facts(busy)
    with monkeypatch.context() as stopped:
        stopped.setattr("broker.log.segment.write_at", full)
        stopped.setattr("broker.log.transaction_index.TransactionIndex.take_back", lambda *_: None)
        with pytest.raises(ApiError):
            busy.append(marker(7, ABORT), 0)
    busy = reopened(busy, is_clean=is_clean)
    assert aborted(busy) == before[1]
    write(busy, marker(7, COMMIT), data(7, 4))
    assert aborted(reopened(busy, is_clean=is_clean)) == before[1]

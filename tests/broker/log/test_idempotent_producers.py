"""A batch sent again is written once, whatever happened to the log in between."""

import itertools

import pytest

from broker.common.errors import ApiError, ErrorCode
from broker.log.config import LogConfig
from broker.log.log import Log
from broker.log.retention import plan_retention
from broker.records.builder import build_batch
from broker.records.record import Record

CONFIG = LogConfig(segment_bytes=400)


def batch(sequence: int, value: bytes = b"v", epoch: int = 0, producer_id: int = 7) -> bytearray:
    record = Record(0, 1_000, None, value)
    return build_batch([record], producer_id=producer_id, producer_epoch=epoch, base_sequence=sequence)


def reopened(log: Log, *, is_clean: bool = False) -> Log:
    if is_clean:
        log.flush()
        log.store_clean_state()
    log.close()
    return Log.open(log.directory, CONFIG, is_clean=is_clean)


@pytest.fixture
def log(tmp_path):
    return Log.open(tmp_path / "t-0", CONFIG)


def test_a_batch_sent_again_gets_its_old_offset_and_is_not_written(log):
    log.append(batch(0), 0)
    log.append(batch(1), 0)
    size = log.size_bytes
    assert log.append(batch(0), 0).base_offset == 0
    assert (log.log_end_offset, log.size_bytes) == (2, size)


def test_a_gap_leaves_the_log_as_it_was(log):
    log.append(batch(0), 0)
    with pytest.raises(ApiError) as refused:
        log.append(batch(2), 0)
    assert refused.value.code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert log.append(batch(1), 0).base_offset == 1


@pytest.mark.parametrize("is_clean", [True, False])
@pytest.mark.parametrize("written", [1, 3, 20])
def test_a_batch_sent_again_after_a_restart_is_not_written(log, is_clean, written):
    for sequence in range(written):
        log.append(batch(sequence), 0)
    log = reopened(log, is_clean=is_clean)
    assert log.append(batch(written - 1), 0).base_offset == written - 1
    assert log.append(batch(written), 0).base_offset == written


@pytest.mark.parametrize("is_clean", [True, False])
@pytest.mark.parametrize("written", range(2, 21))
def test_every_batch_a_client_may_have_unanswered_may_be_sent_again_after_a_restart(log, is_clean, written):
    for sequence in range(written):
        log.append(batch(sequence), 0)
    log = reopened(log, is_clean=is_clean)
    for sequence in range(max(0, written - 5), written):
        assert log.append(batch(sequence), 0).base_offset == sequence
    assert log.log_end_offset == written


def test_a_damaged_snapshot_is_made_good_from_the_log(log):
    for sequence in range(20):
        log.append(batch(sequence), 0)
    log.close()
    for snapshot in log.directory.glob("*.snapshot"):
        snapshot.write_bytes(b"\x00\x01garbage")
    assert Log.open(log.directory, CONFIG).append(batch(19), 0).base_offset == 19


def test_a_snapshot_of_records_that_were_cut_is_not_believed(log):
    for sequence in range(3):
        log.append(batch(sequence), 0)
    log.store_clean_state()
    log.close()
    last = sorted(log.directory.glob("*.log"))[-1]
    last.write_bytes(last.read_bytes()[:-1])
    log = Log.open(log.directory, CONFIG)
    assert log.log_end_offset == 2
    assert log.append(batch(2), 0).base_offset == 2


def test_a_snapshot_from_before_the_log_begins_is_not_believed(log):
    """What it knows was outdated by records that are deleted: who wrote those would be out of order for ever."""
    other = itertools.count()
    for sequence in range(2):
        log.append(batch(sequence), 0)
        segments = len(log.segments)
        while len(log.segments) == segments:
            log.append(batch(next(other), producer_id=8), 0)
    last = log.segments[-1].base_offset
    log.delete_records(last, log.log_end_offset)
    log.apply(plan_retention(log.retention_facts(), CONFIG, last, log.log_end_offset, now_ms=0))
    log.close()
    _older, newest = sorted(log.directory.glob("*.snapshot"))
    newest.write_bytes(b"\x00\x01garbage")
    log = Log.open(log.directory, CONFIG)
    assert log.log_start_offset == last
    assert log.append(batch(2), 0).base_offset == log.log_end_offset - 1


def test_two_snapshots_are_kept(log):
    for sequence in range(40):
        log.append(batch(sequence), 0)
    assert len(list(log.directory.glob("*.snapshot"))) == 2


def test_a_batch_that_could_not_be_written_may_be_sent_again(log, monkeypatch):
    def no_space(*_):
        raise OSError(28, "No space left on device")

    log.append(batch(0), 0)
    with monkeypatch.context() as full:
        full.setattr("broker.log.segment.write_at", no_space)
        with pytest.raises(ApiError):
            log.append(batch(1), 0)
    assert log.append(batch(1), 0).base_offset == 1

"""What may run on a worker thread does so while the owner appends and lets go of segments."""

from concurrent.futures import ThreadPoolExecutor
from random import Random
from threading import Event

import pytest

from broker.log import segment, stored_segment
from broker.log.config import LogConfig
from broker.log.log import Log
from broker.log.retention import plan_retention
from broker.records.batch import patch_batch
from broker.records.builder import build_batch
from broker.records.record import Record

CONFIG = LogConfig(segment_bytes=4_000, index_interval_bytes=300, retention_ms=-1, file_delete_delay_ms=0)


@pytest.fixture
def log(tmp_path):
    return Log.open(tmp_path / "t-0", CONFIG)


def test_flushes_look_ups_and_purges_run_beside_appends_and_deletions(log, batch_of, records_of):
    is_over = Event()

    def work() -> int:
        rounds = 0
        while not is_over.is_set():
            log.flush()
            timestamp = max(0, log.log_end_offset - 60)
            offset = log.offset_for_timestamp(timestamp)
            assert offset is None or offset[0] >= timestamp
            log.max_timestamp_offset()
            log.retention_facts()
            log.purge_segments(rounds)
            rounds += 1
        return rounds

    with ThreadPoolExecutor(1) as workers:
        working = workers.submit(work)
        try:
            for offset in range(6_000):
                log.append(batch_of(b"%d" % offset, timestamp_ms=offset), offset // 500)
                if offset % 200 == 199:
                    config = LogConfig(retention_ms=-1, retention_bytes=30_000)
                    facts = log.retention_facts()
                    log.apply(plan_retention(facts, config, log.log_start_offset, log.log_end_offset, 0))
        finally:
            is_over.set()
        assert working.result(timeout=60) > 0
    start = log.log_start_offset
    expected = [(offset, b"%d" % offset) for offset in range(start, 6_000)]
    assert records_of(log) == expected
    log.flush()
    again = Log.open(log.directory, CONFIG, recovery_point=log.recovery_point)
    assert records_of(again) == expected
    assert [again.leader_epoch_at(offset) for offset in range(start, 6_000)] == [
        offset // 500 for offset in range(start, 6_000)
    ]


def test_flushes_look_ups_purges_and_stale_plans_run_beside_cuts(log, records_of):
    is_over, failures, choices = Event(), [], Random(1)
    log.on_disk_error = failures.append

    def work() -> int:
        rounds = 0
        while not is_over.is_set():
            log.flush()
            log.offset_for_timestamp(max(0, log.log_end_offset - 60))
            log.max_timestamp_offset()
            log.retention_facts()
            log.purge_segments(rounds)
            rounds += 1
        return rounds

    written, epoch, plan = {}, 0, None
    with ThreadPoolExecutor(1) as workers:
        working = workers.submit(work)
        try:
            for turn in range(300):
                epoch += 1
                for _ in range(choices.randrange(80)):
                    offset = log.log_end_offset
                    written[offset] = b"%d in %d" % (offset, epoch)
                    batch = build_batch([Record(0, offset, None, written[offset])], base_offset=offset)
                    patch_batch(batch, 0, offset, epoch)
                    log.append_as_follower(memoryview(batch))
                if plan is not None and turn % 3 == 0:
                    before = log.log_start_offset
                    assert log.apply(plan) == 0 or log.log_start_offset > before
                config = LogConfig(retention_ms=-1, retention_bytes=20_000)
                plan = plan_retention(log.retention_facts(), config, log.log_start_offset, log.log_end_offset, 0)
                if turn % 50 == 49:
                    log.truncate_fully_and_start_at(log.log_end_offset + choices.randrange(-20, 20))
                else:
                    log.truncate_to(max(log.log_start_offset, log.log_end_offset - choices.randrange(150)))
                assert log.recovery_point <= log.log_end_offset
        finally:
            is_over.set()
        assert working.result(timeout=60) > 0
    assert failures == []
    expected = [(offset, written[offset]) for offset in range(log.log_start_offset, log.log_end_offset)]
    again = Log.open(log.directory, CONFIG, recovery_point=log.recovery_point, log_start_offset=log.log_start_offset)
    for item in (log, again):
        assert records_of(item) == expected
        assert item.leader_epochs.entries == log.leader_epochs.entries


def test_flush_does_not_vouch_for_what_was_cut_and_written_again_meanwhile(log, batch_of, monkeypatch):
    """What took the place of the flushed records has not been fsynced by it."""
    for _ in range(200):
        log.append(batch_of(b"flushed" * 10), 0)
    end, fsync = log.log_end_offset, segment.fsync_file

    def cut_meanwhile(file):
        fsync(file)
        monkeypatch.undo()
        log.truncate_to(20)
        for _ in range(200):
            log.append(batch_of(b"not flushed"), 1)

    monkeypatch.setattr(segment, "fsync_file", cut_meanwhile)
    log.flush()
    assert (log.recovery_point, log.log_end_offset) == (0, 220)
    log.flush()
    assert log.recovery_point == 220 > end


@pytest.mark.parametrize(
    "look",
    [
        lambda log: log.offset_for_timestamp(150),
        lambda log: log.max_timestamp_offset(),
        lambda log: log.retention_facts()[-1].next_offset,
    ],
    ids=["by time", "newest", "facts"],
)
def test_look_up_that_meets_a_cut_is_made_again(tmp_path, batch_of, monkeypatch, look):
    log = Log.open(tmp_path / "t-0", CONFIG)
    for offset in range(200):
        log.append(batch_of(b"%d" % offset, timestamp_ms=offset), 0)
    log.flush()
    log.store_clean_state()
    log = Log.open(log.directory, CONFIG, is_clean=True)
    load = stored_segment.load_time_index

    def cut_meanwhile(path, base_offset):
        monkeypatch.undo()
        log.truncate_to(60)
        return load(path, base_offset)

    broken = []
    log.on_disk_error = broken.append
    monkeypatch.setattr(stored_segment, "load_time_index", cut_meanwhile)
    result = look(log)
    assert (result, log.log_end_offset, broken) == (look(log), 60, [])

"""Segments that give way to others: in memory, on disk, for those who still read them."""

from concurrent.futures import ThreadPoolExecutor, wait

import pytest

from broker.common.errors import InvariantViolation
from broker.log.config import LogConfig
from broker.log.log import Log
from broker.log.scan import scan_batches
from broker.log.segment import Segment
from broker.log.segment_files import CLEANED_SUFFIX, SWAP_SUFFIX, SegmentFiles

CONFIG = LogConfig(segment_bytes=400, index_interval_bytes=100)


@pytest.fixture
def log(tmp_path, batch_of):
    log = Log.open(tmp_path / "t-0", CONFIG)
    while len(log.segments) < 4:
        log.append(batch_of(b"%d" % log.log_end_offset), 0)
    return log


def merged(log: Log, old: list[Segment]) -> Segment:
    """What a cleaner that drops every other batch of `old` would leave."""
    new = Segment.create(log.directory, old[0].base_offset, CONFIG.index_interval_bytes, CLEANED_SUFFIX)
    for segment in old:
        for position, header in segment.batches():
            if header.base_offset % 2:
                new.append(segment.read_batch(position, header), header.last_offset, header.max_timestamp)
    new.flush()
    new.seal()
    new.rename(SWAP_SUFFIX)
    return new


def offsets(log: Log) -> list[int]:
    return [header.base_offset for segment in log.segments for _, header in segment.batches()]


def test_new_segment_is_read_and_survives_reopening(log):
    old, before = list(log.segments[:2]), offsets(log)
    end_of_old = log.segments[2].base_offset
    log.replace_segments(old, [merged(log, old)])
    expected = [offset for offset in before if offset % 2 or offset >= end_of_old]
    for is_clean in (False, True):
        assert offsets(log) == expected
        assert log.log_start_offset == 0
        log_slice = log.read(0, 1 << 20, log.log_end_offset)
        assert (
            next(scan_batches(log_slice.file, log_slice.position, log_slice.position + log_slice.length, 0))[
                1
            ].base_offset
            == 1
        )
        log = Log.open(log.directory, CONFIG, is_clean=is_clean)


def test_replaced_files_stay_until_purged_and_open_slices_for_ever(log):
    old = list(log.segments[:2])
    slice_of_old = log.read(0, 1 << 20, log.log_end_offset)
    before = slice_of_old.read()
    log.replace_segments(old, [merged(log, old)])
    deleted = {path.name for path in log.directory.glob("*.deleted")}
    assert {name for name in deleted if ".log" in name} == {f"{item.base_offset:020d}.log.deleted" for item in old}
    assert list(log.directory.glob("*.swap")) == []
    assert log.purge_segments(0) == 0
    assert log.purge_segments(CONFIG.file_delete_delay_ms) == sum(segment.size_bytes for segment in old)
    assert list(log.directory.glob("*.deleted")) == []
    assert slice_of_old.read() == before


def test_segments_may_be_replaced_by_none(log):
    old = list(log.segments[1:2])
    log.replace_segments(old, [])
    assert len(log.segments) == 3
    log_slice = log.read(old[0].base_offset, 1, log.log_end_offset)
    assert next(scan_batches(log_slice.file, log_slice.position, log_slice.position + log_slice.length, 0))[
        1
    ].base_offset == (log.segments[1].base_offset)


def test_only_a_run_of_sealed_segments_can_be_replaced(log):
    segments = log.segments
    for wrong in ([], [segments[-1]], [segments[0], segments[2]], [Segment(log.directory, 0, 0, 100)]):
        with pytest.raises(InvariantViolation):
            log.replace_segments(wrong, [])
    assert log.segments == segments


def test_leftovers_of_a_stop_are_removed_at_the_next_start(log, batch_of):
    old, before = list(log.segments[:2]), offsets(log)
    for suffix in (".deleted", ".cleaned"):
        (log.directory / f"{0:020d}.log{suffix}").write_bytes(bytes(batch_of(b"gone")))
    again = Log.open(log.directory, CONFIG)
    assert (offsets(again), again.segments[0].size_bytes) == (before, old[0].size_bytes)
    assert sorted({path.suffix for path in log.directory.iterdir()}) == [
        "",
        ".index",
        ".log",
        ".snapshot",
        ".timeindex",
    ]


@pytest.mark.parametrize("look", [Log.flush, Log.retention_facts], ids=["flush", "look-up"])
def test_thread_that_comes_between_a_files_two_names_waits_for_the_second(log, monkeypatch, look):
    """However long the owner takes to say where the file is now: a log that is well must not be called broken."""
    new, rename, looked = merged(log, old := list(log.segments[:2])), SegmentFiles.rename, []
    new.release()

    def rename_slowly(files, suffix):
        known_as = files.log
        rename(files, suffix)
        if suffix == "":
            is_now, files._suffix = files.log, SWAP_SUFFIX
            assert (files.log, is_now.exists()) == (known_as, True)
            looked.append(thread.submit(look, log))
            wait(looked, 0.2)
            files._suffix = ""

    monkeypatch.setattr(SegmentFiles, "rename", rename_slowly)
    with ThreadPoolExecutor() as thread:
        log.replace_segments(old, [new])
        looked[0].result()
    assert not log.is_offline

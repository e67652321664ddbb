"""Readers that lag, each in a sealed segment of its own: what is opened and decoded for them, and how often."""

import os
import struct

import pytest

from broker.common.errors import ApiError
from broker.log import segment
from broker.log.config import LogConfig
from broker.log.log import Log
from broker.log.open_segments import OpenSegments
from broker.records.builder import build_batch
from broker.records.record import Record

CONFIG = LogConfig(segment_bytes=20_000, index_interval_bytes=100)


def open_log(directory, opened: OpenSegments | None = None) -> Log:
    return Log.open(directory, CONFIG, opened=opened)


def fill(log: Log, segments: int) -> None:
    while len(log.segments) < segments:
        log.append(build_batch([Record(0, 1, b"k", b"v" * 100)]), 0)


def first_read(log: Log, offset: int) -> int:
    """The base offset of the batch that a reader is given."""
    return int.from_bytes(log.read(offset, 200, log.log_end_offset).read()[:8])


@pytest.fixture
def loaded(monkeypatch):
    """Every index that is loaded from a file, by its segment's base offset."""
    loaded, load_index = [], segment.load_index

    def count(path, base_offset, *arguments, **options):
        loaded.append(base_offset)
        return load_index(path, base_offset, *arguments, **options)

    monkeypatch.setattr(segment, "load_index", count)
    return loaded


def test_two_readers_in_two_segments_load_each_index_once(tmp_path, loaded):
    log = open_log(tmp_path)
    fill(log, 4)
    log.close()
    log, places = open_log(tmp_path), []
    loaded.clear()
    for sealed in log.segments[:2]:
        places.append(sealed.base_offset + 20)
    for _ in range(10):
        assert [first_read(log, place) for place in places] == places
    assert loaded == [sealed.base_offset for sealed in log.segments[:2]]
    log.close()


@pytest.mark.parametrize("bounds", [{"count_max": 2}, {"count_max": 9, "bytes_max": 2 * 20_000 // 100 * 8}])
def test_no_more_segments_stay_open_than_agreed_over_all_logs(tmp_path, bounds):
    opened = OpenSegments(**bounds)
    logs = [open_log(tmp_path / name, opened) for name in "ab"]
    for log in logs:
        fill(log, 4)
    descriptors = len(os.listdir("/proc/self/fd"))
    for log in logs:
        for sealed in log.segments[:-1]:
            assert first_read(log, sealed.base_offset + 20) == sealed.base_offset + 20
    assert len(opened) == 2
    assert len(os.listdir("/proc/self/fd")) <= descriptors
    for log in logs:
        log.close()
    assert len(opened) == 0


def test_what_is_let_go_or_cut_does_not_stay_open(tmp_path):
    opened = OpenSegments()
    log = open_log(tmp_path, opened)
    fill(log, 4)
    for sealed in log.segments[:-1]:
        first_read(log, sealed.base_offset)
    assert len(opened) == 3
    log.truncate_to(log.segments[1].base_offset + 1)
    assert len(opened) == 1
    log.lend()
    assert len(opened) == 0, "none is released while a worker thread has the log"
    log.take_back()
    log.close()


@pytest.mark.parametrize(
    "entries",
    [
        [(-5, 300)],
        [(7, -300)],
        [(7, 2**31 - 1)],
        [(150, 5), (3, 2), (90, 1)],
        [(90, 400), (20, 400), (1, 300), (140, 700)],
    ],
    ids=["negative offset", "negative position", "beyond the file", "inside batches", "in no order"],
)
def test_an_index_that_lies_in_any_way_hides_no_batch(tmp_path, entries):
    log = open_log(tmp_path)
    fill(log, 3)
    first, second = log.segments[:2]
    log.close()
    first.files.index.write_bytes(b"".join(struct.pack(">ii", *entry) for entry in entries))
    log = open_log(tmp_path)
    for offset in range(second.base_offset):
        assert first_read(log, offset) == offset
    log.close()


def test_the_index_of_a_sealed_segment_is_safe_when_its_batches_are(tmp_path, monkeypatch):
    log = open_log(tmp_path)
    fill(log, 2)
    synced, fsync = [], os.fsync

    def note(fd: int) -> None:
        synced.append(os.readlink(f"/proc/self/fd/{fd}"))
        fsync(fd)

    monkeypatch.setattr(os, "fsync", note)
    log.flush()
    assert str(log.segments[0].files.index) in synced
    log.close()
    with pytest.raises(ApiError):
        log.flush()

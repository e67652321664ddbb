"""`.timeindex`: Kafka's bytes, cheap look-ups, and damage that nobody notices."""

import errno
import os
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.log.config import LogConfig
from broker.log.files import read_at, write_at
from broker.log.log import Log
from broker.log.time_index import TimeEntry, TimeIndex
from broker.records.batch import iterate_headers

CONFIG = LogConfig(segment_bytes=2_000, index_interval_bytes=150)


def entries(*pairs: tuple[int, int]) -> bytes:
    return b"".join(struct.pack(">qi", *pair) for pair in pairs)


def time_of(offset: int) -> int:
    """Mostly growing, with steps back."""
    return 1_000 + offset * 10 - (offset % 7) * 15


def first_at(timestamp: int, count: int) -> tuple[int, int] | None:
    return next(((offset, time_of(offset)) for offset in range(count) if time_of(offset) >= timestamp), None)


@pytest.fixture
def log(tmp_path, batch_of):
    """Two sealed segments and an active one, a record a batch."""
    log = Log.open(tmp_path / "t-0", CONFIG)
    while len(log.segments) < 3 or log.segments[-1].size_bytes < 1_200:
        offset = log.log_end_offset
        log.append(batch_of(b"%d" % offset, timestamp_ms=time_of(offset)), 0)
    log.store_clean_state()
    return log


def files(directory: Path, suffix: str) -> list[Path]:
    return sorted(directory.glob("*" + suffix))


def test_entries_are_the_bytes_kafka_writes():
    index = TimeIndex(100)
    for timestamp_ms, offset in ((50, 103), (2**40, 110), (7, 120)):
        index.note_batch(timestamp_ms, offset)
        index.add_entry()
    assert index.encode() == entries((50, 3), (2**40, 10))
    assert (index.max_timestamp, index.last_entry()) == (2**40, TimeEntry(2**40, 110))


@given(st.lists(st.tuples(st.integers(-1, 2**62), st.booleans())), st.integers(0, 100))
def test_decoded_index_is_the_encoded_one_and_zeros_behind_it_are_nothing(batches, zeros):
    index = TimeIndex(5)
    for number, (timestamp_ms, is_time) in enumerate(batches, start=1):
        index.note_batch(timestamp_ms, 5 + number)
        if is_time:
            index.add_entry()
    again = TimeIndex.decode(5, index.encode() + bytes(12 * zeros))
    assert (again.encode(), again.last_entry()) == (index.encode(), index.last_entry())


def test_entry_before_a_time_rules_out_only_earlier_records():
    index = TimeIndex.decode(0, entries((10, 3), (20, 7)))
    entries_before = {time: index.entry_before(time) for time in (10, 11, 20, 21)}
    assert entries_before == {10: None, 11: (10, 3), 20: (10, 3), 21: (20, 7)}


def test_file_of_each_segment_is_what_kafka_would_have_written(log):
    """An entry with each one of the offset index, if the largest time grew, and one for the largest at the end."""
    for data_path, index_path in zip(files(log.directory, ".log"), files(log.directory, ".timeindex"), strict=True):
        base, expected, since, largest = int(data_path.stem), [], 0, (-1, 0)
        headers = [header for _, header in iterate_headers(data_path.read_bytes())]
        for header in headers:
            largest = max(largest, (header.max_timestamp, header.last_offset - base), key=lambda entry: entry[0])
            if since > 150:
                expected += [largest] if not expected or largest > expected[-1] else []
                since = 0
            since += header.size_bytes
        expected += [largest] if largest > expected[-1] else []
        assert index_path.read_bytes() == entries(*expected)


def test_look_up_in_a_sealed_segment_reads_few_headers(tmp_path, batch_of, monkeypatch):
    config = LogConfig(segment_bytes=400_000, index_interval_bytes=4_096)
    log = Log.open(tmp_path / "t-0", config)
    while len(log.segments) < 2:
        log.append(batch_of(bytes(1_000), timestamp_ms=time_of(log.log_end_offset)), 0)
    count = log.log_end_offset
    log.store_clean_state()
    log = Log.open(log.directory, config, is_clean=True)
    read = []
    monkeypatch.setattr(
        "broker.log.scan.read_at", lambda file, at, length: (read.append(length), read_at(file, at, length))[1]
    )
    assert log.offset_for_timestamp(time_of(300)) == first_at(time_of(300), count)
    assert 0 < sum(read) < 60_000 < log.segments[0].size_bytes


BAD_INDEXES = {
    "missing": lambda good: None,
    "empty": lambda good: b"",
    "zeroed": lambda good: bytes(len(good)),
    "preallocated": lambda good: good + bytes(12_000),
    "torn": lambda good: good[:-3],
    "random": lambda good: bytes(range(200, 256)) * 3,
    "not increasing": lambda good: good + good,
    "negative": lambda good: entries((-5, 1)) + good,
    "beyond the segment": lambda good: good + entries((10**9, 10**6)),
    "another time": lambda good: good[:-12] + entries((10**9, struct.unpack(">i", good[-4:])[0])),
    "another batch": lambda good: good[:8] + struct.pack(">i", struct.unpack(">i", good[8:12])[0] + 3) + good[12:],
}


@pytest.mark.parametrize("is_clean", [True, False])
@pytest.mark.parametrize("damage", BAD_INDEXES)
@pytest.mark.parametrize("segment", [0, -1], ids=["sealed", "active"])
def test_bad_time_index_changes_no_answer(log, segment, damage, is_clean):
    path = files(log.directory, ".timeindex")[segment]
    bad = BAD_INDEXES[damage](path.read_bytes())
    if bad is None:
        path.unlink()
    else:
        path.write_bytes(bad)
    count = log.log_end_offset
    again = Log.open(log.directory, CONFIG, is_clean=is_clean)
    largest = max(map(time_of, range(count)))
    assert again.max_timestamp_offset() == first_at(largest, count)
    for timestamp in range(980, largest + 20, 3):
        assert again.offset_for_timestamp(timestamp) == first_at(timestamp, count)


def test_bad_index_of_a_sealed_segment_is_rewritten(log):
    path = files(log.directory, ".timeindex")[0]
    good = path.read_bytes()
    path.unlink()
    Log.open(log.directory, CONFIG, is_clean=True).max_timestamp_offset()
    assert path.read_bytes() == good


def test_index_without_its_segment_is_removed(log):
    orphan = log.directory / f"{999:020d}.timeindex"
    orphan.write_bytes(b"")
    Log.open(log.directory, CONFIG)
    assert not orphan.exists()


def no_room(_file, data, _at):
    """As a full disk: an empty file needs only a name."""
    if data:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def room_for_half(file, data, at):
    write_at(file, data[: len(data) // 16 * 8], at)
    no_room(file, data, at)


FULL = {
    "no byte of either index": {"offset_index": no_room, "index_file": no_room},
    "half of the offset index": {"offset_index": room_for_half, "index_file": no_room},
    "the offset index alone": {"index_file": no_room},
}


@pytest.mark.parametrize("is_rolled", [True, False], ids=["rolled", "stopped"])
@pytest.mark.parametrize("room_for", FULL)
def test_a_disk_without_room_for_a_time_index_leaves_none_that_is_short(
    tmp_path, batch_of, monkeypatch, room_for, is_rolled
):
    """An earlier stop has left one, of which every entry is true: retention by time would go by its last."""
    newest_ms = 5_000_000
    log = Log.open(tmp_path / "t-0", CONFIG)
    for _ in range(4):
        log.append(batch_of(b".", timestamp_ms=time_of(log.log_end_offset)), 0)
    log.flush()
    log.store_clean_state()
    log.close()
    log = Log.open(log.directory, CONFIG, is_clean=True)
    log.append(batch_of(b".", timestamp_ms=newest_ms), 0)
    with monkeypatch.context() as patched:
        for module, write in FULL[room_for].items():
            patched.setattr(f"broker.log.{module}.write_at", write)
        while log.log_end_offset < 16 or (is_rolled and len(log.segments) < 2):
            log.append(batch_of(b".", timestamp_ms=time_of(log.log_end_offset)), 0)
        log.flush()
        log.store_clean_state()
    log.close()
    again = Log.open(log.directory, CONFIG, is_clean=True)
    assert again.segments[0].max_timestamp == newest_ms
    assert again.max_timestamp_offset() == (4, newest_ms)

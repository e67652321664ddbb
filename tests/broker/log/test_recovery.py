"""Opening a log again: after a clean stop, after kill -9, after damage."""

import os
import shutil
import signal
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from broker.common.errors import ApiError, ErrorCode
from broker.log.config import LogConfig
from broker.log.log import Log
from broker.records.batch import iterate_headers
from tests.examples import some

CONFIG = LogConfig(segment_bytes=2_000, index_interval_bytes=150)
ROOT = Path(__file__).parents[3]


@pytest.fixture
def directory(tmp_path, batch_of):
    """Two sealed segments and an active one with several index entries, left without a word as kill -9 does."""
    log = Log.open(tmp_path / "t-0", CONFIG)
    while len(log.segments) < 3 or log.segments[-1].size_bytes < 1_200:
        number = log.log_end_offset
        log.append(batch_of(b"%d" % number, b"%d" % (number + 1), timestamp_ms=number), 0)
    log.store_clean_state()
    return tmp_path / "t-0"


def files(directory: Path, suffix: str) -> list[Path]:
    return sorted(directory.glob("*" + suffix))


def values(count: int) -> list[tuple[int, bytes]]:
    return [(offset, b"%d" % offset) for offset in range(count)]


def last_batch_start(path: Path) -> int:
    return list(iterate_headers(path.read_bytes()))[-1][0]


@pytest.mark.parametrize("is_clean", [True, False])
def test_reopened_log_is_as_it_was_and_goes_on(directory, records_of, batch_of, is_clean):
    before = Log.open(directory, CONFIG)
    log = Log.open(directory, CONFIG, is_clean=is_clean)
    assert log.log_end_offset == before.log_end_offset > 40
    assert log.size_bytes == before.size_bytes
    assert records_of(log) == values(log.log_end_offset)
    end = log.log_end_offset
    assert log.append(batch_of(b"%d" % end), 1).base_offset == end
    assert records_of(Log.open(directory, CONFIG)) == values(end + 1)


@pytest.mark.parametrize("is_clean", [True, False])
def test_tail_torn_at_every_byte_of_the_last_batch_is_cut(directory, tmp_path, records_of, batch_of, is_clean):
    active = files(directory, ".log")[-1]
    start, whole = last_batch_start(active), active.stat().st_size
    count = Log.open(directory, CONFIG).log_end_offset
    for size in some(range(start, whole)):
        torn = tmp_path / "torn"
        shutil.copytree(directory, torn)
        os.truncate(torn / active.name, size)
        log = Log.open(torn, CONFIG, is_clean=is_clean)
        assert log.log_end_offset == count - 2
        assert (torn / active.name).stat().st_size == start
        log.append(batch_of(b"%d" % (count - 2)), 0)
        assert records_of(log) == values(count - 1)
        shutil.rmtree(torn)


def test_last_batch_with_any_byte_changed_is_cut(directory, tmp_path):
    """But for base offset and leader epoch, which the CRC leaves out."""
    active = files(directory, ".log")[-1]
    good = active.read_bytes()
    start = last_batch_start(active)
    count = Log.open(directory, CONFIG).log_end_offset
    for at in some([*range(start + 8, start + 12), *range(start + 16, len(good))]):
        bad = bytearray(good)
        bad[at] ^= 0x01
        active.write_bytes(bad)
        assert Log.open(directory, CONFIG).log_end_offset == count - 2, at - start
        assert active.stat().st_size == start


@pytest.mark.parametrize(
    "tail", [b"\0" * 5_000, b"\xff" * 61, b"x", os.urandom(300)], ids=["zeros", "ff", "x", "random"]
)
@pytest.mark.parametrize("is_clean", [True, False])
def test_garbage_tail_is_cut(directory, records_of, tail, is_clean):
    active = files(directory, ".log")[-1]
    size, count = active.stat().st_size, Log.open(directory, CONFIG).log_end_offset
    with active.open("ab") as file:
        file.write(tail)
    log = Log.open(directory, CONFIG, is_clean=is_clean)
    assert active.stat().st_size == size
    assert records_of(log) == values(count)


def test_batch_that_repeats_an_offset_is_cut(directory, records_of):
    """What an earlier, failed write may leave behind: intact by itself, but an offset must not mean two things."""
    active = files(directory, ".log")[-1]
    content = active.read_bytes()
    active.write_bytes(content + content[last_batch_start(active) :])
    log = Log.open(directory, CONFIG)
    assert active.read_bytes() == content
    assert records_of(log) == values(log.log_end_offset)


def test_active_segment_torn_in_its_first_batch_becomes_empty(directory, records_of, batch_of):
    *_, active = files(directory, ".log")
    os.truncate(active, 30)
    log = Log.open(directory, CONFIG)
    assert log.log_end_offset == int(active.stem)
    log.append(batch_of(b"%d" % log.log_end_offset), 0)
    assert records_of(log) == values(log.log_end_offset)


def test_file_of_nothing_but_garbage_opens_empty(tmp_path):
    directory = tmp_path / "t-0"
    directory.mkdir()
    (directory / f"{0:020d}.log").write_bytes(bytes(range(256)) * 40)
    assert Log.open(directory, CONFIG).log_end_offset == 0


def entries(*pairs: tuple[int, int]) -> bytes:
    return b"".join(struct.pack(">ii", *pair) for pair in pairs)


BAD_INDEXES = {
    "missing": lambda good: None,
    "empty": lambda good: b"",
    "zeroed": lambda good: bytes(len(good)),
    "preallocated": lambda good: good + bytes(10_000),
    "oversized": lambda good: good + entries((10**6, 10**6), (10**6 + 1, 10**6 + 9)),
    "torn": lambda good: good[:-3],
    "short": lambda good: good[:8],
    "random": lambda good: bytes(range(200, 256)) * 3,
    "not increasing": lambda good: good + good,
    "negative": lambda good: entries((-5, 10)) + good,
    "no batch there": lambda good: entries((1, 7)),
    "no batch there, in the middle": lambda good: entries((struct.unpack_from(">i", good)[0] - 2, 3)) + good[8:],
    "another batch there": lambda good: good[:4] + good[12:16] + good[8:12] + good[20:24],
    "another batch there, in the middle": lambda good: good[:4] + good[12:16] + good[16:],
}


@pytest.mark.parametrize("is_clean", [True, False])
@pytest.mark.parametrize("damage", BAD_INDEXES)
@pytest.mark.parametrize("segment", [0, -1], ids=["sealed", "active"])
def test_bad_index_changes_nothing_for_readers(directory, records_of, segment, damage, is_clean):
    end = Log.open(directory, CONFIG).log_end_offset
    path = files(directory, ".index")[segment]
    good = path.read_bytes()
    assert len(good) >= 24, "the scenario needs an index with a few entries"
    bad = BAD_INDEXES[damage](good)
    if bad is None:
        path.unlink()
    else:
        path.write_bytes(bad)
    log = Log.open(directory, CONFIG, is_clean=is_clean)
    for fetch_offset in range(end):
        data = log.read(fetch_offset, 150, end).read()
        assert next(iterate_headers(data))[1].base_offset == fetch_offset // 2 * 2
        assert len(data) <= 150
    assert records_of(log) == values(end)


def test_sealed_index_that_lies_is_rewritten(directory):
    path = files(directory, ".index")[0]
    good = path.read_bytes()
    path.write_bytes(BAD_INDEXES["no batch there"](good))
    Log.open(directory, CONFIG)
    assert path.read_bytes() == good


def test_index_of_the_active_segment_is_what_kafka_would_have_written(directory):
    """An entry is the last offset and the start of the first batch after each interval."""
    log = Log.open(directory, CONFIG)
    log.flush()
    for data_path, index_path in zip(files(directory, ".log"), files(directory, ".index"), strict=True):
        expected, since = b"", 0
        for at, header in iterate_headers(data_path.read_bytes()):
            if since > 150:
                expected += entries((header.last_offset - int(data_path.stem), at))
                since = 0
            since += header.size_bytes
        assert index_path.read_bytes() == expected


def test_damage_below_the_recovery_point_is_told_and_neither_cut_nor_skipped(directory):
    sealed = files(directory, ".log")[0]
    content = bytearray(sealed.read_bytes())
    positions = [at for at, _ in iterate_headers(content)]
    hit = len(positions) // 2
    content[positions[hit] + 16] = 0x7F
    sealed.write_bytes(content)
    log = Log.open(directory, CONFIG, recovery_point=int(files(directory, ".log")[1].stem))
    end = log.log_end_offset
    for fetch_offset in range(2 * hit):
        data = log.read(fetch_offset, 150, end).read()
        assert next(iterate_headers(data))[1].base_offset == fetch_offset // 2 * 2
    for fetch_offset in (2 * hit, 2 * hit + 1, 2 * hit + 2):
        with pytest.raises(ApiError) as caught:
            log.read(fetch_offset, 150, end)
        assert caught.value.code is ErrorCode.CORRUPT_MESSAGE
    assert log.read(log.segments[1].base_offset, 150, end).length > 0
    with pytest.raises(ApiError) as caught:
        log.offset_for_timestamp(2 * hit)
    assert caught.value.code is ErrorCode.CORRUPT_MESSAGE


def test_log_left_uncleanly_fsyncs_everything_at_the_next_flush(directory, monkeypatch):
    synced = []
    monkeypatch.setattr(
        "broker.log.segment.fsync_file", lambda file: synced.append(os.readlink(f"/proc/self/fd/{file.fd}"))
    )
    log = Log.open(directory, CONFIG)
    assert log.recovery_point == 0
    log.flush()
    assert [path for path in synced if path.endswith(".log")] == [str(path) for path in files(directory, ".log")]


def test_leftovers_of_interrupted_steps_are_removed(directory, records_of):
    (directory / f"{999:020d}.index").write_bytes(b"no segment of that name")
    (directory / "partition.metadata.tmp").write_bytes(b"half")
    log = Log.open(directory, CONFIG)
    assert records_of(log) == values(log.log_end_offset)
    assert not (directory / f"{999:020d}.index").exists()
    assert not (directory / "partition.metadata.tmp").exists()


WRITER = """
import sys
from pathlib import Path
from broker.log.config import LogConfig
from broker.log.log import Log
from broker.records.builder import build_batch
from broker.records.record import Record

log = Log.open(Path(sys.argv[1]), LogConfig(segment_bytes=20_000, index_interval_bytes=500))
while True:
    offset = log.log_end_offset
    log.append(build_batch([Record(0, offset, None, b"%d" % offset)]), 0)
    print(offset, flush=True)
"""


def test_no_acknowledged_record_is_lost_by_kill_9(tmp_path, records_of):
    directory = tmp_path / "t-0"
    for _ in range(3):
        writer = subprocess.Popen([sys.executable, "-c", WRITER, directory], stdout=subprocess.PIPE, cwd=ROOT)
        try:
            for line in writer.stdout:
                if int(line) % 400 == 399:
                    break
            writer.send_signal(signal.SIGKILL)
            acknowledged = [int(line), *(int(rest) for rest in writer.stdout if rest.endswith(b"\n"))][-1]
        finally:
            writer.kill()
            writer.wait()
            writer.stdout.close()
        log = Log.open(directory, LogConfig())
        assert log.log_end_offset >= acknowledged + 1
        assert records_of(log) == values(log.log_end_offset)

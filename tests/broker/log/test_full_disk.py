"""A disk that takes no more: nothing is acknowledged, nothing is left behind, the log goes on when there is room."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from broker.common.errors import ApiError, ErrorCode
from broker.log.config import LogConfig
from broker.log.files import write_at
from broker.log.log import Log

ROOT = Path(__file__).parents[3]


@pytest.fixture
def log(tmp_path, batch_of):
    log = Log.open(tmp_path / "t-0", LogConfig())
    log.append(batch_of(b"first"), 0)
    return log


@pytest.fixture
def full_disk(monkeypatch):
    """Call it with the number of bytes of the next writes that still fit."""

    def fill(room: int) -> None:
        def writing(file, data, position):
            write_at(file, memoryview(data)[:room], position)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr("broker.log.segment.write_at", writing)

    return fill


def test_failed_append_leaves_neither_bytes_nor_offsets(log, batch_of, records_of, full_disk, monkeypatch):
    file, size = log.directory / f"{0:020d}.log", log.size_bytes
    refused = batch_of(b"refused" * 10)
    before = bytes(refused)
    for room in range(len(refused) + 1):
        full_disk(room)
        with pytest.raises(ApiError) as caught:
            log.append(refused, 5)
        assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR
        assert "No space left" in caught.value.message
        assert (refused, log.log_end_offset, log.size_bytes, file.stat().st_size) == (before, 1, size, size)
        assert records_of(log) == [(0, b"first")]
    monkeypatch.undo()
    assert log.append(batch_of(b"second"), 0).base_offset == 1
    for opened in (log, Log.open(log.directory, LogConfig())):
        assert records_of(opened) == [(0, b"first"), (1, b"second")]


def test_a_disk_that_stays_full_is_told_of_once_until_something_was_appended(log, batch_of, monkeypatch, capsys):
    def refuse(file, data, position):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    messages = []
    for _ in range(2):
        with monkeypatch.context() as full:
            full.setattr("broker.log.segment.write_at", refuse)
            for _ in range(5):
                with pytest.raises(ApiError):
                    log.append(batch_of(b"refused"), 0)
        messages.append(capsys.readouterr().out.count("append failed"))
        log.append(batch_of(b"there is room"), 0)
    assert messages == [1, 1]


def test_partial_write_that_cannot_be_removed_ends_writing(log, batch_of, records_of, full_disk, monkeypatch):
    """Were a shorter batch written over it, its rest could be taken for a batch by recovery."""
    full_disk(30)

    def refusing(fd, size):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as broken:
        broken.setattr("os.ftruncate", refusing)
        with pytest.raises(ApiError):
            log.append(batch_of(b"refused"), 0)
    monkeypatch.undo()
    with pytest.raises(ApiError, match="could not be removed"):
        log.append(batch_of(b"late"), 0)
    assert records_of(log) == [(0, b"first")]
    assert records_of(Log.open(log.directory, LogConfig())) == [(0, b"first")]


def test_segment_that_cannot_be_created_leaves_the_old_one_active(tmp_path, batch_of, records_of, monkeypatch):
    log = Log.open(tmp_path / "t-0", LogConfig(segment_bytes=200))
    log.append(batch_of(b"x" * 50), 0)

    def refusing(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as broken:
        broken.setattr("broker.log.segment.Segment.create", refusing)
        with pytest.raises(ApiError) as caught:
            log.append(batch_of(b"y" * 50), 0)
    assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert (len(log.segments), log.log_end_offset) == (1, 1)
    assert log.append(batch_of(b"z" * 50), 0).base_offset == 1
    assert records_of(log) == [(0, b"x" * 50), (1, b"z" * 50)]
    assert len(log.segments) == 2


def test_index_that_cannot_be_written_is_no_harm(tmp_path, batch_of, records_of, monkeypatch):
    config = LogConfig(segment_bytes=1_000, index_interval_bytes=100)
    log = Log.open(tmp_path / "t-0", config)

    def refusing(path, index):
        if len(index):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        path.touch()

    monkeypatch.setattr("broker.log.segment.store_index", refusing)
    for number in range(30):
        log.append(batch_of(b"%d" % number), 0)
    log.flush()
    assert {path.stat().st_size for path in log.directory.glob("*.index")} == {0}
    expected = [(number, b"%d" % number) for number in range(30)]
    for is_clean in (False, True):
        assert records_of(Log.open(log.directory, config, is_clean=is_clean), max_bytes=200) == expected


LIMITED = """
import resource, sys
from pathlib import Path
from broker.common.errors import ApiError
from broker.common.logs import configure_logs
from broker.log.config import LogConfig
from broker.log.log import Log
from broker.records.builder import build_batch
from broker.records.record import Record

configure_logs()
log = Log.open(Path(sys.argv[1]), LogConfig())
batch = lambda: build_batch([Record(0, 1, None, bytes(1_000))])
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, resource.RLIM_INFINITY))
acknowledged = 0
try:
    while True:
        log.append(batch(), 0)
        acknowledged += 1
except ApiError as error:
    on_disk = next(log.directory.glob("*.log")).stat().st_size
    print(error.code.name, acknowledged, log.log_end_offset, log.size_bytes == on_disk)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
print(log.append(batch(), 0).base_offset)
"""


def test_real_limit_of_the_kernel_is_met_in_the_middle_of_a_batch(tmp_path, records_of):
    answer = subprocess.run(
        [sys.executable, "-c", LIMITED, tmp_path / "t-0"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert answer.stdout.split() == ["KAFKA_STORAGE_ERROR", "9", "9", "True", "9"]
    assert records_of(Log.open(tmp_path / "t-0", LogConfig())) == [(offset, bytes(1_000)) for offset in range(10)]

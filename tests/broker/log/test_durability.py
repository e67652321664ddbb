"""What is fsynced and stored at a stop, and what need not be, because nobody has touched it since the last one."""

import errno
import os
import time
from pathlib import Path

import pytest

from broker.common.errors import ApiError
from broker.log import durability, leader_epoch_file, segment
from broker.log.config import LogConfig
from broker.log.leader_epoch_file import StoredEpochs
from broker.log.leader_epochs import EpochEntry, LeaderEpochs
from broker.log.log import Log

CONFIG = LogConfig(segment_bytes=300)


@pytest.fixture
def directory(tmp_path, batch_of):
    """A log of several segments and two epochs after a clean stop."""
    log = Log.open(tmp_path / "t-0", CONFIG)
    for number in range(12):
        log.append(batch_of(b"%d" % number), number // 10)
    log.flush()
    log.store_clean_state()
    log.close()
    return log.directory


@pytest.fixture
def synced(monkeypatch):
    """Names of what was fsynced, as they came."""
    names = []
    for module in (segment, leader_epoch_file):
        monkeypatch.setattr(
            module, "fsync_file", lambda file: names.append(os.readlink(f"/proc/self/fd/{file.fd}").split("/")[-1])
        )
    monkeypatch.setattr(durability, "fsync_directory", lambda path: names.append(path.name))
    return names


def stop(log: Log) -> None:
    log.flush()
    log.store_clean_state()


def written_at(directory) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in directory.iterdir()}


def test_log_untouched_since_a_clean_stop_is_neither_fsynced_nor_stored_again(directory, synced):
    before = written_at(directory)
    log = Log.open(directory, CONFIG, is_clean=True)
    assert log.recovery_point == log.log_end_offset == 12
    time.sleep(0.02)  # files written from here on have another time
    stop(log)
    assert synced == []
    assert written_at(directory) == before


def test_log_whose_stop_was_not_clean_is_fsynced_though_it_ends_at_the_recovery_point(directory, synced):
    log = Log.open(directory, CONFIG, recovery_point=12)
    log.flush()
    assert log.segments[-1].files.log.name in synced
    assert "leader-epoch-checkpoint" in synced


@pytest.mark.parametrize(
    ("touch", "expected"),
    [
        (lambda log, batch_of: log.append(batch_of(b"more"), 1), 13),
        (lambda log, batch_of: log.truncate_to(11), 11),
        (lambda log, batch_of: log.truncate_to(log.segments[-1].base_offset), None),
        (lambda log, batch_of: (log.truncate_to(11), log.append(batch_of(b"other"), 1)), 12),
        (lambda log, batch_of: log.truncate_fully_and_start_at(12), 12),
        (lambda log, batch_of: log._writer.roll(), 12),
    ],
    ids=["append", "cut", "cut a segment", "cut and grown again", "start over", "roll"],
)
def test_log_that_was_touched_is_fsynced_and_stored(directory, synced, batch_of, touch, expected):
    log = Log.open(directory, CONFIG, is_clean=True)
    touch(log, batch_of)
    end = log.log_end_offset
    assert end == (expected or end)
    stop(log)
    assert log.segments[-1].files.log.name in synced
    assert (directory / f"{end:020d}.snapshot").exists()
    synced.clear()
    log.flush()
    assert synced == []


def test_leader_epoch_under_which_nothing_is_written_is_fsynced(directory, synced):
    log = Log.open(directory, CONFIG, is_clean=True)
    log.begin_leader_epoch(7)
    log.flush()
    assert "leader-epoch-checkpoint" in synced


def test_damage_found_after_a_clean_stop_is_fsynced_when_mended(directory, synced):
    with sorted(directory.glob("*.log"))[-1].open("ab") as file:
        file.write(b"torn")
    log = Log.open(directory, CONFIG, is_clean=True)
    log.flush()
    assert log.segments[-1].files.log.name in synced


def test_a_flush_for_which_no_file_could_be_opened_breaks_nothing_and_is_made_up_for(tmp_path, batch_of, monkeypatch):
    """What the disk was asked and has not done is lost for good; here it was not asked."""
    log = Log.open(tmp_path / "t-0", CONFIG)
    messages = []
    log.on_disk_error = messages.append
    for number in range(12):
        log.append(batch_of(b"%d" % number), 0)

    def none_left(*_arguments, **_options):
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    with monkeypatch.context() as patched:
        patched.setattr(segment, "SharedFile", none_left)
        with pytest.raises(ApiError, match="Too many open files"):
            log.flush()
    assert (messages, log.recovery_point) == ([], 0)
    log.append(batch_of(b"12"), 0)
    log.flush()
    assert log.recovery_point == 13


def test_leader_epochs_do_not_count_as_synced_while_their_fsync_is_not_done(directory, monkeypatch):
    """What relies on them meanwhile, a second name for the file or another flush, would rely on a file that may go."""
    epochs = StoredEpochs(directory, LeaderEpochs([EpochEntry(0, 0)]))
    seen = []
    monkeypatch.setattr(leader_epoch_file, "fsync_file", lambda _file: seen.append(epochs.is_synced))
    epochs.flush()
    assert (seen, epochs.is_synced) == ([False], True)


@pytest.mark.parametrize("error", [OSError(errno.EIO, "the disk fails"), MemoryError()])
def test_leader_epochs_whose_fsync_failed_do_not_count_as_synced(directory, monkeypatch, error):
    epochs = StoredEpochs(directory, LeaderEpochs([EpochEntry(0, 0)]))

    def fail(_file):
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(leader_epoch_file, "fsync_file", fail)
        with pytest.raises(type(error)):
            epochs.flush()
    assert not epochs.is_synced
    epochs.flush()
    assert epochs.is_synced


def test_leader_epochs_written_while_earlier_ones_are_fsynced_do_not_count_as_synced(directory, monkeypatch):
    epochs = StoredEpochs(directory, LeaderEpochs([EpochEntry(0, 0)]))
    monkeypatch.setattr(leader_epoch_file, "fsync_file", lambda _file: epochs.assign(7, 12))
    epochs.flush()
    assert not epochs.is_synced
    assert not (directory / leader_epoch_file.SYNCED_EPOCHS).exists()
    monkeypatch.undo()
    epochs.flush()
    assert epochs.is_synced


def test_a_snapshot_that_could_not_be_written_does_not_count_as_one(directory, monkeypatch):
    log = Log.open(directory, CONFIG, is_clean=True)
    producers = log._writer._producers
    producers.is_noted = False

    def fail(*_arguments):
        raise OSError(errno.ENOSPC, "no space left")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_bytes", fail)
        log.store_clean_state()
    assert not producers.is_noted
    log.store_clean_state()
    assert producers.is_noted

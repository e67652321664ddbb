"""Which logs may have lost their end in the stop before this start (trap 11, KIP-966)."""

import errno
import os
from pathlib import Path
from uuid import UUID

import pytest

from broker.common.types import TopicPartition
from broker.log import directory, offset_checkpoint
from broker.log.config import LogConfig
from broker.log.manager import LogManager

TOPIC = UUID(int=1)
WRITTEN, FLUSHED, EMPTY = (TopicPartition(name, 0) for name in ("written", "flushed", "empty"))


@pytest.fixture
def boot(tmp_path, monkeypatch):
    """Says which start of the machine this is."""
    file = tmp_path / "boot_id"
    file.write_text("first")
    monkeypatch.setattr(directory, "_BOOT_ID", file)
    return file


@pytest.fixture
def start(tmp_path, boot):
    started = []

    def start_manager(*further: Path) -> LogManager:
        manager = LogManager([tmp_path / "a", tmp_path / "b", *further], LogConfig(), 1, "c1")
        started.append(manager)
        manager.load_all()
        return manager

    yield start_manager
    for manager in started:
        manager.shutdown()


@pytest.fixture
def manager(start, batch_of):
    """One log with records that are not fsynced, one whose records all are, one without any."""
    manager = start()
    manager.note_machine_start()
    for partition in (WRITTEN, FLUSHED, EMPTY):
        manager.get_or_create(partition, TOPIC)
    for partition in (WRITTEN, FLUSHED):
        for _ in range(5):
            manager.get(partition).append(batch_of(b"x"), 0)
    manager.get(FLUSHED).flush()
    manager.checkpoint_recovery_points()
    manager.store_high_watermarks({WRITTEN: 5, FLUSHED: 5})
    return manager


def kill(manager: LogManager) -> None:
    """What the death of the process does: locks go, nothing is written, nothing can be any more."""
    for item in manager._directories:
        item.is_loaded = False
    manager._unlock()


def doubtful(manager: LogManager) -> set[TopicPartition]:
    return {partition for partition in (WRITTEN, FLUSHED, EMPTY) if not manager.has_whole(partition, TOPIC)}


def cut_file(log_path: Path, count: int) -> None:
    os.truncate(log_path, log_path.stat().st_size - count)


def test_logs_made_since_the_start_are_beyond_doubt(manager):
    assert doubtful(manager) == set()


def test_no_log_and_the_log_of_an_earlier_topic_are_not_whole(manager):
    assert not manager.has_whole(TopicPartition("unknown", 0), TOPIC)
    assert not manager.has_whole(WRITTEN, UUID(int=2))


def test_kill_leaves_no_doubt_because_the_page_cache_stays(manager, start):
    kill(manager)
    again = start()
    assert doubtful(again) == set()
    assert not again.may_lack_records


def test_trap_11_every_log_is_in_doubt_after_the_machine_went_down_unclean(manager, start, boot):
    kill(manager)
    boot.write_text("second")
    again = start()
    assert doubtful(again) == {WRITTEN, FLUSHED, EMPTY}
    assert again.get(WRITTEN).log_end_offset == 5, "as it happens, nothing was lost"


def test_machine_that_is_restarted_after_a_clean_stop_has_lost_nothing(manager, start, boot):
    manager.shutdown()
    boot.write_text("second")
    assert not start().may_lack_records


def test_doubt_outlasts_kills_until_it_has_been_dealt_with(manager, start, boot):
    kill(manager)
    boot.write_text("second")
    kill(start())
    again = start()
    assert doubtful(again) == {WRITTEN, FLUSHED, EMPTY}
    again.note_machine_start()
    kill(again)
    assert doubtful(start()) == set()


def test_doubt_lasts_as_long_as_the_process_and_ends_with_a_clean_stop(manager, start, boot):
    kill(manager)
    boot.write_text("second")
    again = start()
    again.flush_due(0)
    again.get(WRITTEN).flush()
    assert WRITTEN in doubtful(again)
    again.shutdown()
    assert doubtful(start()) == set()


def test_directory_nobody_has_served_from_may_stand_where_another_was(manager, tmp_path, start):
    kill(manager)
    again = start(tmp_path / "c")
    assert again.may_lack_records
    assert doubtful(again) == set(), "what is here is whole"
    again.note_machine_start()
    kill(again)
    assert not start(tmp_path / "c").may_lack_records


def test_fsynced_log_that_is_shorter_than_it_was_is_in_doubt(manager, start):
    path = manager.get(FLUSHED).segments[0].files.log
    kill(manager)
    cut_file(path, 1)
    assert FLUSHED in doubtful(start())


def test_log_that_ends_where_it_was_fsynced_but_was_replicated_further_is_in_doubt(manager, start, batch_of):
    log = manager.get(FLUSHED)
    size = log.size_bytes
    log.append(batch_of(b"lost"), 0)
    manager.store_high_watermarks({FLUSHED: 6})
    kill(manager)
    cut_file(log.segments[0].files.log, log.size_bytes - size)
    assert FLUSHED in doubtful(start())


@pytest.mark.parametrize("cut_bytes", [1, 30])
def test_log_whose_end_was_torn_is_in_doubt_though_nothing_noted_reaches_so_far(manager, start, batch_of, cut_bytes):
    log = manager.get(FLUSHED)
    log.append(batch_of(b"acknowledged since the last checkpoint"), 0)
    kill(manager)
    cut_file(log.segments[0].files.log, cut_bytes)
    assert doubtful(start()) == {FLUSHED}


def test_doubt_about_a_torn_log_outlasts_kills_until_it_has_been_dealt_with(manager, start, batch_of):
    log = manager.get(FLUSHED)
    log.append(batch_of(b"acknowledged since the last checkpoint"), 0)
    kill(manager)
    cut_file(log.segments[0].files.log, 1)
    kill(start())
    again = start()
    assert FLUSHED in doubtful(again), "it has been mended, and ends with a whole batch"
    again.note_machine_start()
    kill(again)
    assert doubtful(start()) == set()


def test_clean_stop_leaves_no_doubt_unless_the_file_is_shorter_now(manager, start):
    path = manager.get(WRITTEN).segments[0].files.log
    manager.shutdown()
    again = start()
    assert doubtful(again) == set()
    again.shutdown()
    cut_file(path, 1)
    assert doubtful(start()) == {WRITTEN}


def test_directories_are_judged_one_by_one(manager, start, boot):
    path = manager.get(WRITTEN).directory.parent
    manager.shutdown()
    (path / ".kafka_cleanshutdown").unlink()
    boot.write_text("second")
    again = start()
    expected = {item for item in (WRITTEN, FLUSHED, EMPTY) if again.get(item).directory.parent == path}
    assert doubtful(again) == expected


def test_topic_made_anew_is_beyond_doubt(manager, start, boot):
    kill(manager)
    boot.write_text("second")
    again = start()
    again.delete(WRITTEN)
    again.get_or_create(WRITTEN, UUID(int=2))
    assert again.has_whole(WRITTEN, UUID(int=2))


@pytest.mark.parametrize("damage", [None, b"", b"0\n5\n"], ids=["missing", "empty", "cut off"])
@pytest.mark.parametrize("name", ["recovery-point-offset-checkpoint", "replication-offset-checkpoint"])
@pytest.mark.parametrize("is_clean", [True, False])
def test_logs_of_which_nothing_is_noted_are_in_doubt_however_they_were_left(manager, start, name, damage, is_clean):
    """They may come from a backup, without the files that would have told that they went on."""
    path = manager.get(WRITTEN).directory.parent
    manager.shutdown() if is_clean else kill(manager)
    (path / name).unlink() if damage is None else (path / name).write_bytes(damage)
    again = start()
    expected = {item for item in (WRITTEN, FLUSHED, EMPTY) if again.get(item).directory.parent == path}
    assert doubtful(again) == expected
    kill(again)
    again = start()
    assert doubtful(again) == expected, "until it has been dealt with"
    again.note_machine_start()
    kill(again)
    assert doubtful(start()) == set()


def test_a_directory_killed_right_after_its_first_start_has_its_notes(start, tmp_path):
    manager = start()
    manager.get_or_create(WRITTEN, TOPIC)
    manager.note_machine_start()
    kill(manager)
    again = start()
    assert doubtful(again) == {FLUSHED, EMPTY}, "those were never made"
    assert not again.may_lack_records


def test_a_full_disk_lets_a_broker_start_that_cannot_note_what_is_missing(manager, start, monkeypatch):
    for item in manager._directories:
        (item.path / "recovery-point-offset-checkpoint").unlink()
    kill(manager)
    with monkeypatch.context() as full:
        full.setattr(offset_checkpoint, "write_offset_checkpoint", _refuse)
        full.setattr(directory.LogDirectory, "note_damage", _refuse)
        again = start()
    assert doubtful(again) == {WRITTEN, FLUSHED, EMPTY}
    assert not again.offline_directories


def test_a_first_start_on_a_full_disk_goes_on_without_notes(start, monkeypatch):
    monkeypatch.setattr(offset_checkpoint, "write_offset_checkpoint", _refuse)
    assert not start().offline_directories


def _refuse(*_arguments) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")

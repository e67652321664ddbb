"""Which logs may have lost their end in the stop before this start (trap 11, KIP-966)."""

import os
from pathlib import Path
from uuid import UUID

import pytest

from broker.common.types import TopicPartition
from broker.log.config import LogConfig
from broker.log.manager import LogManager

WRITTEN, FLUSHED, EMPTY = (TopicPartition(name, 0) for name in ("written", "flushed", "empty"))


@pytest.fixture
def start(tmp_path):
    started = []

    def start_manager() -> LogManager:
        manager = LogManager([tmp_path / "a", tmp_path / "b"], LogConfig(), 1, "c1")
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
    for partition in (WRITTEN, FLUSHED, EMPTY):
        manager.get_or_create(partition, UUID(int=1))
    for partition in (WRITTEN, FLUSHED):
        for _ in range(5):
            manager.get(partition).append(batch_of(b"x"), 0)
    manager.get(FLUSHED).flush()
    manager.checkpoint_recovery_points()
    manager.store_high_watermarks({WRITTEN: 5, FLUSHED: 5})
    return manager


def kill(manager: LogManager) -> None:
    """What the death of the process does: locks go, nothing is written, nothing can be any more."""
    for directory in manager._directories:
        directory.is_loaded = False
    manager._unlock()


def doubtful(manager: LogManager) -> set[TopicPartition]:
    return {partition for partition in (WRITTEN, FLUSHED, EMPTY) if manager.started_unclean(partition)}


def cut_file(log_path: Path, count: int) -> None:
    os.truncate(log_path, log_path.stat().st_size - count)


def test_logs_made_since_the_start_are_beyond_doubt(manager):
    assert doubtful(manager) == set()
    assert not manager.started_unclean(TopicPartition("unknown", 0))


def test_trap_11_log_whose_end_was_not_fsynced_is_in_doubt_after_a_kill(manager, start):
    kill(manager)
    again = start()
    assert doubtful(again) == {WRITTEN}
    assert again.get(WRITTEN).log_end_offset == 5, "as it happens, nothing was lost"


def test_doubt_lasts_as_long_as_the_process_and_ends_with_a_clean_stop(manager, start):
    kill(manager)
    again = start()
    again.flush_due(0)
    again.get(WRITTEN).flush()
    assert doubtful(again) == {WRITTEN}
    again.shutdown()
    assert doubtful(start()) == set()


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


def test_clean_stop_leaves_no_doubt_unless_the_file_is_shorter_now(manager, start):
    path = manager.get(WRITTEN).segments[0].files.log
    manager.shutdown()
    again = start()
    assert doubtful(again) == set()
    again.shutdown()
    cut_file(path, 1)
    assert doubtful(start()) == {WRITTEN}


def test_directories_are_judged_one_by_one(manager, start):
    path = manager.get(WRITTEN).directory.parent
    manager.shutdown()
    (path / ".kafka_cleanshutdown").unlink()
    (path / "recovery-point-offset-checkpoint").unlink()
    again = start()
    expected = {each for each in (WRITTEN, FLUSHED) if again.get(each).directory.parent == path}
    assert doubtful(again) == expected


def test_topic_made_anew_is_beyond_doubt(manager, start):
    kill(manager)
    again = start()
    again.delete(WRITTEN)
    again.get_or_create(WRITTEN, UUID(int=2))
    assert doubtful(again) == set()

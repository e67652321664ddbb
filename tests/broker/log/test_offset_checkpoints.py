"""What a manager notes of its logs from time to time, and what the next start makes of it."""

from pathlib import Path
from threading import Thread
from uuid import UUID

import pytest

from broker.common.errors import ApiError, ErrorCode
from broker.common.types import TopicPartition
from broker.log import offset_checkpoint
from broker.log.checkpoints import read_offset_checkpoint
from broker.log.config import LogConfig
from broker.log.manager import LogManager
from broker.log.offset_checkpoint import OffsetCheckpoint

ORDERS_0, ORDERS_1 = TopicPartition("orders", 0), TopicPartition("orders", 1)
FIRST_ID, SECOND_ID = UUID(int=1), UUID(int=2)
CONFIG = LogConfig(segment_bytes=400, index_interval_bytes=100, file_delete_delay_ms=50)
RECOVERY, START, REPLICATION = (
    f"{name}-checkpoint" for name in ("recovery-point-offset", "log-start-offset", "replication-offset")
)


@pytest.fixture
def start(tmp_path):
    started = []

    def start_manager(*names: str) -> LogManager:
        manager = LogManager([tmp_path / name for name in names or ("data",)], CONFIG, 1, "c1")
        started.append(manager)
        manager.load_all()
        return manager

    yield start_manager
    for manager in started:
        manager.shutdown()


@pytest.fixture
def manager(start, batch_of):
    """Two partitions of several segments."""
    manager = start()
    for partition in (ORDERS_0, ORDERS_1):
        log = manager.get_or_create(partition, FIRST_ID)
        while len(log.segments) < 3:
            log.append(batch_of(b"%d" % log.log_end_offset), 0)
    return manager


def kill(manager: LogManager) -> None:
    """What the death of the process does: locks go, nothing is written, nothing can be any more."""
    for directory in manager._directories:
        directory.is_loaded = False
    manager._unlock()


def noted(tmp_path: Path, name: str) -> dict[TopicPartition, int]:
    return read_offset_checkpoint(tmp_path / "data" / name)


def test_recovery_points_are_noted_and_trusted_by_the_next_start(manager, start, tmp_path):
    end = manager.get(ORDERS_0).log_end_offset
    assert manager.flush_due(0) == 2
    manager.checkpoint_recovery_points()
    assert noted(tmp_path, RECOVERY) == {ORDERS_0: end, ORDERS_1: end}
    first = tmp_path / "data" / "orders-0" / f"{0:020d}.log"
    kill(manager)
    content = bytearray(first.read_bytes())
    content[80] ^= 1
    first.write_bytes(content)
    assert start().get(ORDERS_0).log_end_offset == end, "bit rot below the recovery point is not cut"


def test_log_starts_are_noted(manager, start, tmp_path):
    manager.get(ORDERS_0).delete_records(3, high_watermark=10)
    manager.checkpoint_log_start_offsets()
    assert noted(tmp_path, START) == {ORDERS_0: 3, ORDERS_1: 0}
    kill(manager)
    again = start()
    assert (again.get(ORDERS_0).log_start_offset, again.get(ORDERS_1).log_start_offset) == (3, 0)


def test_clean_stop_notes_log_starts_and_stopping_twice_changes_nothing(manager, start, tmp_path):
    manager.get(ORDERS_1).delete_records(2, high_watermark=10)
    manager.shutdown()
    manager.shutdown()
    assert noted(tmp_path, START) == {ORDERS_0: 0, ORDERS_1: 2}
    assert start().get(ORDERS_1).log_start_offset == 2


def test_high_watermarks_come_back_within_the_bounds_of_the_log(manager, start, tmp_path):
    end = manager.get(ORDERS_0).log_end_offset
    manager.store_high_watermarks({ORDERS_0: 5, ORDERS_1: end + 9, TopicPartition("other", 0): 1})
    assert noted(tmp_path, REPLICATION) == {ORDERS_0: 5, ORDERS_1: end}
    manager.get(ORDERS_0).delete_records(5, high_watermark=5)
    kill(manager)
    again = start()
    assert again.high_watermark_of(ORDERS_0) == 5
    assert again.high_watermark_of(ORDERS_1) == end


@pytest.mark.parametrize("is_killed", [True, False])
def test_topic_made_anew_inherits_nothing_of_the_old_one(manager, start, tmp_path, batch_of, is_killed):
    manager.get(ORDERS_0).delete_records(3, high_watermark=10)
    manager.flush_due(0)
    manager.checkpoint_recovery_points()
    manager.checkpoint_log_start_offsets()
    manager.store_high_watermarks({ORDERS_0: 5, ORDERS_1: 5})
    if is_killed:
        kill(manager)
        manager = start()
    messages = []
    manager.on_cut = lambda *cut: messages.append(cut)
    manager.delete(ORDERS_0)
    manager.get_or_create(ORDERS_0, SECOND_ID).append(batch_of(b"a", b"b", b"c", b"d"), 0)
    assert messages == [(tmp_path / "data", {ORDERS_0: 0})] * 2, "nor is it clean as far as that one was"
    for name in (RECOVERY, START, REPLICATION):
        assert ORDERS_0 not in noted(tmp_path, name)
    assert ORDERS_1 in noted(tmp_path, REPLICATION)
    kill(manager)
    again = start()
    assert (again.get(ORDERS_0).log_start_offset, again.high_watermark_of(ORDERS_0)) == (0, 0)


@pytest.mark.parametrize("name", [RECOVERY, START, REPLICATION])
@pytest.mark.parametrize("damage", [b"", b"garbage\n", b"0\n5\n", None])
def test_checkpoint_that_is_damaged_or_missing_costs_no_record(manager, start, tmp_path, name, damage):
    end = manager.get(ORDERS_0).log_end_offset
    manager.checkpoint_recovery_points()
    manager.checkpoint_log_start_offsets()
    manager.store_high_watermarks({ORDERS_0: 5})
    kill(manager)
    if damage is None:
        (tmp_path / "data" / name).unlink()
    else:
        (tmp_path / "data" / name).write_bytes(damage)
    again = start()
    assert again.get(ORDERS_0).log_end_offset == end


def test_checkpoint_that_says_so_already_is_not_written_again(tmp_path, monkeypatch):
    written = []
    checkpoint = OffsetCheckpoint(tmp_path / "c")
    monkeypatch.setattr("broker.log.offset_checkpoint.write_offset_checkpoint", lambda *args: written.append(args))
    for offsets in ({ORDERS_0: 1}, {ORDERS_0: 1}, {ORDERS_0: 2}):
        checkpoint.store(lambda offsets=offsets: offsets)
        (tmp_path / "c").touch()
    checkpoint.forget(ORDERS_1)
    assert [offsets for _, offsets in written] == [{ORDERS_0: 1}, {ORDERS_0: 2}]


def test_each_directory_notes_its_own_partitions(start, tmp_path):
    manager = start("a", "b")
    for index in range(4):
        manager.get_or_create(TopicPartition("t", index), FIRST_ID)
    manager.checkpoint_recovery_points()
    for name in ("a", "b"):
        checkpoint = read_offset_checkpoint(tmp_path / name / RECOVERY)
        assert {str(partition) for partition in checkpoint} == {path.name for path in (tmp_path / name).glob("t-*")}
        assert len(checkpoint) == 2


def test_segments_let_go_are_purged_in_all_logs(manager):
    for partition in (ORDERS_0, ORDERS_1):
        log = manager.get(partition)
        log.replace_segments(log.segments[:1], [])
    assert manager.purge_segments(0) == 0
    assert manager.purge_segments(50) > 0
    assert not list(manager.get(ORDERS_0).directory.glob("*.deleted"))


def test_high_watermark_that_nobody_noted_is_where_the_log_starts(manager):
    assert manager.high_watermark_of(ORDERS_0) == 0
    assert manager.high_watermark_of(TopicPartition("unknown", 0)) == 0
    manager.get(ORDERS_0).delete_records(4, high_watermark=5)
    assert manager.high_watermark_of(ORDERS_0) == 4


def test_high_watermark_of_a_partition_without_a_role_stays_noted(manager, start, tmp_path):
    """After a start the first LeaderAndIsr may come later than the next note is taken."""
    manager.store_high_watermarks({ORDERS_0: 5, ORDERS_1: 6})
    kill(manager)
    again = start()
    again.store_high_watermarks({ORDERS_1: 7})
    assert noted(tmp_path, REPLICATION) == {ORDERS_0: 5, ORDERS_1: 7}


def test_deleted_partition_leaves_the_file(manager, tmp_path):
    manager.store_high_watermarks({ORDERS_0: 5, ORDERS_1: 6})
    manager.delete(ORDERS_0)
    manager.store_high_watermarks({ORDERS_0: 5, ORDERS_1: 6})
    assert noted(tmp_path, REPLICATION) == {ORDERS_1: 6}


def test_nothing_noted_speaks_of_records_that_were_cut(manager, start, tmp_path):
    """They would be other records by the time somebody reads the note."""
    messages = []
    manager.on_cut = lambda *cut: messages.append(cut)
    log, end = manager.get(ORDERS_0), manager.get(ORDERS_0).log_end_offset
    log.delete_records(6, high_watermark=end)
    manager.flush_due(0)
    manager.checkpoint_recovery_points()
    manager.checkpoint_log_start_offsets()
    manager.store_high_watermarks({ORDERS_0: end, ORDERS_1: end})
    log.truncate_to(5)
    assert messages == [(tmp_path / "data", {ORDERS_0: 5})]
    assert noted(tmp_path, RECOVERY) == {ORDERS_0: 5, ORDERS_1: end}
    assert noted(tmp_path, REPLICATION) == {ORDERS_0: 5, ORDERS_1: end}
    assert noted(tmp_path, START) == {ORDERS_0: 5, ORDERS_1: 0}
    kill(manager)
    again = start().get(ORDERS_0)
    assert (again.log_start_offset, again.log_end_offset, again.recovery_point) == (5, 5, 5)


@pytest.mark.parametrize("offset", [3, 1_000])
def test_nothing_noted_speaks_of_a_log_that_was_emptied(manager, start, tmp_path, offset):
    manager.flush_due(0)
    manager.checkpoint_recovery_points()
    manager.store_high_watermarks({ORDERS_0: 8, ORDERS_1: 8})
    manager.get(ORDERS_0).truncate_fully_and_start_at(offset)
    for name in (RECOVERY, REPLICATION):
        assert noted(tmp_path, name)[ORDERS_0] == 0
    kill(manager)
    again = start()
    log = again.get(ORDERS_0)
    assert (log.log_start_offset, log.log_end_offset, again.high_watermark_of(ORDERS_0)) == (offset, offset, offset)


def test_notes_cannot_be_lowered_on_a_full_disk_so_nothing_is_cut(manager, monkeypatch, records_of):
    manager.store_high_watermarks({ORDERS_0: 8})
    log = manager.get(ORDERS_0)
    before = records_of(log)

    def no_space(path, offsets):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr("broker.log.offset_checkpoint.write_offset_checkpoint", no_space)
        with pytest.raises(ApiError) as caught:
            log.truncate_to(4)
    assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert records_of(log) == before
    assert manager.offline_directories == {}
    log.truncate_to(4)
    assert records_of(log) == before[:4]


def test_what_is_forgotten_is_not_brought_back_by_a_write_under_way(tmp_path, monkeypatch):
    """A topic made anew under the name would begin where the earlier one was deleted up to."""
    checkpoint, write = OffsetCheckpoint(tmp_path / "c"), offset_checkpoint.write_offset_checkpoint
    forgetting = Thread(target=checkpoint.forget, args=[ORDERS_0])

    def write_meanwhile(*arguments) -> None:
        if not forgetting.ident:
            forgetting.start()
            forgetting.join(0.1)
        write(*arguments)

    monkeypatch.setattr(offset_checkpoint, "write_offset_checkpoint", write_meanwhile)
    checkpoint.store(lambda: {ORDERS_0: 7, ORDERS_1: 8})
    forgetting.join()
    assert read_offset_checkpoint(tmp_path / "c") == {ORDERS_1: 8}


def test_a_log_start_that_is_noted_is_not_given_to_a_topic_made_anew(manager, tmp_path):
    manager.note_log_starts(tmp_path / "data", {ORDERS_0: 4})
    manager.delete(ORDERS_0)
    manager.note_log_starts(tmp_path / "data", {ORDERS_0: 4, ORDERS_1: 5})
    assert noted(tmp_path, START) == {ORDERS_0: 4, ORDERS_1: 5}
    manager.get_or_create(ORDERS_0, SECOND_ID)
    assert noted(tmp_path, START) == {ORDERS_1: 5}


def test_a_note_comes_before_the_log_moves_and_no_other_note_takes_it_back(manager, start, tmp_path):
    """The log's owner has not moved its start yet when the time for the regular note comes, or for a smaller one."""
    manager.note_log_starts(tmp_path / "data", {ORDERS_0: 6})
    manager.note_log_starts(tmp_path / "data", {ORDERS_0: 4})
    manager.checkpoint_log_start_offsets()
    assert noted(tmp_path, START) == {ORDERS_0: 6, ORDERS_1: 0}
    kill(manager)
    assert start().get(ORDERS_0).log_start_offset == 6


def test_a_note_is_no_obstacle_for_a_cut(manager, tmp_path):
    manager.note_log_starts(tmp_path / "data", {ORDERS_0: 6})
    manager.get(ORDERS_0).delete_records(6, high_watermark=6)
    manager.get(ORDERS_0).truncate_to(3)
    manager.checkpoint_log_start_offsets()
    assert noted(tmp_path, START) == {ORDERS_0: 3, ORDERS_1: 0}


def test_no_start_beyond_the_end_of_a_log_that_was_cut_or_made_anew_is_noted(manager, start, tmp_path, batch_of):
    """A kill would let the log begin there, and what it holds would be set aside."""
    end = manager.get(ORDERS_0).log_end_offset
    manager.get(ORDERS_0).truncate_to(2)
    manager.delete(ORDERS_1)
    manager.get_or_create(ORDERS_1, SECOND_ID).append(batch_of(b"of the new topic"), 0)
    assert manager.note_log_starts(tmp_path / "data", {ORDERS_0: end, ORDERS_1: end}) == {}
    assert [manager.noted_log_start(item) for item in (ORDERS_0, ORDERS_1)] == [0, 0]
    kill(manager)
    again = start()
    assert [again.get(item).log_end_offset for item in (ORDERS_0, ORDERS_1)] == [2, 1]

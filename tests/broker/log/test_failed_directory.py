"""A disk that fails takes its directory offline, and nothing else (JBOD)."""

import errno
import os
from uuid import UUID

import pytest

from broker.common.errors import ApiError, ErrorCode, NotNowError, StartupError
from broker.common.types import TopicPartition
from broker.log import directory
from broker.log import manager as log_manager
from broker.log.config import LogConfig
from broker.log.manager import LogManager
from broker.records.builder import build_batch
from broker.records.control import EndMarker, MarkerType, build_marker
from broker.records.record import Record

ID = UUID(int=1)
CONFIG = LogConfig(segment_bytes=200)


@pytest.fixture
def manager(tmp_path):
    """Four partitions over the directories a and b; `failed` has what was told."""
    manager = LogManager([tmp_path / "a", tmp_path / "b"], CONFIG, 1, "c1")
    manager.failed = []
    manager.on_directory_failed = lambda path, was_last: manager.failed.append((path.name, was_last))
    manager.load_all()
    for index in range(4):
        manager.get_or_create(TopicPartition("t", index), ID)
    yield manager
    manager.shutdown()


def logs_in(manager: LogManager, name: str) -> list:
    return [log for log in manager.logs.values() if log.directory.parent.name == name]


def failing(number: int = errno.EIO):
    def fail(*_args, **_options):
        raise OSError(number, os.strerror(number))

    return fail


def storage_error(function) -> str:
    with pytest.raises(ApiError) as caught:
        function()
    assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    return caught.value.message


BREAKS = {
    "write": ("broker.log.segment.write_at", lambda log, batch: log.append(batch, 0)),
    "fsync": ("broker.log.segment.fsync_file", lambda log, batch: log.flush()),
    "roll": ("broker.log.segment.Segment.create", lambda log, batch: log.append(batch, 0)),
    "epochs": ("broker.log.leader_epoch_file.put_in_place", lambda log, batch: log.append(batch, 7)),
    "rename": ("broker.log.segment.Segment.rename", lambda log, batch: log.replace_segments(log.segments[:1], [])),
}


@pytest.mark.parametrize("broken", BREAKS)
def test_directory_fails_alone(manager, batch_of, monkeypatch, tmp_path, broken):
    first, second = logs_in(manager, "a")
    for log in manager.logs.values():
        log.append(batch_of(b"x" * 100), 0)
        log.append(batch_of(b"y" * 100), 0)
    target, use = BREAKS[broken]
    with monkeypatch.context() as context:
        context.setattr(target, failing())
        storage_error(lambda: use(first, batch_of(b"z" * 100)))
    assert manager.failed == [("a", False)]
    assert list(manager.offline_directories) == [tmp_path / "a"]
    for refused in (
        lambda: second.append(batch_of(b"late"), 0),
        lambda: second.read(0, 100, 1),
        lambda: second.offset_for_timestamp(0),
        second.flush,
    ):
        assert "is offline" in storage_error(refused)
    for log in logs_in(manager, "b"):
        log.append(batch_of(b"z" * 100), 0)
        assert log.read(0, 1 << 20, 3).length > 0


def test_last_directory_to_fail_says_so(manager, batch_of, monkeypatch):
    monkeypatch.setattr("broker.log.segment.write_at", failing())
    for name in ("a", "b", "b"):
        storage_error(lambda name=name: logs_in(manager, name)[0].append(batch_of(b"v"), 0))
    assert manager.failed == [("a", False), ("b", True)]
    assert "every log directory is offline" in storage_error(
        lambda: manager.get_or_create(TopicPartition("new", 0), ID)
    )


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_full_disk_refuses_and_stays(manager, batch_of, monkeypatch, number):
    log = logs_in(manager, "a")[0]
    with monkeypatch.context() as full:
        full.setattr("broker.log.segment.write_at", failing(number))
        storage_error(lambda: log.append(batch_of(b"v"), 0))
    assert (manager.failed, manager.offline_directories) == ([], {})
    assert log.append(batch_of(b"v"), 0).base_offset == 0


def test_start_on_a_full_disk_says_where_and_is_worth_another_try(tmp_path, monkeypatch):
    monkeypatch.setattr("broker.log.directory.LogDirectory.load_checkpoints", failing(errno.ENOSPC))
    starting = LogManager([tmp_path / "data"], LogConfig(), 1)
    with pytest.raises(NotNowError, match=f"{tmp_path / 'data'} cannot be opened: No space left on device"):
        starting.load_all()
    starting.shutdown()


#: Steps in the middle of which a log cannot stay as it is: it is served no more, so its leadership has to move.
HALF_DONE = {
    "a partial write that stays": ("os.ftruncate", lambda log, batch: log.append(batch, 0)),
    "names that were changed": BREAKS["rename"],
    "a cut": ("broker.log.segment.Segment.shorten", lambda log, batch: log.truncate_to(1)),
}


@pytest.mark.parametrize("half_done", HALF_DONE)
def test_log_that_a_full_disk_leaves_unusable_takes_the_directory_offline(manager, batch_of, monkeypatch, half_done):
    log = logs_in(manager, "a")[0]
    for value in (b"x", b"y"):
        log.append(batch_of(value * 100), 0)
    target, use = HALF_DONE[half_done]
    with monkeypatch.context() as full:
        full.setattr("broker.log.segment.write_at", failing(errno.ENOSPC))
        full.setattr(target, failing(errno.ENOSPC))
        storage_error(lambda: use(log, batch_of(b"z")))
    assert manager.failed == [("a", False)]


def test_note_of_an_aborted_transaction_that_cannot_be_taken_back_takes_the_directory_offline(manager, monkeypatch):
    log = logs_in(manager, "a")[0]
    records = [Record(0, 1_000, b"k", b"v")]
    log.append(build_batch(records, producer_id=7, producer_epoch=0, base_sequence=0, is_transactional=True), 0)
    with monkeypatch.context() as full:
        full.setattr("broker.log.segment.write_at", failing(errno.ENOSPC))
        full.setattr("broker.log.transaction_index.TransactionIndex.take_back", failing(errno.ENOSPC))
        storage_error(lambda: log.append(build_marker(EndMarker(MarkerType.ABORT, 0), 7, 0, 1_000), 0))
    assert manager.failed == [("a", False)]


def test_new_partitions_go_to_what_is_left(manager, batch_of, monkeypatch):
    with monkeypatch.context() as broken:
        broken.setattr("broker.log.segment.write_at", failing())
        storage_error(lambda: logs_in(manager, "a")[0].append(batch_of(b"v"), 0))
    for index in range(10, 13):
        assert manager.get_or_create(TopicPartition("t", index), ID).directory.parent.name == "b"


def test_partition_that_may_be_on_the_failed_disk_is_not_made_anew(manager, batch_of, monkeypatch):
    lost = logs_in(manager, "a")[0]
    with monkeypatch.context() as broken:
        broken.setattr("broker.log.segment.write_at", failing())
        storage_error(lambda: lost.append(batch_of(b"v"), 0))
    assert "may be in an offline directory" in storage_error(
        lambda: manager.get_or_create(TopicPartition("unheard of", 0), ID, is_new=False)
    )
    partition = next(partition for partition, log in manager.logs.items() if log is lost)
    assert "is offline" in storage_error(lambda: manager.get_or_create(partition, ID))


def test_directory_that_fails_while_a_partition_is_made_is_passed_over(manager, monkeypatch, tmp_path):
    def failing_in_a(path, topic_id):
        if path.parts[len(tmp_path.parts)] == "a":
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr("broker.log.manager.write_partition_metadata", failing_in_a)
    assert manager.get_or_create(TopicPartition("new", 0), ID).directory.parent.name == "b"
    assert manager.failed == [("a", False)]


@pytest.mark.parametrize("step", ["write_partition_metadata", "fsync_directory"])
@pytest.mark.parametrize("may_remove", [True, False])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
def test_partition_begun_in_a_directory_that_refuses_is_found_in_the_other_by_the_next_start(
    manager, batch_of, monkeypatch, tmp_path, number, may_remove, step
):
    real = getattr(log_manager, step)

    def refusing_in_a(path, *rest):
        if tmp_path / "a" in (path, *path.parents):
            failing(number)()
        real(path, *rest)

    new = TopicPartition("new", 0)
    with monkeypatch.context() as broken:
        broken.setattr(log_manager, step, refusing_in_a)
        if not may_remove:
            broken.setattr(log_manager, "remove_tree", failing())
        log = manager.get_or_create(new, ID)
    assert log.directory.parent.name == "b"
    assert (tmp_path / "a" / "new-0").exists() is not may_remove
    log.append(batch_of(b"v"), 0)
    manager.shutdown()
    again = LogManager([tmp_path / "a", tmp_path / "b"], CONFIG, 1, "c1")
    again.load_all()
    assert (again.get(new).directory, again.get(new).log_end_offset) == (log.directory, 1)
    again.shutdown()


def test_failed_directory_is_not_marked_clean_and_comes_back_with_the_next_start(
    manager, batch_of, monkeypatch, tmp_path
):
    with monkeypatch.context() as broken:
        broken.setattr("broker.log.segment.write_at", failing())
        storage_error(lambda: logs_in(manager, "a")[0].append(batch_of(b"v"), 0))
    manager.shutdown()
    left = [(tmp_path / name / ".kafka_cleanshutdown").exists() for name in ("a", "b")]
    assert left == [False, True]
    again = LogManager([tmp_path / "a", tmp_path / "b"], CONFIG, 1, "c1")
    again.load_all()
    assert (len(again.logs), again.offline_directories) == (4, {})
    again.shutdown()


def test_directory_that_cannot_be_read_at_start_is_offline(manager, monkeypatch, tmp_path):
    manager.shutdown()
    log_file = next((tmp_path / "a").glob("t-*/*.log"))
    log_file.unlink()
    log_file.mkdir()
    again = LogManager([tmp_path / "a", tmp_path / "b"], CONFIG, 1, "c1")
    again.load_all()
    assert list(again.offline_directories) == [tmp_path / "a"]
    assert len(logs_in(again, "b")) == 2
    again.shutdown()


def test_directory_that_cannot_be_made_is_offline_unless_it_is_the_only_one(tmp_path):
    (tmp_path / "file").touch()
    bad = tmp_path / "file" / "data"
    manager = LogManager([bad, tmp_path / "good"], CONFIG, 1, "c1")
    manager.load_all()
    assert list(manager.offline_directories) == [bad]
    assert manager.get_or_create(TopicPartition("t", 0), ID).directory.parent.name == "good"
    manager.shutdown()
    with pytest.raises(StartupError, match="cannot be used"):
        LogManager([bad, tmp_path / "file" / "other"], CONFIG, 1, "c1")


def test_checkpoint_that_cannot_be_written_takes_the_directory_offline(manager, monkeypatch):
    monkeypatch.setattr("broker.log.offset_checkpoint.write_offset_checkpoint", failing())
    manager.store_high_watermarks({TopicPartition("t", 0): 3, TopicPartition("t", 1): 3})
    assert sorted(manager.failed) == [("a", False), ("b", True)]


def test_fsync_that_finds_no_space_is_a_failure_of_the_disk(manager, batch_of, monkeypatch):
    """The append was acknowledged before: what was lost is not known."""
    log = logs_in(manager, "b")[0]
    log.append(batch_of(b"v"), 0)
    monkeypatch.setattr("broker.log.segment.fsync_file", failing(errno.ENOSPC))
    storage_error(log.flush)
    assert manager.failed == [("b", False)]


def test_log_that_is_deleted_while_it_is_flushed_is_no_failure_of_the_disk(manager, batch_of, monkeypatch):
    log = logs_in(manager, "a")[0]
    partition = next(partition for partition, item in manager.logs.items() if item is log)
    while len(log.segments) < 3:
        log.append(batch_of(b"v" * 100), 0)

    def deleting(file):
        manager.delete(partition)
        manager.purge_deleted()

    monkeypatch.setattr("broker.log.segment.fsync_file", deleting)
    storage_error(log.flush)
    assert (manager.failed, manager.offline_directories) == ([], {})


def test_log_that_is_set_aside_while_it_is_flushed_is_no_failure_of_the_disk(manager, batch_of, monkeypatch):
    log = logs_in(manager, "a")[0]
    partition = next(partition for partition, item in manager.logs.items() if item is log)
    while len(log.segments) < 3:
        log.append(batch_of(b"v" * 100), 0)
    fsync = directory.fsync_file

    def flush_meanwhile(file) -> None:
        """As on another thread, when the directory has its new name and that is not durable yet."""
        storage_error(log.flush)
        fsync(file)

    monkeypatch.setattr(directory, "fsync_file", flush_meanwhile)
    manager.set_aside_as_stray(partition, "a test")
    assert (manager.failed, manager.offline_directories) == ([], {})


def test_flush_that_fails_in_the_background_is_told_once(manager, batch_of, monkeypatch):
    for log in manager.logs.values():
        while len(log.segments) < 2:
            log.append(batch_of(b"v" * 50), 0)
    monkeypatch.setattr("broker.log.segment.fsync_file", failing())
    assert manager.flush_due(0) == manager.flush_due(1) == 0
    assert sorted(manager.failed) == [("a", False), ("b", True)]


def test_new_log_that_could_not_be_made_is_new_still_when_it_is_asked_for_again(manager, monkeypatch):
    """Nothing of it can be in the directory that is offline. Of a log that was never new here that is not known."""
    logs_in(manager, "a")[0].on_disk_error(OSError(errno.EIO, "Input/output error"))
    new, lost = TopicPartition("new", 0), TopicPartition("lost", 0)
    with monkeypatch.context() as without_descriptors:
        without_descriptors.setattr("broker.log.manager.write_partition_metadata", failing(errno.EMFILE))
        storage_error(lambda: manager.get_or_create(new, ID, is_new=True))
    assert (manager.is_out_of_reach(new), manager.is_out_of_reach(lost)) == (False, True)
    assert "may be in an offline directory" in storage_error(lambda: manager.get_or_create(lost, ID, is_new=False))
    assert "may be in an offline" in storage_error(lambda: manager.get_or_create(new, UUID(int=2), is_new=False))
    assert manager.get_or_create(new, ID, is_new=False).directory.parent.name == "b"


def test_new_log_that_could_not_be_made_is_new_no_longer_when_its_replica_was_deleted(manager, monkeypatch):
    logs_in(manager, "a")[0].on_disk_error(OSError(errno.EIO, "Input/output error"))
    new = TopicPartition("new", 0)
    with monkeypatch.context() as without_descriptors:
        without_descriptors.setattr("broker.log.manager.write_partition_metadata", failing(errno.EMFILE))
        storage_error(lambda: manager.get_or_create(new, ID, is_new=True))
    assert manager.close([new]) == {}
    assert "may be in an offline directory" in storage_error(lambda: manager.get_or_create(new, ID, is_new=False))


def test_logs_out_of_reach_are_those_of_offline_directories(manager):
    partitions = {name: [one for one, log in manager.logs.items() if log in logs_in(manager, name)] for name in "ab"}
    logs_in(manager, "a")[0].on_disk_error(OSError(errno.EIO, "Input/output error"))
    assert {manager.is_out_of_reach(one) for one in partitions["a"]} == {True}
    assert {manager.is_out_of_reach(one) for one in partitions["b"]} == {False}

"""A start that finds no room to keep what recovery takes out of a log, or to note how the log was left."""

import errno
import os
from pathlib import Path
from uuid import UUID

import pytest

from broker.common.errors import ApiError, ErrorCode
from broker.common.types import TopicPartition
from broker.log import damaged_parts, files
from broker.log.checkpoints import RECOVERY_POINT_CHECKPOINT, write_offset_checkpoint
from broker.log.config import LogConfig
from broker.log.last_stop import NOT_RECOVERED, LastStop
from broker.log.manager import LogManager, NewLog

ID = UUID(int=1)
DAMAGED, WHOLE = TopicPartition("damaged", 0), TopicPartition("whole", 0)
CONFIG = LogConfig(segment_bytes=2_000)


def no_room(*_arguments):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.fixture
def start(tmp_path):
    managers = []

    def started() -> LogManager:
        manager = LogManager([tmp_path / "data"], CONFIG, 1, "c1")
        managers.append(manager)
        manager.load_all()
        return manager

    yield started
    for manager in managers:
        manager.shutdown()


@pytest.fixture
def damaged(start, tmp_path, batch_of) -> Path:
    """The directory of a log with a flipped bit in its middle, beside a whole one, as after a kill."""
    manager = start()
    manager.note_machine_start()
    for partition in (DAMAGED, WHOLE):
        log = manager.get_or_create(partition, ID)
        while len(log.segments) < 3:
            log.append(batch_of(b"." * 300), 0)
    manager.shutdown()
    (tmp_path / "data" / ".kafka_cleanshutdown").unlink()
    write_offset_checkpoint(tmp_path / "data" / RECOVERY_POINT_CHECKPOINT, {})
    path = tmp_path / "data" / str(DAMAGED) / f"{0:020d}.log"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    return path.parent


def strays(directory: Path) -> list[Path]:
    return list(directory.parent.glob("*-stray"))


def content(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.glob("*.log")}


FULL = {
    "the first byte": (damaged_parts, "write_at", no_room),
    "half of it": (damaged_parts, "write_at", lambda file, data, at: (os.pwrite(file.fd, data[:99], at), no_room())),
    "its fsync": (damaged_parts, "fsync_file", no_room),
    "its directory": (damaged_parts, "aside_name", no_room),
}


@pytest.mark.parametrize("full", FULL)
def test_a_damaged_log_stays_out_of_reach_alone_and_nothing_is_cut_or_left_behind(damaged, start, monkeypatch, full):
    before = content(damaged)
    with monkeypatch.context() as patched:
        patched.setattr(*FULL[full])
        for _ in range(2):
            manager = start()
            assert manager.offline_directories == {}
            assert manager.get(WHOLE).log_end_offset
            with pytest.raises(ApiError, match=r"no room .* Free .* opened then") as refused:
                manager.get_or_create(DAMAGED, ID)
            assert refused.value.code is ErrorCode.KAFKA_STORAGE_ERROR
            manager.shutdown()
        first = damaged / f"{0:020d}.log"
        assert first.read_bytes() == before[first.name]
    aside = [path for stray in strays(damaged) for path in stray.iterdir()]
    assert [path for path in aside if ".from-" in path.name] == []
    assert all(list(stray.iterdir()) for stray in strays(damaged)), "no directory is left empty"
    kept = content(damaged) | {path.name: path.read_bytes() for path in aside if path.suffix == ".log"}
    assert kept == before


def test_the_log_is_recovered_when_there_is_room_though_the_broker_stopped_cleanly_meanwhile(
    damaged, start, monkeypatch
):
    with monkeypatch.context() as patched:
        patched.setattr(damaged_parts, "write_at", no_room)
        start().shutdown()
    manager = start()
    assert manager.get(DAMAGED) is not None
    assert not manager.has_whole(DAMAGED, ID)
    assert any(".from-" in path.name for stray in strays(damaged) for path in stray.iterdir())


def test_a_log_is_opened_without_another_start_when_its_directory_takes_writes(damaged, start, monkeypatch):
    wanted = [NewLog(DAMAGED, ID, is_new=False)]
    with monkeypatch.context() as patched:
        patched.setattr(damaged_parts, "write_at", no_room)
        manager = start()
        manager.create_missing(wanted)
        assert manager.waits_for_room(DAMAGED)
        assert manager.is_out_of_reach(DAMAGED), "and nothing is noted of a loss"
    room = manager.rooms[damaged.parent]
    room.refused(0)
    manager.create_missing(wanted)
    assert manager.get(DAMAGED) is None, "no log is read again and again on a disk that is full"
    room.refuses_writes = False
    manager.create_missing(wanted)
    assert manager.get_or_create(DAMAGED, ID, is_new=False).was_cut
    assert (manager.unopened, manager.is_out_of_reach(DAMAGED)) == ({}, False)
    assert not (damaged / NOT_RECOVERED).exists()
    manager.shutdown()
    again = start()
    assert (again.may_lack_records, again.get(DAMAGED).was_cut) == (False, False)


def test_a_log_that_waits_for_room_keeps_what_is_noted_of_it_while_it_is_opened(damaged, start, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(damaged_parts, "write_at", no_room)
        manager = start()
        manager._homes[WHOLE].high_watermarks.store(lambda: {DAMAGED: 1, WHOLE: 1})
        manager.store_high_watermarks({})
    manager.create_missing([NewLog(DAMAGED, ID, is_new=False)])
    manager.store_high_watermarks({})
    assert manager.high_watermark_of(DAMAGED) == 1


def test_a_log_out_of_reach_for_another_reason_waits_for_the_next_start(damaged, start, monkeypatch):
    (damaged / "partition.metadata").write_bytes(b"garbled")
    manager = start()
    manager.create_missing([NewLog(DAMAGED, ID, is_new=False)])
    assert not manager.waits_for_room(DAMAGED)
    assert list(manager.unopened) == [DAMAGED]


def test_a_note_that_is_there_is_not_written_again(damaged, start, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(damaged_parts, "write_at", no_room)
        start().shutdown()
        patched.setattr(files, "replace_file", no_room)
        patched.setattr(files, "touch_durably", no_room)
        manager = start()
        assert (manager.offline_directories, list(manager.unopened)) == ({}, [DAMAGED])
        manager.shutdown()
    assert (damaged.parent / ".kafka_cleanshutdown").exists()


def test_where_no_byte_of_a_note_can_be_written_an_empty_one_says_enough(damaged, start, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(damaged_parts, "write_at", no_room)
        patched.setattr(files, "replace_file", no_room)
        start().shutdown()
    assert LastStop.of(damaged, is_clean=True, lost_page_cache=False)[:2] == (False, True)
    assert start().get(DAMAGED) is not None
    assert not (damaged / NOT_RECOVERED).exists()


def test_where_nothing_can_be_noted_the_directory_is_not_marked_clean(damaged, start, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(damaged_parts, "write_at", no_room)
        patched.setattr(files, "replace_file", no_room)
        patched.setattr(files, "touch_durably", no_room)
        manager = start()
        assert (manager.offline_directories, list(manager.unopened)) == ({}, [DAMAGED])
        manager.shutdown()
    assert not (damaged.parent / ".kafka_cleanshutdown").exists()


def test_a_directory_is_marked_clean_once_the_log_that_could_not_be_noted_is_opened(damaged, start, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(damaged_parts, "write_at", no_room)
        patched.setattr(files, "replace_file", no_room)
        patched.setattr(files, "touch_durably", no_room)
        manager = start()
    manager.create_missing([NewLog(DAMAGED, ID, is_new=False)])
    assert manager.get(DAMAGED) is not None
    manager.shutdown()
    assert (damaged.parent / ".kafka_cleanshutdown").exists()


def test_a_log_whose_epochs_cannot_be_noted_for_want_of_room_is_out_of_reach_alone(damaged, start, monkeypatch):
    monkeypatch.setattr("broker.log.loader.store_leader_epochs", no_room)
    (damaged.parent / str(WHOLE) / "leader-epoch-checkpoint").write_bytes(b"garbled")
    manager = start()
    assert manager.offline_directories == {}
    assert WHOLE in manager.unopened


def test_a_machine_start_is_noted_though_a_kill_was_noted_before(damaged):
    LastStop.of(damaged, is_clean=False, lost_page_cache=False).keep(damaged)
    assert LastStop.of(damaged, is_clean=True, lost_page_cache=False)[:2] == (False, False)
    LastStop.of(damaged, is_clean=False, lost_page_cache=True).keep(damaged)
    assert LastStop.of(damaged, is_clean=True, lost_page_cache=False)[:2] == (False, True)

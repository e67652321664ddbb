"""A log that moves to another directory of its broker: whenever it stops, one of both is the log, whole."""

import errno
import os
import shutil
from contextlib import suppress
from pathlib import Path
from uuid import UUID

import pytest

from broker.common.errors import ApiError, ErrorCode
from broker.common.types import TopicPartition
from broker.log.checkpoints import read_offset_checkpoint
from broker.log.config import LogConfig
from broker.log.directory_start import read_directory_start
from broker.log.manager import LogManager
from tests.broker.log.death import Death, Died

ORDERS_0, ORDERS_1 = TopicPartition("orders", 0), TopicPartition("orders", 1)
ID, OTHER_ID = UUID(int=1), UUID(int=2)
CONFIG = LogConfig(segment_bytes=200)
WHOLE = [(offset, b"%d" % offset * 50) for offset in range(6)]


@pytest.fixture
def start(tmp_path):
    started = []

    def start_manager(*names: str) -> LogManager:
        manager = LogManager([tmp_path / name for name in names or ("a", "b")], CONFIG, 1, "c1")
        started.append(manager)
        manager.load_all()
        return manager

    yield start_manager
    for manager in started:
        manager.shutdown()


@pytest.fixture
def written(start, batch_of):
    """A log of several segments in the directory a."""
    manager = start()
    log = manager.get_or_create(ORDERS_0, ID)
    assert log.directory.parent.name == "a"
    for _, value in WHOLE:
        log.append(batch_of(value), 0)
    return manager


def kill(manager: LogManager) -> None:
    """What the death of the process does: locks go, nothing is written."""
    manager._unlock()


def copy(manager: LogManager) -> None:
    log, future = manager.get(ORDERS_0), manager.future_of(ORDERS_0).log
    while future.log_end_offset < log.log_end_offset:
        future.append_as_follower(memoryview(log.read(future.log_end_offset, 1 << 20, log.log_end_offset).read()))


def move(manager: LogManager, to: str = "b") -> None:
    """All steps, in their order."""
    if manager.future_of(ORDERS_0) is None:
        directory = next(directory for directory in manager._directories if directory.path.name == to)
        manager.make_future(ORDERS_0, directory, CONFIG)
    copy(manager)
    exchange(manager)


def exchange(manager: LogManager) -> None:
    manager.prepare_replacement(ORDERS_0, 6)
    home, old = manager.home_of(ORDERS_0), manager.get(ORDERS_0)
    manager.replace_by_future(ORDERS_0)
    manager.finish_replacement(ORDERS_0, old, home)


def places(tmp_path: Path, pattern: str = "orders-0*") -> list[str]:
    return sorted(str(path.relative_to(tmp_path)) for path in tmp_path.glob(f"*/{pattern}"))


def fail_disk(manager: LogManager, name: str) -> None:
    directory = next(directory for directory in manager._directories if directory.path.name == name)
    manager._fail(directory, OSError(errno.EIO, os.strerror(errno.EIO)))


def test_a_copy_takes_the_place_of_the_log(written, tmp_path, records_of, batch_of):
    old = written.get(ORDERS_0)
    reading = old.read(0, 1 << 20, 6)
    move(written)
    log = written.get(ORDERS_0)
    assert log.directory == tmp_path / "b" / "orders-0"
    assert records_of(log) == WHOLE
    assert len(reading.read()) == reading.length, "what was read before stays readable"
    written.purge_deleted()
    assert places(tmp_path) == ["b/orders-0"]
    for value in (b"x" * 100, b"y" * 100):
        log.append(batch_of(value), 0)
    assert len(list((tmp_path / "b" / "orders-0").glob("*.log"))) > len(WHOLE) // 2, "new segments lie there too"
    written.shutdown()


def test_what_was_moved_is_there_after_a_clean_stop_and_after_a_kill(written, start, records_of):
    move(written)
    written.shutdown()
    again = start()
    assert records_of(again.get(ORDERS_0)) == WHOLE
    move(again, to="a")
    kill(again)
    last = start()
    assert records_of(last.get(ORDERS_0)) == WHOLE
    assert last.high_watermark_of(ORDERS_0) == 6, "what is noted of it has moved with it"
    assert last.get(ORDERS_0).directory.parent.name == "a"


#: Of a death while it is copied; the exchange is tried step by step.
EVERY = 2
FEW = WHOLE[:2]


def whole_log_in(directory: Path, batch_of) -> LogManager:
    manager = LogManager([directory / "a", directory / "b"], CONFIG, 1, "c1")
    manager.load_all()
    log = manager.get_or_create(ORDERS_0, ID)
    for _, value in FEW:
        log.append(batch_of(value), 0)
    return manager


def begin_and_copy(manager: LogManager) -> None:
    manager.make_future(ORDERS_0, manager._directories[1], CONFIG)
    copy(manager)


@pytest.mark.parametrize("part", ["copy", "exchange"])
def test_wherever_it_dies_one_of_both_is_the_log_and_the_move_can_end(
    part, tmp_path_factory, monkeypatch, batch_of, records_of
):
    monkeypatch.setattr(os, "fsync", lambda fd: None)
    before, dying_in = (lambda _: None, begin_and_copy) if part == "copy" else (begin_and_copy, exchange)
    homes, at = [], 1
    while True:
        directory = tmp_path_factory.mktemp(f"died-at-{at}")
        manager = whole_log_in(directory, batch_of)
        before(manager)
        with monkeypatch.context() as context:
            death = Death(context, at)
            with suppress(Died):
                dying_in(manager)
        kill(manager)
        if not death.is_dead:
            break
        again = LogManager([directory / "a", directory / "b"], CONFIG, 1, "c1")
        again.load_all()
        log = again.get(ORDERS_0)
        assert records_of(log) == FEW, f"died at step {at}"
        assert len(list(directory.glob("*/orders-0"))) == 1, f"died at step {at}"
        homes.append(log.directory.parent.name)
        if homes[-1] == "a":
            move(again)
        assert records_of(again.get(ORDERS_0)) == FEW
        again.shutdown()
        last = LogManager([directory / "a", directory / "b"], CONFIG, 1, "c1")
        last.load_all()
        assert records_of(last.get(ORDERS_0)) == FEW
        assert places(directory) == ["b/orders-0"], f"died at step {at}"
        last.shutdown()
        at += 1 if part == "exchange" else EVERY
    assert homes == sorted(homes), "there is one step before which it is the one, and after which it is the other"
    assert set(homes) == ({"a", "b"} if part == "exchange" else {"a"})
    assert len(homes) > 10


def test_a_copy_goes_on_where_it_was_after_a_clean_stop(written, start, tmp_path, records_of):
    written.make_future(ORDERS_0, written.directory_at(str(tmp_path / "b")), CONFIG)
    copy(written)
    written.shutdown()
    again = start()
    assert again.future_of(ORDERS_0).log.log_end_offset == 6
    assert again.future_of(ORDERS_0).log.recovery_point == 6
    assert again.get(ORDERS_0).is_being_copied
    exchange(again)
    assert records_of(again.get(ORDERS_0)) == WHOLE


def test_a_copy_that_was_killed_is_recovered_though_a_start_without_its_log_stopped_cleanly(written, start, tmp_path):
    written.make_future(ORDERS_0, written.directory_at(str(tmp_path / "b")), CONFIG)
    copy(written)
    (tmp_path / "b" / "recovery-point-offset-checkpoint").unlink(missing_ok=True)
    path = written.future_of(ORDERS_0).log.segments[0].files.log
    kill(written)
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    (tmp_path / "a").rename(tmp_path / "elsewhere")
    (tmp_path / "a").write_text("no directory")
    without = start()
    assert without.future_of(ORDERS_0) is None
    without.shutdown()
    (tmp_path / "a").unlink()
    (tmp_path / "elsewhere").rename(tmp_path / "a")
    again = start()
    assert again.future_of(ORDERS_0).log.log_end_offset < 6, "its batches were checked"
    again.shutdown()
    assert start().future_of(ORDERS_0) is not None


def test_a_move_that_is_given_up_leaves_nothing(written, start, tmp_path, records_of):
    written.make_future(ORDERS_0, written.directory_at(str(tmp_path / "b")), CONFIG)
    copy(written)
    written.prepare_replacement(ORDERS_0, 6)
    written.drop_future(ORDERS_0)
    written.purge_deleted()
    assert places(tmp_path) == ["a/orders-0"]
    assert not places(tmp_path, "orders-0/moved-to")
    assert not written.get(ORDERS_0).is_being_copied
    assert records_of(written.get(ORDERS_0)) == WHOLE


def test_who_is_deleted_takes_the_copy_along(written, start, tmp_path):
    written.make_future(ORDERS_0, written.directory_at(str(tmp_path / "b")), CONFIG)
    written.delete(ORDERS_0)
    written.purge_deleted()
    assert places(tmp_path) == []
    assert written.future_of(ORDERS_0) is None


def test_the_old_disk_fails_in_the_exchange_and_comes_back_with_what_is_old(written, start, tmp_path, batch_of):
    written.make_future(ORDERS_0, written.directory_at(str(tmp_path / "b")), CONFIG)
    copy(written)
    written.prepare_replacement(ORDERS_0, 6)
    old, new = written.get(ORDERS_0), written.replace_by_future(ORDERS_0)
    fail_disk(written, "a")
    new.append(batch_of(b"late"), 0)
    kill(written)
    again = start()
    assert again.get(ORDERS_0).log_end_offset == 7
    assert places(tmp_path) == ["b/orders-0"]
    assert old.is_offline


@pytest.mark.parametrize("mark", [None, b"\xff\xfe", b"/mnt/earlier"], ids=["whole", "damaged", "mounted elsewhere"])
def test_while_the_other_disk_is_away_nobody_takes_the_old_log_for_the_log(written, start, tmp_path, batch_of, mark):
    written.make_future(ORDERS_0, written.directory_at(str(tmp_path / "b")), CONFIG)
    copy(written)
    written.prepare_replacement(ORDERS_0, 6)
    new = written.replace_by_future(ORDERS_0)
    new.append(batch_of(b"late"), 0)
    kill(written)
    if mark is not None:
        (tmp_path / "a" / "orders-0" / "moved-to").write_bytes(mark)
    (tmp_path / "b").rename(tmp_path / "elsewhere")
    (tmp_path / "b").write_text("no directory")
    without = start()
    assert without.get(ORDERS_0) is None
    assert without.is_out_of_reach(ORDERS_0)
    with pytest.raises(ApiError) as caught:
        without.get_or_create(ORDERS_0, ID, is_new=True)
    assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    kill(without)
    (tmp_path / "b").unlink()
    (tmp_path / "elsewhere").rename(tmp_path / "b")
    assert start().get(ORDERS_0).log_end_offset == 7


@pytest.mark.parametrize("is_other_away", [False, True], ids=["both disks", "the other disk away"])
def test_a_log_moves_away_from_a_full_disk(written, start, tmp_path, batch_of, monkeypatch, is_other_away):
    """Where it goes cannot be written down: a start without some directory takes the old log for no log."""

    def no_room(path, content):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    written.make_future(ORDERS_0, written.directory_at(str(tmp_path / "b")), CONFIG)
    copy(written)
    with monkeypatch.context() as full:
        full.setattr("broker.log.files.replace_file", no_room)
        written.prepare_replacement(ORDERS_0, 6)
    written.replace_by_future(ORDERS_0).append(batch_of(b"late"), 0)
    kill(written)
    if is_other_away:
        (tmp_path / "b").rename(tmp_path / "elsewhere")
        (tmp_path / "b").write_text("no directory")
        without = start()
        assert (without.get(ORDERS_0), list(without.unopened)) == (None, [ORDERS_0])
        kill(without)
        (tmp_path / "b").unlink()
        (tmp_path / "elsewhere").rename(tmp_path / "b")
    assert start().get(ORDERS_0).log_end_offset == 7
    assert places(tmp_path) == ["b/orders-0"]


def test_what_was_moved_away_from_a_full_disk_frees_it(written, tmp_path):
    def no_room(path, end_offsets):
        if path.name == "a":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    written.on_cut = no_room
    move(written)
    written.purge_deleted()
    assert places(tmp_path) == ["b/orders-0"]
    assert written.offline_directories == {}


@pytest.mark.parametrize("epoch", [None, 5], ids=["begun", "written in a later epoch"])
def test_a_log_that_was_to_be_moved_is_not_deleted_for_one_that_was_made_anew_there(
    written, start, tmp_path, batch_of, epoch
):
    """Its disk was not mounted at a start, and the partition, of which there was no other replica, began anew."""
    written.make_future(ORDERS_0, written.directory_at(str(tmp_path / "b")), CONFIG)
    written.prepare_replacement(ORDERS_0, 6)
    kill(written)
    for future in (tmp_path / "b").glob("*-future"):
        shutil.rmtree(future)
    (tmp_path / "a").rename(tmp_path / "elsewhere")
    without = start()
    without.prefer(ORDERS_0, without.directory_at(str(tmp_path / "b")))
    anew = without.get_or_create(ORDERS_0, ID, is_new=True)
    if epoch is not None:
        anew.append(batch_of(b"anew"), epoch)
    without.shutdown()
    shutil.rmtree(tmp_path / "a")
    (tmp_path / "elsewhere").rename(tmp_path / "a")
    again = start()
    kept = "a/orders-0/*.log" if epoch is None else "a/orders-0.*-stray/*.log"
    assert WHOLE[0][1] in b"".join(path.read_bytes() for path in tmp_path.glob(kept))
    assert again.get(ORDERS_0).log_end_offset == (len(WHOLE) if epoch is None else 1)
    assert len(list(tmp_path.glob("*/orders-0"))) == len(again.strays) == 1


def contents(*directories: Path) -> list[tuple[str, bytes]]:
    """Relative to each of these."""
    files = [(home, path) for home in directories for path in sorted(home.rglob("*")) if path.is_file()]
    return [(str(path.relative_to(home)), path.read_bytes()) for home, path in files]


@pytest.mark.parametrize("is_clean", [True, False], ids=["clean", "killed"])
def test_two_logs_of_which_none_was_moved_stay_both_and_the_others_are_served(written, start, tmp_path, is_clean):
    """A copy was left behind, or restored into the wrong directory; its partition alone is out of reach."""
    written.get_or_create(ORDERS_1, ID)
    copies = tmp_path / "a" / "orders-0", tmp_path / "b" / "orders-0"
    written.checkpoint_recovery_points()
    written.checkpoint_log_start_offsets()
    if is_clean:
        written.shutdown()
    else:
        kill(written)
    shutil.copytree(*copies)
    before = contents(*copies)
    again = start()
    assert list(again.unopened) == [ORDERS_0]
    assert str(tmp_path / "a") in again.unopened[ORDERS_0]
    assert str(tmp_path / "b") in again.unopened[ORDERS_0]
    assert again.is_out_of_reach(ORDERS_0)
    assert again.get(ORDERS_1) is not None
    with pytest.raises(ApiError):
        again.get_or_create(ORDERS_0, ID, is_new=True)
    again.checkpoint_recovery_points()
    again.shutdown()
    assert [file for file in contents(*copies) if file[0] != "not-recovered"] == before
    noted = read_offset_checkpoint(tmp_path / "a" / "recovery-point-offset-checkpoint")
    assert ORDERS_0 in noted, "what is noted beside it stays as well"
    shutil.rmtree(copies[1])
    last = start()
    assert (last.get(ORDERS_0).log_end_offset, last.unopened) == (len(WHOLE), {})


def test_both_logs_of_a_deleted_partition_are_set_aside(written, start, tmp_path):
    written.shutdown()
    shutil.copytree(tmp_path / "a" / "orders-0", tmp_path / "b" / "orders-0")
    again = start()
    again.close([ORDERS_0])
    assert sorted(path.parent.name for path in again.strays) == ["a", "b"]
    assert again.unopened == {}


def test_the_copys_disk_fails_and_the_log_goes_on_alone(written, start, tmp_path, batch_of):
    future = written.make_future(ORDERS_0, written.directory_at(str(tmp_path / "b")), CONFIG).log
    copy(written)
    written.prepare_replacement(ORDERS_0, 6)
    fail_disk(written, "b")
    assert future.is_offline
    written.drop_future(ORDERS_0)
    written.get(ORDERS_0).append(batch_of(b"late"), 0)
    kill(written)
    again = start()
    assert again.get(ORDERS_0).log_end_offset == 7
    assert again.future_of(ORDERS_0).log.log_end_offset == 6, "with the disk the wish has come back"


def test_a_copy_of_a_topic_that_was_made_anew_is_none(written, start, tmp_path, batch_of, records_of):
    written.make_future(ORDERS_0, written.directory_at(str(tmp_path / "b")), CONFIG)
    copy(written)
    (aside,) = (tmp_path / "b").glob("*-future")
    kept = aside.rename(tmp_path / aside.name)
    written.delete(ORDERS_0)
    written.get_or_create(ORDERS_0, OTHER_ID).append(batch_of(b"new"), 0)
    home = written.get(ORDERS_0).directory.parent.name
    written.shutdown()
    kept.rename(tmp_path / ("b" if home == "a" else "a") / kept.name)
    again = start()
    assert again.future_of(ORDERS_0) is None
    assert records_of(again.get(ORDERS_0)) == [(0, b"new")]
    assert len(places(tmp_path)) - len(places(tmp_path, "orders-0.*-stray")) == 1
    assert len(places(tmp_path, "orders-0.*-stray")) == 1, "the records of another topic are not deleted for that"


@pytest.mark.parametrize("restored", ["a", "b"])
def test_a_copy_that_lies_in_a_backup_or_is_of_one_is_kept_aside(written, start, tmp_path, records_of, restored):
    """The log was compacted since, and what it deleted would come back; or the copy has more than the log."""
    written.make_future(ORDERS_0, written.directory_at(str(tmp_path / "b")), CONFIG)
    copy(written)
    written.doubt_restored({})
    last_starts = written.note_start({})
    written.shutdown()
    note = read_directory_start(tmp_path / restored)
    again = start()
    again.doubt_restored(last_starts | {note.directory_id: note.number + 1})
    assert (again.futures, again.restored) == ({}, {ORDERS_0} if restored == "a" else set())
    (aside,) = tmp_path.glob("b/*-stray")
    assert WHOLE[-1][1] in b"".join(path.read_bytes() for path in aside.glob("*.log"))
    assert (records_of(again.get(ORDERS_0)), again.strays) == (WHOLE, {aside})
    move(again)
    assert records_of(again.get(ORDERS_0)) == WHOLE, "it can be moved again"


def test_a_copy_whose_log_is_gone_is_kept_for_who_may_miss_it(written, start, tmp_path):
    written.make_future(ORDERS_0, written.directory_at(str(tmp_path / "b")), CONFIG)
    copy(written)
    kill(written)
    again = start("b")
    assert again.get(ORDERS_0) is None
    assert len(places(tmp_path, "orders-0.*-stray")) == 1


def test_a_partition_that_has_no_log_yet_is_made_where_it_was_asked_for(start, tmp_path):
    manager = start("a", "b", "c")
    manager.prefer(ORDERS_0, manager.directory_at(str(tmp_path / "c")))
    assert manager.get_or_create(ORDERS_0, ID).directory.parent.name == "c"


def test_the_directory_asked_for_is_one_of_those_that_work(start, tmp_path):
    manager = start()
    fail_disk(manager, "b")
    for path, code in ((tmp_path / "b", ErrorCode.KAFKA_STORAGE_ERROR), (tmp_path / "c", ErrorCode.LOG_DIR_NOT_FOUND)):
        with pytest.raises(ApiError) as caught:
            manager.directory_at(str(path))
        assert caught.value.code is code


def test_preferred_directories_are_bounded(start, tmp_path, monkeypatch):
    monkeypatch.setattr("broker.log.future_logs.PREFERRED_LOG_DIRS_MAX", 2)
    manager = start()
    for index in range(5):
        manager.prefer(TopicPartition("nobody", index), manager.directory_at(str(tmp_path / "b")))
    assert list(manager._preferred) == [TopicPartition("nobody", 3), TopicPartition("nobody", 4)]

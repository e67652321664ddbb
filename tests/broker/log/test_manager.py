"""All logs of a broker: whose directories they are, how they come and go, clean and unclean stops."""

import errno
import os
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from uuid import UUID

import pytest
from structlog.testing import capture_logs

from broker.common.errors import ApiError, ErrorCode, NotNowError, StartupError
from broker.common.types import TopicPartition
from broker.log import directory
from broker.log.checkpoints import read_offset_checkpoint
from broker.log.config import LogConfig
from broker.log.log import Log
from broker.log.manager import LogManager, NewLog

ROOT = Path(__file__).parents[3]
ORDERS_0, ORDERS_1 = TopicPartition("orders", 0), TopicPartition("orders", 1)
FIRST_ID, SECOND_ID = UUID(int=1), UUID(int=2)


@pytest.fixture
def start(tmp_path):
    """A loaded manager over `directories` of tmp_path; each is shut down at the end."""
    started = []

    def start_manager(*directories: str, broker_id: int = 1, cluster_id: str | None = "c1") -> LogManager:
        names = directories or ("data",)
        manager = LogManager([tmp_path / name for name in names], LogConfig(), broker_id, cluster_id)
        started.append(manager)
        manager.load_all()
        return manager

    yield start_manager
    for manager in started:
        manager.shutdown()


def kill(manager: LogManager) -> None:
    """What the death of the process does: locks go, nothing is written."""
    manager._unlock()


def test_logs_come_back_with_their_topic_ids_after_a_clean_stop(start, batch_of, records_of):
    manager = start()
    for partition in (ORDERS_0, ORDERS_1):
        manager.get_or_create(partition, FIRST_ID).append(batch_of(b"%d" % partition.partition), 0)
    manager.shutdown()
    again = start()
    assert sorted(again.logs) == [ORDERS_0, ORDERS_1]
    assert again.topic_id_of(ORDERS_1) == FIRST_ID
    assert records_of(again.get(ORDERS_1)) == [(0, b"1")]
    assert again.get(TopicPartition("orders", 2)) is None


def test_clean_marker_is_there_only_while_nobody_runs(start, tmp_path, batch_of):
    marker = tmp_path / "data" / ".kafka_cleanshutdown"
    manager = start()
    manager.get_or_create(ORDERS_0, FIRST_ID).append(batch_of(b"a", b"b"), 0)
    assert not marker.exists()
    manager.shutdown()
    assert marker.exists()
    assert read_offset_checkpoint(tmp_path / "data" / "recovery-point-offset-checkpoint") == {ORDERS_0: 2}
    start()
    assert not marker.exists()


def test_unclean_stop_is_recovered(start, tmp_path, batch_of, records_of):
    manager = start()
    manager.get_or_create(ORDERS_0, FIRST_ID).append(batch_of(b"a"), 0)
    kill(manager)
    with (tmp_path / "data" / "orders-0" / f"{0:020d}.log").open("ab") as file:
        file.write(b"torn")
    assert records_of(start().get(ORDERS_0)) == [(0, b"a")]


def test_directory_that_could_not_be_flushed_is_not_called_clean(start, tmp_path, monkeypatch):
    def failing(file):
        raise OSError(5, "Input/output error")

    manager = start("a", "b")
    manager.get_or_create(ORDERS_0, FIRST_ID)
    with monkeypatch.context() as broken:
        broken.setattr("broker.log.segment.fsync_file", failing)
        manager.shutdown()
    left = [(tmp_path / name / ".kafka_cleanshutdown").exists() for name in ("a", "b")]
    assert left == [False, True]


def test_manager_that_never_loaded_leaves_no_clean_marker(tmp_path):
    LogManager([tmp_path / "data"], LogConfig(), 1, "c1").shutdown()
    assert not (tmp_path / "data" / ".kafka_cleanshutdown").exists()


def test_start_that_never_loads_keeps_the_clean_marker_of_before(start, tmp_path):
    start().shutdown()
    LogManager([tmp_path / "data"], LogConfig(), 1, "c1").shutdown()
    assert (tmp_path / "data" / ".kafka_cleanshutdown").exists()


def test_directory_in_use_is_said_so_and_free_again_afterwards(start, tmp_path):
    first = start("shared")
    with pytest.raises(StartupError, match="in use by another broker"):
        LogManager([tmp_path / "own", tmp_path / "shared"], LogConfig(), 1)
    start("own")  # the failed start let go of it
    first.shutdown()
    start("shared")


def test_lock_goes_with_the_process(tmp_path, start):
    script = (
        "import os, sys; from pathlib import Path; from broker.log.config import LogConfig;"
        "from broker.log.manager import LogManager;"
        "manager = LogManager([Path(sys.argv[1])], LogConfig(), 1); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", script, tmp_path / "data"], cwd=ROOT, check=False)
    assert (tmp_path / "data" / ".lock").exists()
    start()


def test_directory_of_another_broker_or_cluster_is_refused(start):
    start("data", broker_id=1, cluster_id="c1").shutdown()
    with pytest.raises(StartupError, match="belongs to broker 1, not to broker 2"):
        start("data", broker_id=2, cluster_id="c1")
    with pytest.raises(StartupError, match="belongs to cluster c1, not to c2"):
        start("data", broker_id=1, cluster_id="c2")
    start("data", broker_id=1, cluster_id="c1")


SPOILT_META_PROPERTIES = {
    "empty": b"",
    "damaged": b"\xff\xfe\x00",
    "of another broker": b"version=0\nbroker.id=2\ncluster.id=c1\n",
    "of another cluster": b"version=0\nbroker.id=1\ncluster.id=c2\n",
    "of KRaft": b"version=1\nnode.id=1\ncluster.id=c1\n",
}


@pytest.mark.parametrize("content", SPOILT_META_PROPERTIES.values(), ids=SPOILT_META_PROPERTIES)
def test_one_directory_that_is_not_known_as_this_brokers_goes_offline_as_it_is(start, tmp_path, batch_of, content):
    manager = start("a", "b")
    for partition in (ORDERS_0, ORDERS_1):
        manager.get_or_create(partition, FIRST_ID).append(batch_of(b"v"), 0)
    (lost,) = (partition for partition in (ORDERS_0, ORDERS_1) if manager.get(partition).directory.parent.name == "b")
    kill(manager)
    (tmp_path / "b" / "meta.properties").write_bytes(content)
    before = {path: path.read_bytes() for path in sorted((tmp_path / "b").rglob("*")) if path.is_file()}
    again = start("a", "b")
    assert list(again.offline_directories) == [tmp_path / "b"]
    assert again.is_out_of_reach(lost)
    with pytest.raises(ApiError) as caught:
        again.get_or_create(lost, FIRST_ID, is_new=False)
    assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    again.note_machine_start()
    again.shutdown()
    assert {path: path.read_bytes() for path in sorted((tmp_path / "b").rglob("*")) if path.is_file()} == before
    assert not (tmp_path / "a" / str(lost)).exists()


@pytest.mark.parametrize("content", SPOILT_META_PROPERTIES.values(), ids=SPOILT_META_PROPERTIES)
@pytest.mark.parametrize("is_other_alike", [False, True])
def test_no_broker_starts_whose_directories_do_not_confirm_its_configuration(start, tmp_path, content, is_other_alike):
    """A new directory says nothing: `broker.id` or `zookeeper.connect` may be wrong, and it would be claimed."""
    start("a").shutdown()
    for name in ("a", "b") if is_other_alike else ("a",):
        (tmp_path / name).mkdir(exist_ok=True)
        (tmp_path / name / "meta.properties").write_bytes(content)
    with pytest.raises(StartupError):
        start("a", "b")
    assert (tmp_path / "b" / "meta.properties").exists() == is_other_alike, "a new one is not claimed"


def test_a_disk_that_fails_to_read_whose_it_is_goes_offline(start, tmp_path, monkeypatch):
    start("a", "b").shutdown()
    read = directory.read_meta_properties

    def failing(path):
        if path.parent.name == "b":
            raise OSError(errno.EIO, "Input/output error")
        return read(path)

    monkeypatch.setattr(directory, "read_meta_properties", failing)
    assert list(start("a", "b").offline_directories) == [tmp_path / "b"]


def test_cluster_id_may_come_later(start, tmp_path):
    manager = start("data", cluster_id=None)
    assert not (tmp_path / "data" / "meta.properties").exists()
    manager.set_cluster_id("c9")
    assert (tmp_path / "data" / "meta.properties").read_text() == "version=0\nbroker.id=1\ncluster.id=c9\n"
    with pytest.raises(StartupError):
        manager.set_cluster_id("c8")


def test_directory_that_cannot_be_made_is_one_sentence(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StartupError, match="cannot be used"):
        LogManager([tmp_path / "file" / "data"], LogConfig(), 1)


def test_new_partitions_go_where_the_fewest_are(start):
    manager = start("a", "b")
    logs = [manager.get_or_create(TopicPartition("t", index), FIRST_ID) for index in range(6)]
    homes = [log.directory.parent.name for log in logs]
    assert sorted(homes) == ["a"] * 3 + ["b"] * 3
    for index in (0, 2, 4):
        manager.delete(TopicPartition("t", index))
    assert manager.get_or_create(TopicPartition("t", 9), FIRST_ID).directory.parent.name == homes[0]


def test_logs_made_beforehand_are_those_the_owner_then_gets(start, tmp_path):
    manager = start("a", "b")
    wanted = [NewLog(TopicPartition("orders", number), FIRST_ID, True) for number in range(4)]
    manager.create_missing(wanted)
    made = dict(manager.logs)
    assert [len(list((tmp_path / name).glob("orders-*"))) for name in ("a", "b")] == [2, 2]
    manager.create_missing(wanted)
    assert {new.partition: manager.get_or_create(new.partition, FIRST_ID) for new in wanted} == made


def test_log_that_cannot_be_made_beforehand_does_not_keep_the_others_from_it(start, monkeypatch):
    manager = start()
    create = manager._create

    def refuse_first(partition, topic_id, *, is_new):
        if partition == ORDERS_0:
            raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR)
        return create(partition, topic_id, is_new=is_new)

    monkeypatch.setattr(manager, "_create", refuse_first)
    manager.create_missing([NewLog(ORDERS_0, FIRST_ID, True), NewLog(ORDERS_1, FIRST_ID, True)])
    assert list(manager.logs) == [ORDERS_1]


def test_no_log_is_made_after_the_shutdown(start, tmp_path, monkeypatch):
    """The thread that makes logs may be at work when the broker stops."""
    manager = start()
    create, has_begun, may_go_on = manager._create, threading.Event(), threading.Event()

    def slow(*arguments, **options):
        has_begun.set()
        assert may_go_on.wait(30)
        return create(*arguments, **options)

    monkeypatch.setattr(manager, "_create", slow)
    wanted = [NewLog(ORDERS_0, FIRST_ID, True), NewLog(ORDERS_1, FIRST_ID, True)]
    making = threading.Thread(target=manager.create_missing, args=(wanted,))
    making.start()
    assert has_begun.wait(30)
    stopping = threading.Thread(target=manager.shutdown)
    stopping.start()
    may_go_on.set()
    for thread in (making, stopping):
        thread.join(30)
        assert not thread.is_alive()
    assert sorted(start().logs) in ([ORDERS_0], [ORDERS_0, ORDERS_1])


def test_same_partition_gives_the_same_log(start):
    manager = start()
    assert manager.get_or_create(ORDERS_0, FIRST_ID) is manager.get_or_create(ORDERS_0, FIRST_ID)


def test_trap_12_recreated_topic_never_sees_the_old_one(start, batch_of, records_of):
    manager = start()
    manager.get_or_create(ORDERS_0, FIRST_ID).append(batch_of(b"old"), 0)
    with pytest.raises(ApiError) as caught:
        manager.get_or_create(ORDERS_0, SECOND_ID)
    assert caught.value.code is ErrorCode.INCONSISTENT_TOPIC_ID
    assert manager.delete(ORDERS_0)
    log = manager.get_or_create(ORDERS_0, SECOND_ID)
    assert (records_of(log), manager.topic_id_of(ORDERS_0)) == ([], SECOND_ID)
    assert manager.purge_deleted() == 1
    log.append(batch_of(b"new"), 0)
    kill(manager)
    again = start()
    assert (records_of(again.get(ORDERS_0)), again.topic_id_of(ORDERS_0)) == ([(0, b"new")], SECOND_ID)


def test_a_log_is_deleted_though_the_disk_is_full(start, tmp_path, batch_of):
    """Deleting is how a full disk is freed: what is noted of the log elsewhere can be lowered later."""

    def no_room(path, end_offsets):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    manager = start()
    manager.get_or_create(ORDERS_0, FIRST_ID).append(batch_of(b"old"), 0)
    manager.on_cut = no_room
    assert manager.delete(ORDERS_0)
    assert manager.purge_deleted() == 1
    assert not list((tmp_path / "data").glob("orders-0*"))
    assert manager.offline_directories == {}


def test_partition_without_an_id_takes_the_first_that_is_given(start, tmp_path):
    manager = start()
    manager.get_or_create(ORDERS_0, FIRST_ID)
    manager.shutdown()
    (tmp_path / "data" / "orders-0" / "partition.metadata").unlink()
    again = start()
    assert again.topic_id_of(ORDERS_0) is None
    again.get_or_create(ORDERS_0, SECOND_ID)
    assert again.topic_id_of(ORDERS_0) == SECOND_ID
    again.shutdown()
    assert start().topic_id_of(ORDERS_0) == SECOND_ID


def test_an_id_of_zero_is_noted_as_none(start, tmp_path):
    """As a broker of an earlier version wrote it that was told a topic without an id."""
    manager = start()
    manager.get_or_create(ORDERS_0, FIRST_ID)
    manager.shutdown()
    (tmp_path / "data" / "orders-0" / "partition.metadata").write_text(f"version: 0\ntopic_id: {'A' * 22}\n")
    assert start().topic_id_of(ORDERS_0) is None


def test_records_put_in_the_place_of_a_new_log_are_set_aside(start, tmp_path, batch_of, records_of):
    """A directory is restored from a backup while the broker runs, and then a topic of that name is made."""
    manager = start()
    manager.get_or_create(ORDERS_0, FIRST_ID).append(batch_of(b"restored"), 0)
    shutil.copytree(tmp_path / "data" / "orders-0", tmp_path / "backup")
    manager.delete(ORDERS_0)
    shutil.copytree(tmp_path / "backup", tmp_path / "data" / "orders-0")
    assert records_of(manager.get_or_create(ORDERS_0, SECOND_ID)) == []
    (aside,) = manager.strays
    assert b"restored" in (aside / f"{0:020d}.log").read_bytes()


def test_deleted_log_is_renamed_at_once_and_purged_later(start, tmp_path, batch_of):
    manager = start()
    log = manager.get_or_create(ORDERS_0, FIRST_ID)
    log.append(batch_of(b"a"), 0)
    unsent = log.read(0, 1 << 20, 1)
    assert manager.delete(ORDERS_0)
    assert not manager.delete(ORDERS_0)
    (aside,) = (tmp_path / "data").glob("orders-0.*-delete")
    assert len(aside.name) == len("orders-0.") + 32 + len("-delete")
    assert manager.purge_deleted() == 1
    assert not aside.exists()
    assert len(unsent.read()) == unsent.length > 0
    with pytest.raises(ApiError):
        log.append(batch_of(b"late"), 0)


def test_deletion_that_finds_no_descriptor_changes_nothing_and_works_when_there_is_one(start, tmp_path, monkeypatch):
    manager = start()
    manager.get_or_create(ORDERS_0, FIRST_ID)

    def no_descriptor(path):
        raise OSError(errno.EMFILE, "Too many open files")

    with monkeypatch.context() as exhausted:
        exhausted.setattr("broker.log.log_removal.open_directory", no_descriptor)
        with pytest.raises(ApiError, match="Too many open files"):
            manager.delete(ORDERS_0)
    assert (tmp_path / "data" / "orders-0").is_dir()
    assert manager.online_directories == [tmp_path / "data"]
    assert manager.delete(ORDERS_0)
    assert not (tmp_path / "data" / "orders-0").exists()


def test_directory_that_cannot_be_claimed_for_the_moment_ends_the_start_with_a_sentence(start, tmp_path, monkeypatch):
    start().shutdown()

    def no_descriptor(path):
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr("broker.log.directory.read_meta_properties", no_descriptor)
    with pytest.raises(NotNowError, match=r"data cannot be claimed: Too many open files\. Start the broker again"):
        start()


def test_a_stop_in_the_middle_of_a_deletion_is_no_failure_of_a_flush(start, tmp_path):
    manager = start()
    manager.get_or_create(ORDERS_0, FIRST_ID)
    manager.close([ORDERS_0])
    with capture_logs() as lines:
        manager.shutdown()
    assert [line for line in lines if line["log_level"] == "error"] == []
    assert not (tmp_path / "data" / ".kafka_cleanshutdown").exists()


def test_longest_topic_name_can_be_deleted(start):
    manager = start()
    partition = TopicPartition("t" * 249, 12345)
    manager.get_or_create(partition, FIRST_ID)
    assert manager.delete(partition)
    assert manager.purge_deleted() == 1


def test_deletion_interrupted_by_a_stop_is_finished_at_the_next_start(start, tmp_path):
    manager = start()
    manager.get_or_create(ORDERS_0, FIRST_ID)
    manager.delete(ORDERS_0)
    kill(manager)
    assert dict(start().logs) == {}
    assert list((tmp_path / "data").glob("orders*")) == []


def test_foreign_directories_and_files_are_left_alone(start, tmp_path):
    for name in ("lost+found", "orders", "orders-01", "orders-x", "-3"):
        (tmp_path / "data" / name).mkdir(parents=True)
    (tmp_path / "data" / "orders-7").touch()
    assert dict(start().logs) == {}
    assert (tmp_path / "data" / "lost+found").exists()


def test_topics_whose_names_look_like_ours_are_topics(start):
    manager = start()
    odd = [TopicPartition("a-1", 0), TopicPartition("x-delete", 3), TopicPartition(".lock-", 0)]
    for partition in odd:
        manager.get_or_create(partition, FIRST_ID)
    manager.shutdown()
    assert sorted(start().logs) == sorted(odd)


def test_partition_with_batches_in_two_directories_is_out_of_reach(start, batch_of):
    for name in ("a", "b"):
        manager = start(name)
        manager.get_or_create(ORDERS_0, FIRST_ID).append(batch_of(b"v"), 0)
        manager.shutdown()
    again = start("a", "b")
    assert again.get(ORDERS_0) is None
    assert again.is_out_of_reach(ORDERS_0)
    assert "the log of orders-0 is in" in again.unopened[ORDERS_0]


@pytest.mark.parametrize("kept", ["a", "b"])
def test_copy_that_holds_no_batch_is_set_aside_at_the_start(start, tmp_path, batch_of, records_of, kept):
    for name in ("a", "b"):
        manager = start(name)
        log = manager.get_or_create(ORDERS_0, FIRST_ID)
        if name == kept:
            log.append(batch_of(b"v"), 0)
        manager.shutdown()
    manager = start("a", "b")
    assert records_of(manager.get(ORDERS_0)) == [(0, b"v")]
    assert [path.parent.name for path in tmp_path.glob("*/orders-0.*-stray")] == [name for name in "ab" if name != kept]


@pytest.mark.parametrize("kept", ["a", "b"])
def test_of_two_copies_without_batches_the_one_whose_offsets_went_on_is_kept(start, kept):
    for name in ("a", "b"):
        manager = start(name)
        log = manager.get_or_create(ORDERS_0, FIRST_ID)
        if name == kept:
            log.truncate_fully_and_start_at(100)
        manager.shutdown()
    assert start("a", "b").get(ORDERS_0).log_end_offset == 100


def test_progress_counts_up_to_the_total(start, tmp_path):
    manager = start()
    for index in range(3):
        manager.get_or_create(TopicPartition("t", index), FIRST_ID)
    manager.shutdown()
    seen = []
    again = LogManager([tmp_path / "data"], LogConfig(), 1, "c1")
    again.load_all(lambda loaded, total: seen.append((loaded, total)))
    again.shutdown()
    assert seen == [(1, 3), (2, 3), (3, 3)]


def test_log_that_cannot_be_opened_is_named(start, tmp_path):
    manager = start()
    manager.get_or_create(ORDERS_0, FIRST_ID)
    manager.shutdown()
    log_file = tmp_path / "data" / "orders-0" / f"{0:020d}.log"
    log_file.unlink()
    log_file.mkdir()
    with pytest.raises(StartupError, match=str(tmp_path / "data" / "orders-0")):
        start()
    assert not (tmp_path / "data" / ".kafka_cleanshutdown").exists()


def open_below(directory: Path) -> list[str]:
    """Which files below `directory` this process has open; what other threads open elsewhere does not count."""
    paths = []
    for descriptor in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):
            paths.append(os.readlink(f"/proc/self/fd/{descriptor}"))
    return [path for path in paths if path.startswith(f"{directory}/")]


def test_shutdown_twice_is_fine_and_closes_every_file(start, tmp_path):
    manager = start()
    for index in range(5):
        manager.get_or_create(TopicPartition("t", index), FIRST_ID)
    assert open_below(tmp_path)
    manager.shutdown()
    manager.shutdown()
    assert open_below(tmp_path) == []


def test_several_threads_close_every_log_once(start, tmp_path, batch_of, records_of):
    manager = start()
    partitions = [TopicPartition("many", index) for index in range(60)]
    for partition in partitions:
        manager.get_or_create(partition, FIRST_ID).append(batch_of(b"a"), 0)
    with ThreadPoolExecutor(4) as threads:
        for closing in [threads.submit(manager.close_logs) for _ in range(4)]:
            closing.result()
    assert not (tmp_path / "data" / ".kafka_cleanshutdown").exists()
    manager.shutdown()
    assert (tmp_path / "data" / ".kafka_cleanshutdown").exists()
    noted = read_offset_checkpoint(tmp_path / "data" / "recovery-point-offset-checkpoint")
    assert noted == dict.fromkeys(partitions, 1)
    assert all(records_of(log) == [(0, b"a")] for log in start().logs.values())


def test_log_whose_closing_thread_died_keeps_the_directory_from_being_called_clean(
    start, tmp_path, monkeypatch, batch_of
):
    manager = start()
    manager.get_or_create(ORDERS_0, FIRST_ID).append(batch_of(b"a"), 0)

    def dying(log):
        raise RuntimeError("out of memory")

    with monkeypatch.context() as broken:
        broken.setattr(Log, "store_clean_state", dying)
        with pytest.raises(RuntimeError):
            manager.close_logs()
    manager.shutdown()
    assert not (tmp_path / "data" / ".kafka_cleanshutdown").exists()


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "../out", "/srv/out", "in/side", "a" * 250, "a\0b", "ü", "a b", "a\nb"],
    ids=repr,
)
def test_a_partition_that_cannot_be_called_so_touches_no_file(start, tmp_path, name):
    manager = start()
    before = sorted(tmp_path.rglob("*"))
    partition = TopicPartition(name, 0)
    with pytest.raises(ApiError) as refused:
        manager.get_or_create(partition, FIRST_ID)
    assert refused.value.code == ErrorCode.INVALID_TOPIC_EXCEPTION
    manager.create_missing([NewLog(partition, FIRST_ID, True)])
    assert not manager.delete(partition)
    assert sorted(tmp_path.rglob("*")) == before
    assert not manager.offline_directories


@pytest.mark.parametrize("index", [-1, 2**31, 2**63])
def test_a_partition_of_an_impossible_number_touches_no_file(start, tmp_path, index):
    manager = start()
    with pytest.raises(ApiError):
        manager.get_or_create(TopicPartition("t", index), FIRST_ID)
    assert not list((tmp_path / "data").glob("t-*"))


def test_a_legal_name_whose_directory_would_be_too_long_is_that_partitions_error(start):
    manager = start()
    with pytest.raises(ApiError) as refused:
        manager.get_or_create(TopicPartition("a" * 249, 2**31 - 1), FIRST_ID)
    assert refused.value.code == ErrorCode.INVALID_TOPIC_EXCEPTION
    assert manager.get_or_create(TopicPartition("a" * 249, 0), FIRST_ID)
    assert not manager.offline_directories


def test_what_lies_in_the_way_of_one_partition_is_not_the_disks_failure(start, tmp_path):
    manager = start()
    (tmp_path / "data" / str(ORDERS_0)).write_text("a file of somebody")
    with pytest.raises(ApiError) as refused:
        manager.get_or_create(ORDERS_0, FIRST_ID)
    assert refused.value.code == ErrorCode.KAFKA_STORAGE_ERROR
    assert not manager.offline_directories
    assert (tmp_path / "data" / str(ORDERS_0)).read_text() == "a file of somebody"
    assert manager.get_or_create(ORDERS_1, FIRST_ID)


def test_a_partition_whose_directory_somebody_removed_is_that_partitions_error(start, tmp_path):
    manager = start()
    manager.get_or_create(ORDERS_0, FIRST_ID)
    shutil.rmtree(tmp_path / "data" / str(ORDERS_0))
    with pytest.raises(ApiError):
        manager.delete(ORDERS_0)
    assert not manager.offline_directories


def test_directories_that_can_be_no_partitions_are_left_alone_at_the_start(start, tmp_path):
    for name in ("..-0", ".-0", "t-99999999999", "a b-0"):
        (tmp_path / "data" / name).mkdir(parents=True)
    assert not start().logs

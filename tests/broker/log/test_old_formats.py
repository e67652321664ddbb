"""Logs with messages of formats 0 and 1: refused as they are, alone, and no byte of them changes."""

from pathlib import Path
from uuid import UUID

import pytest

from broker.common.errors import ApiError, ErrorCode
from broker.common.types import TopicPartition
from broker.log.config import LogConfig
from broker.log.loader import UnusableLogError
from broker.log.log import Log
from broker.log.manager import LogManager
from tests.broker.log.old_messages import old_message, old_messages

CONFIG = LogConfig(segment_bytes=1_000, index_interval_bytes=150)
OLD, NEW = TopicPartition("old", 0), TopicPartition("new", 0)
ID = UUID(int=7)


def content(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def new_batches(batch_of, directory: Path, from_offset: int, count: int) -> bytes:
    """Batches of the current format, at those offsets."""
    log = Log.open(directory, LogConfig())
    log.truncate_fully_and_start_at(from_offset)
    for number in range(count):
        log.append(batch_of(b"%d" % number), 0)
    log.close()
    return (directory / f"{from_offset:020d}.log").read_bytes()


@pytest.fixture(params=[0, 1], ids=["format 0", "format 1"])
def magic(request):
    return request.param


@pytest.fixture(params=["only", "then new in the same segment", "then new in another segment", "sealed and active"])
def old(request, magic, tmp_path, batch_of):
    """The directory of a log that begins with old messages."""
    directory = tmp_path / "old-0"
    directory.mkdir()
    first = old_messages(20, magic)
    newer = new_batches(batch_of, tmp_path / "aside-0", 20, 5)
    if request.param == "then new in the same segment":
        first += newer
    elif request.param == "then new in another segment":
        (directory / f"{20:020d}.log").write_bytes(newer)
    elif request.param == "sealed and active":
        (directory / f"{20:020d}.log").write_bytes(old_messages(3, magic, from_offset=20))
    (directory / f"{0:020d}.log").write_bytes(first)
    (directory / f"{0:020d}.index").write_bytes(b"\0\0\0\x05\0\0\0\x85")
    return directory


@pytest.mark.parametrize("is_clean", [True, False])
@pytest.mark.parametrize("recovery_point", [0, 20, 23])
def test_a_log_of_an_old_format_is_refused_and_no_byte_changes(old, magic, is_clean, recovery_point):
    before = content(old)
    with pytest.raises(UnusableLogError, match=f"format {magic}, which Kafka before 0.11 wrote"):
        Log.open(old, CONFIG, is_clean=is_clean, recovery_point=recovery_point)
    assert content(old) == before
    assert [path.name for path in old.parent.iterdir() if path.name.endswith("-stray")] == []


@pytest.mark.parametrize("is_clean", [True, False])
def test_old_messages_behind_new_ones_are_not_cut_away(tmp_path, batch_of, magic, is_clean):
    """A cluster that went back to log.message.format.version=0.10."""
    directory = tmp_path / "t-0"
    content_before = new_batches(batch_of, directory, 0, 5) + old_messages(5, magic, from_offset=5)
    path = directory / f"{0:020d}.log"
    path.write_bytes(content_before)
    with pytest.raises(UnusableLogError):
        Log.open(directory, CONFIG, is_clean=is_clean)
    assert path.read_bytes() == content_before


def test_readers_are_told_of_old_messages_in_the_middle_of_a_log(tmp_path, batch_of, magic):
    directory = tmp_path / "t-0"
    newest = new_batches(batch_of, tmp_path / "aside-0", 10, 2)
    new_batches(batch_of, directory, 0, 5)
    middle = old_messages(5, magic, from_offset=5)
    (directory / f"{5:020d}.log").write_bytes(middle)
    (directory / f"{10:020d}.log").write_bytes(newest)
    log = Log.open(directory, CONFIG, is_clean=True)
    with pytest.raises(ApiError, match=r"Kafka before 0\.11") as refused:
        log.read(5, 1_000, 12)
    assert refused.value.code is ErrorCode.CORRUPT_MESSAGE
    assert log.read(10, 1_000, 12).length
    assert (directory / f"{5:020d}.log").read_bytes() == middle


def test_a_compacted_segment_of_an_old_format_that_waits_for_its_place_is_kept(tmp_path, magic):
    directory = tmp_path / "t-0"
    directory.mkdir()
    (directory / f"{0:020d}.log").write_bytes(old_messages(5, magic))
    (directory / f"{0:020d}.log.swap").write_bytes(old_messages(3, magic))
    before = content(directory)
    with pytest.raises(UnusableLogError):
        Log.open(directory, CONFIG)
    assert content(directory) == before


def test_an_old_message_whose_crc_does_not_match_is_damage(tmp_path):
    directory = tmp_path / "t-0"
    directory.mkdir()
    damaged = bytearray(old_message(0, b"value" * 30, magic=1))
    damaged[-1] ^= 1
    (directory / f"{0:020d}.log").write_bytes(damaged)
    assert Log.open(directory, CONFIG).log_end_offset == 0


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
def mixed(start, tmp_path, batch_of):
    """A log directory with a topic of this broker and one that a Kafka before 0.11 left; both were stopped cleanly."""
    manager = start()
    for partition in (OLD, NEW):
        manager.get_or_create(partition, ID).append(batch_of(b"a", b"b"), 0)
    manager.get(OLD).delete_records(1, 2)
    manager.checkpoint_log_start_offsets()
    manager.shutdown()
    directory = tmp_path / "data" / str(OLD)
    (directory / f"{0:020d}.log").write_bytes(old_messages(9, magic=1))
    return directory


def test_an_old_topic_leaves_the_others_of_its_directory_alone(mixed, start, records_of):
    before = content(mixed)
    manager = start()
    assert records_of(manager.get(NEW)) == [(0, b"a"), (1, b"b")]
    assert manager.get(OLD) is None
    assert manager.is_out_of_reach(OLD)
    assert not manager.is_out_of_reach(NEW)
    assert not manager.offline_directories
    with pytest.raises(ApiError, match=r"Kafka before 0\.11") as refused:
        manager.get_or_create(OLD, ID)
    assert refused.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert content(mixed) == before
    assert list(manager.unopened) == [OLD]


def test_what_is_noted_beside_a_log_out_of_reach_stays(mixed, start, tmp_path):
    manager = start()
    manager.checkpoint_recovery_points()
    manager.checkpoint_log_start_offsets()
    manager.store_high_watermarks({NEW: 2})
    manager.shutdown()
    noted = (tmp_path / "data" / "log-start-offset-checkpoint").read_text()
    assert "old 0 1" in noted
    assert "old 0 2" in (tmp_path / "data" / "recovery-point-offset-checkpoint").read_text()


def test_a_log_out_of_reach_that_was_killed_is_recovered_when_it_is_opened_however_often_the_broker_stopped(
    mixed, start, tmp_path, batch_of
):
    good = (mixed.parent / str(NEW) / f"{0:020d}.log").read_bytes()
    (tmp_path / "data" / ".kafka_cleanshutdown").unlink()
    for _ in range(2):
        start().shutdown()
    torn = bytearray(good)
    torn[-1] ^= 1
    (mixed / f"{0:020d}.log").write_bytes(torn)
    manager = start()
    assert manager.get(OLD).log_end_offset == 1, "the CRC was looked at"
    assert not (mixed / "not-recovered").exists()


def test_a_log_out_of_reach_is_set_aside_when_its_partition_is_deleted(mixed, start):
    manager = start()
    before = content(mixed)
    assert manager.close([OLD]) == {}
    (aside,) = mixed.parent.glob("old-0.*-stray")
    assert content(aside) == before
    assert manager.get_or_create(OLD, UUID(int=8)).log_end_offset == 0


def test_one_garbled_partition_metadata_leaves_the_other_partitions_alone(mixed, start, records_of):
    (mixed / "partition.metadata").write_bytes(b"\xff\x00garbled")
    before = content(mixed)
    manager = start()
    assert records_of(manager.get(NEW)) == [(0, b"a"), (1, b"b")]
    assert manager.is_out_of_reach(OLD)
    assert "partition.metadata is malformed" in manager.unopened[OLD]
    assert content(mixed) == before

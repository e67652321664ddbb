"""What a follower truncates for a leader that has less is kept beside its log, in segments that can be read again."""

import errno
import os
from pathlib import Path
from uuid import UUID

import pytest
from structlog.testing import capture_logs

from broker.common.errors import ApiError, ErrorCode
from broker.common.types import TopicPartition
from broker.log import offset_checkpoint
from broker.log.config import LogConfig
from broker.log.log import Log
from broker.log.manager import LogManager
from broker.log.truncation import Truncation

CONFIG = LogConfig(segment_bytes=1_000)
PARTITION = TopicPartition("t", 0)
TOPIC_ID = UUID(int=7)


@pytest.fixture
def manager(tmp_path, batch_of):
    """A log of several segments with two records in each batch."""
    manager = LogManager([tmp_path], CONFIG, 1, "cluster")
    manager.load_all()
    log = manager.get_or_create(PARTITION, TOPIC_ID)
    while len(log.segments) < 5:
        number = log.log_end_offset
        log.append(batch_of(b"%d" % number, b"%d" % (number + 1)), 0)
    return manager


@pytest.fixture
def start(tmp_path):
    """Start on the same directory once more."""

    def start_manager() -> LogManager:
        manager = LogManager([tmp_path], CONFIG, 1, "cluster")
        manager.load_all()
        return manager

    return start_manager


def strays(directory: Path) -> list[Path]:
    return sorted(directory.glob("t-0.*-stray"))


def served_again(stray: Path, records_of) -> list[tuple[int, bytes]]:
    return records_of(Log.open(stray, CONFIG))


@pytest.mark.parametrize(
    "cut_of",
    [
        lambda log: Truncation(0, is_of_all=True),
        lambda log: Truncation(0),
        lambda log: Truncation(1),
        lambda log: Truncation(log.segments[2].base_offset),
        lambda log: Truncation(log.segments[2].base_offset + 3),
        lambda log: Truncation(log.log_end_offset - 2),
    ],
)
def test_what_is_cut_is_kept_and_can_be_served_again(manager, records_of, cut_of):
    log, path = manager.get(PARTITION), manager.get(PARTITION).directory.parent
    cut, before = cut_of(log), records_of(log)
    with capture_logs() as lines:
        manager.cut(PARTITION, log, cut._replace(is_kept=True))
    (stray,) = strays(path)
    left = records_of(log)
    assert left + served_again(stray, records_of) == before
    assert (stray / "partition.metadata").read_bytes() == (log.directory / "partition.metadata").read_bytes()
    assert manager.strays == {stray}
    assert manager.truncations_kept == 1
    assert [line["log_level"] for line in lines if line.get("path") == str(stray)] == ["error"]


def test_what_is_written_after_the_cut_is_not_in_what_was_kept(manager, batch_of, records_of):
    log, before = manager.get(PARTITION), records_of(manager.get(PARTITION))
    manager.cut(PARTITION, log, Truncation(0, is_of_all=True, is_kept=True))
    log.append(batch_of(b"of the next leader"), 1)
    log.purge_segments(0)
    log.purge_segments(10**9)
    (stray,) = strays(log.directory.parent)
    assert served_again(stray, records_of) == before


def test_nothing_is_kept_of_a_cut_that_takes_nothing_or_is_of_what_was_never_acknowledged(manager):
    log = manager.get(PARTITION)
    manager.cut(PARTITION, log, Truncation(log.log_end_offset, is_kept=True))
    manager.cut(PARTITION, log, Truncation(log.log_end_offset - 2))
    assert strays(log.directory.parent) == []
    assert manager.truncations_kept == 0


@pytest.mark.parametrize("refusal", [errno.ENOSPC, errno.EMFILE])
def test_nothing_is_cut_that_cannot_be_kept(manager, records_of, monkeypatch, refusal):
    log, before = manager.get(PARTITION), records_of(manager.get(PARTITION))
    with monkeypatch.context() as full:
        full.setattr("broker.log.kept_truncations.write_at", _refuse(refusal))
        with pytest.raises(ApiError) as refused:
            manager.cut(PARTITION, log, Truncation(log.log_end_offset - 3, is_kept=True))
    assert refused.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert records_of(log) == before
    assert (strays(log.directory.parent), manager.strays) == ([], frozenset())
    assert manager.offline_directories == {}


def test_where_files_have_one_name_only_whole_segments_are_copied(manager, records_of, monkeypatch):
    log, before = manager.get(PARTITION), records_of(manager.get(PARTITION))
    monkeypatch.setattr(os, "link", _refuse(errno.EPERM))
    manager.cut(PARTITION, log, Truncation(0, is_of_all=True, is_kept=True))
    (stray,) = strays(log.directory.parent)
    assert served_again(stray, records_of) == before


def test_a_kept_truncation_is_on_disk_before_the_high_watermark_that_called_for_it_is_lowered(manager, monkeypatch):
    """A kill in between would leave a start that truncates without keeping anything."""
    log, steps = manager.get(PARTITION), []
    manager.store_high_watermarks({PARTITION: log.log_end_offset})
    lower = manager._lower

    def note_and_lower(*arguments) -> None:
        steps.append(len(strays(log.directory.parent)))
        lower(*arguments)

    monkeypatch.setattr(manager, "_lower", note_and_lower)
    cut = Truncation(2, is_kept=True)
    manager.note_truncations({PARTITION: cut})
    assert steps == [1]
    manager.cut(PARTITION, log, cut)
    assert set(steps) == {1}, "it is kept once"


def test_what_is_noted_beside_many_logs_is_lowered_once_for_all_cuts_that_keep_something(
    manager, batch_of, monkeypatch
):
    """A leader that has lost its disk has thousands of them cut: each note of one is a file with a line for all."""
    partitions = [PARTITION, *(TopicPartition("t", number) for number in range(1, 6))]
    for partition in partitions[1:]:
        manager.get_or_create(partition, TOPIC_ID).append(batch_of(b"1", b"2"), 0)
    manager.store_high_watermarks({partition: manager.get(partition).log_end_offset for partition in partitions})
    writes, write = [], offset_checkpoint.write_offset_checkpoint
    monkeypatch.setattr(
        offset_checkpoint, "write_offset_checkpoint", lambda path, offsets: (writes.append(path), write(path, offsets))
    )
    cuts = {partition: Truncation(0, is_of_all=True, is_kept=True) for partition in partitions}
    manager.note_truncations(cuts)
    for partition, cut in cuts.items():
        manager.cut(partition, manager.get(partition), cut)
    assert len(writes) == len(set(writes)) == 1
    assert manager.truncations_kept == len(manager.strays) == len(partitions)


def test_what_is_cut_again_is_kept_again(manager, batch_of):
    log = manager.get(PARTITION)
    for _ in range(2):
        cut = Truncation(log.log_end_offset - 2, is_kept=True)
        manager.note_truncations({PARTITION: cut})
        manager.cut(PARTITION, log, cut)
    assert len(strays(log.directory.parent)) == manager.truncations_kept == 2


def _refuse(code: int):
    def refuse(*_arguments) -> None:
        raise OSError(code, os.strerror(code))

    return refuse


def test_a_log_whose_first_bytes_are_damaged_is_kept_and_cut_as_a_whole(manager, start):
    """No header has to be read for that: else a follower with a damaged segment could never follow again."""
    log = manager.get(PARTITION)
    log.flush()
    path = log.segments[1].files.log
    manager.shutdown()
    path.write_bytes(b"damaged")
    again = start()
    again.cut(PARTITION, again.get(PARTITION), Truncation(0, is_of_all=True, is_kept=True))
    (stray,) = strays(path.parents[1])
    assert (stray / path.name).read_bytes() == b"damaged"
    assert again.get(PARTITION).log_end_offset == 0

"""Offsets that are missing between segments at a start: which are lost, and that nothing is ever cut for them."""

import errno
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest
from structlog.testing import capture_logs

from broker.common.types import TopicPartition
from broker.log import directory, log_removal, manager
from broker.log.checkpoints import RECOVERY_POINT_CHECKPOINT, read_offset_checkpoint, write_offset_checkpoint
from broker.log.compaction.checkpoint import CLEANER_OFFSET_CHECKPOINT
from broker.log.compaction.log_cleaner import LogCleaner
from broker.log.compaction.log_to_clean import LogToClean
from broker.log.compaction.segment_notes import COMPACTED_SEGMENTS, begin_segment_note
from broker.log.compaction.settings import CleanerSettings
from broker.log.config import LogConfig
from broker.log.gaps import OffsetGap, find_gaps, find_losses
from broker.log.log import Log
from broker.log.manager import LogManager
from broker.log.truncation import Truncation
from broker.records.batch import iterate_headers
from broker.records.builder import build_batch
from broker.records.record import Record
from tests.broker.log.death import Died
from tests.manual_clock import ManualClock

TOPIC = UUID(int=1)
T_0 = TopicPartition("t", 0)
CONFIG = LogConfig(segment_bytes=700, index_interval_bytes=100)


@pytest.fixture
def boot(tmp_path, monkeypatch) -> Path:
    """Which start of the machine this is."""
    file = tmp_path / "boot_id"
    file.write_text("first")
    monkeypatch.setattr(directory, "_BOOT_ID", file)
    return file


@pytest.fixture
def start(tmp_path, boot):
    started: list[LogManager] = []

    def start_manager() -> LogManager:
        logs = LogManager([tmp_path / "data"], CONFIG, 1, "c1")
        started.append(logs)
        logs.load_all()
        return logs

    yield start_manager
    for logs in started:
        logs.shutdown()


@pytest.fixture
def logs(start) -> LogManager:
    """A log of six segments, all of it fsynced and noted. Each ends with a record that a later one supersedes."""
    logs = start()
    logs.note_machine_start()
    log = logs.get_or_create(T_0, TOPIC)
    while len(log.segments) < 6:
        for key in (b"%d" % log.log_end_offset, b"same", b"same"):
            log.append(build_batch([Record(0, 1_000, key, b"." * 130)]), 0)
    log.flush()
    logs.checkpoint_recovery_points()
    return logs


def kill(logs: LogManager) -> None:
    """What the death of the process does: locks go, nothing is written, nothing can be any more."""
    for log in logs.logs.values():
        log.close()
    for item in logs._directories:
        item.is_loaded = False
    logs._unlock()


def stop(logs: LogManager, *, is_clean: bool) -> None:
    if is_clean:
        logs.shutdown()
    else:
        kill(logs)


def clean(log: Log, *, to: int | None = None) -> None:
    """Compact the log up to the segment number `to`, or all of it."""
    settings = CleanerSettings(ManualClock(), on_owner=lambda step: step(), sleep=lambda seconds: None)
    cleaner = LogCleaner(settings)
    end = log.log_end_offset if to is None else log.segments[to].base_offset
    target = LogToClean.of(T_0, log, end, frozenset(), replace(CONFIG, cleanup_policy=("compact",)))
    assert cleaner.clean(target, cleaner.plan(target)) is not None


def bases(log: Log) -> list[int]:
    return [segment.base_offset for segment in log.segments]


def remove(path: Path) -> None:
    for suffix in (".log", ".index", ".timeindex"):
        path.with_suffix(suffix).unlink()


LOSSES: dict[str, Callable[[Path], None]] = {"emptied": lambda path: os.truncate(path, 0), "removed": remove}


@pytest.mark.parametrize("is_clean", [True, False], ids=["clean", "killed"])
@pytest.mark.parametrize("loss", LOSSES)
def test_a_log_that_lost_a_segment_is_whole_no_more_and_says_which_offsets(logs, start, loss, is_clean):
    log = logs.get(T_0)
    path, before, end = log.segments[2].files.log, bases(log), log.log_end_offset
    stop(logs, is_clean=is_clean)
    LOSSES[loss](path)
    with capture_logs() as lines:
        again = start()
    assert not again.has_whole(T_0, TOPIC)
    assert again.lost_offsets == {T_0: (OffsetGap(before[2], before[3]),)}
    assert again.get(T_0).log_end_offset == end
    assert again.strays == frozenset(), "nothing is cut"
    (line,) = [line for line in lines if line["event"].startswith("offsets are missing")]
    assert (line["log_level"], line["offsets"]) == ("error", f"{before[2]} to {before[3] - 1}")


@pytest.mark.parametrize("is_clean", [True, False], ids=["clean", "killed"])
def test_a_log_that_lost_its_first_segments_in_a_stop_is_whole_no_more(logs, start, is_clean):
    """It would start later, and as a leader take the records along that its followers have."""
    log = logs.get(T_0)
    paths, before, end = [segment.files.log for segment in log.segments], bases(log), log.log_end_offset
    logs.checkpoint_log_start_offsets()
    stop(logs, is_clean=is_clean)
    for path in paths[:2]:
        remove(path)
    again = start()
    assert not again.has_whole(T_0, TOPIC)
    assert again.lost_offsets == {T_0: (OffsetGap(0, before[2], is_at_start=True),)}
    log = again.get(T_0)
    assert (log.log_start_offset, log.log_end_offset) == (before[2], end)
    log.delete_records(before[3], end)
    assert again.lost_offsets == {}


@pytest.mark.parametrize("is_clean", [True, False], ids=["clean", "killed"])
def test_first_segments_that_retention_let_go_of_are_no_loss(logs, start, is_clean):
    """A clean stop before noted an earlier start."""
    logs.shutdown()
    again = start()
    log = again.get(T_0)
    first = log.segments[2].base_offset
    again.note_retained_starts({T_0: first})
    log.delete_records(first, log.log_end_offset)
    log.replace_segments(log.segments[:2], [])
    stop(again, is_clean=is_clean)
    last = start()
    assert last.get(T_0).log_start_offset == first
    assert (last.lost_offsets, last.has_whole(T_0, TOPIC)) == ({}, True)


def test_a_log_that_was_emptied_by_its_leader_has_lost_nothing(logs, start):
    """A kill comes before it is noted where the log starts now."""
    logs.checkpoint_log_start_offsets()
    logs.get(T_0).truncate_fully_and_start_at(1_000)
    kill(logs)
    again = start()
    assert (again.get(T_0).log_start_offset, again.lost_offsets) == (1_000, {})


def test_logs_that_are_emptied_together_have_lost_nothing(logs, start):
    logs.checkpoint_log_start_offsets()
    cut = Truncation(1_000, is_of_all=True)
    logs.get(T_0).lend()
    logs.note_truncations({T_0: cut})
    logs.get(T_0).cut(cut)
    kill(logs)
    again = start()
    assert (again.get(T_0).log_start_offset, again.lost_offsets) == (1_000, {})


def test_a_first_segment_that_compaction_has_emptied_is_no_loss(logs, start):
    log = logs.get(T_0)
    clean(log)
    (log.directory / COMPACTED_SEGMENTS).unlink()  # as a pass of an earlier version
    logs.shutdown()
    again = start()
    again.get(T_0).replace_segments(again.get(T_0).segments[:1], [])
    kill(again)
    (log.directory.parent / directory.CLEAN_SHUTDOWN_FILE).touch()
    assert start().lost_offsets == {}


def test_all_segments_that_were_emptied_are_lost_up_to_the_last(logs, start):
    log = logs.get(T_0)
    paths, before = [segment.files.log for segment in log.segments], bases(log)
    logs.shutdown()
    for path in paths:
        os.truncate(path, 0)
    again = start()
    assert not again.has_whole(T_0, TOPIC)
    assert again.lost_offsets[T_0][-1].next_offset == again.get(T_0).log_end_offset == before[-1]


def test_a_whole_log_has_lost_nothing_however_it_was_left(logs, start, boot):
    kill(logs)
    again = start()
    assert (again.lost_offsets, again.has_whole(T_0, TOPIC)) == ({}, True)
    kill(again)
    boot.write_text("second")
    assert start().lost_offsets == {}


@pytest.mark.parametrize("missing", [(), (RECOVERY_POINT_CHECKPOINT,), (CLEANER_OFFSET_CHECKPOINT,), "both"])
def test_what_compaction_took_out_is_no_loss_and_never_cut(logs, start, boot, missing):
    """The notes were removed by hand, could not be written, or are another product's: nothing tells of the passes."""
    log = logs.get(T_0)
    clean(log)
    before, end, home = bases(log), log.log_end_offset, log.directory.parent
    assert find_gaps(log.segments, 0)
    kill(logs)
    boot.write_text("second")
    for name in (RECOVERY_POINT_CHECKPOINT, CLEANER_OFFSET_CHECKPOINT) if missing == "both" else missing:
        (home / name).unlink()
    again = start()
    assert (bases(again.get(T_0)), again.get(T_0).log_end_offset) == (before, end)
    assert again.lost_offsets == {}
    assert again.strays == frozenset()


def test_where_nothing_tells_of_compaction_nothing_is_cut(logs, start, boot):
    """Each batch was dropped that ended a segment, no other, and no note is left: a topic's setting may tell later."""
    log = logs.get(T_0)
    before, end, home = bases(log), log.log_end_offset, log.directory.parent
    ends = [segment.files.log for segment in log.segments[:-1]]
    kill(logs)
    for path in ends:
        os.truncate(path, [at for at, _ in iterate_headers(path.read_bytes())][-1])
    (home / RECOVERY_POINT_CHECKPOINT).unlink()
    boot.write_text("second")
    again = start()
    assert (bases(again.get(T_0)), again.get(T_0).log_end_offset) == (before, end)
    assert not again.has_whole(T_0, TOPIC)
    assert again.strays == frozenset()


def test_a_compacted_log_may_lose_what_no_pass_has_come_to(logs, start):
    log = logs.get(T_0)
    _, _, cleaned_to, lost, following, _ = log.segments
    clean(log, to=2)
    path, lost = lost.files.log, OffsetGap(lost.base_offset, following.base_offset)
    logs.shutdown()
    noted = read_offset_checkpoint(log.directory.parent / CLEANER_OFFSET_CHECKPOINT)
    assert noted == {T_0: cleaned_to.base_offset}
    remove(path)
    assert start().lost_offsets == {T_0: (lost,)}


def test_a_gap_that_the_cleaners_checkpoint_lies_behind_is_no_loss(logs, start):
    log = logs.get(T_0)
    path, end = log.segments[3].files.log, log.segments[4].base_offset
    logs.shutdown()
    write_offset_checkpoint(log.directory.parent / CLEANER_OFFSET_CHECKPOINT, {T_0: end})
    remove(path)
    again = start()
    assert (again.lost_offsets, again.has_whole(T_0, TOPIC)) == ({}, True)


SPOILT: dict[str, Callable[[Path], None]] = {**LOSSES, "cut short": lambda path: os.truncate(path, 200)}


def compacted(log: Log) -> None:
    """Compact the log, and let its owner know what its topic's setting is, as a broker does with its first role."""
    clean(log)
    log.config = replace(CONFIG, cleanup_policy=("compact",))


@pytest.mark.parametrize("is_clean", [True, False], ids=["clean", "killed"])
@pytest.mark.parametrize("loss", SPOILT)
def test_a_compacted_log_that_lost_a_compacted_segment_is_whole_no_more(logs, start, loss, is_clean):
    """Nothing in the other segments tells: the pass had noted what it left."""
    log = logs.get(T_0)
    compacted(log)
    path, before, end = log.segments[1].files.log, bases(log), log.log_end_offset
    stop(logs, is_clean=is_clean)
    SPOILT[loss](path)
    again = start()
    again.get(T_0).config = log.config
    assert not again.has_whole(T_0, TOPIC)
    assert again.lost_offsets == {T_0: (OffsetGap(before[1], before[2], is_noted=True),)}
    assert again.get(T_0).log_end_offset == end


@pytest.mark.parametrize("is_clean", [True, False], ids=["clean", "killed"])
def test_a_compacted_log_that_lost_its_first_segment_in_a_stop_is_whole_no_more(logs, start, is_clean):
    log = logs.get(T_0)
    compacted(log)
    path, before = log.segments[0].files.log, bases(log)
    logs.checkpoint_log_start_offsets()
    stop(logs, is_clean=is_clean)
    remove(path)
    again = start()
    again.get(T_0).config = log.config
    assert not again.has_whole(T_0, TOPIC)
    assert again.lost_offsets == {T_0: (OffsetGap(0, before[1], is_at_start=True, is_noted=True),)}


@pytest.mark.parametrize("is_clean", [True, False], ids=["clean", "killed"])
def test_compacted_segments_that_retention_let_go_of_are_no_loss(logs, start, is_clean):
    log = logs.get(T_0)
    clean(log)
    log.delete_records(log.segments[2].base_offset, log.log_end_offset)
    log.replace_segments(log.segments[:2], [])
    stop(logs, is_clean=is_clean)
    again = start()
    assert (again.lost_offsets, again.has_whole(T_0, TOPIC)) == ({}, True)


def test_a_note_of_compacted_segments_is_of_no_other_pass_than_the_last(logs, start):
    """A pass was killed after an exchange, or Apache Kafka's cleaner has been here."""
    log = logs.get(T_0)
    clean(log, to=3)
    note = (log.directory / COMPACTED_SEGMENTS).read_bytes()
    clean(log)
    (log.directory / COMPACTED_SEGMENTS).write_bytes(note)
    path = log.segments[1].files.log
    kill(logs)
    remove(path)
    assert start().lost_offsets == {}


@pytest.mark.parametrize("content", [b"", b"0\n5", b"0\n18\n2\n0 1\n", b"\xff\xfe", b"1\n18\n1\n0 5\n"])
def test_a_malformed_note_of_compacted_segments_is_ignored(logs, start, content):
    log = logs.get(T_0)
    clean(log)
    (log.directory / COMPACTED_SEGMENTS).write_bytes(content)
    logs.shutdown()
    again = start()
    assert (again.lost_offsets, again.has_whole(T_0, TOPIC)) == ({}, True)


def test_what_a_pass_took_out_before_it_came_to_its_checkpoint_is_no_loss(logs, start):
    """Each batch that ended a segment is gone, and no other: nothing but the note tells of the pass."""
    log = logs.get(T_0)
    end, ends = log.segments[-1].base_offset, [segment.files.log for segment in log.segments[:-1]]
    begin_segment_note(log.directory, end)
    kill(logs)
    for path in ends:
        os.truncate(path, [at for at, _ in iterate_headers(path.read_bytes())][-1])
    again = start()
    assert (again.lost_offsets, again.has_whole(T_0, TOPIC)) == ({}, True)


def test_a_cut_below_a_note_of_compacted_segments_removes_it(logs):
    log = logs.get(T_0)
    clean(log)
    end, cleaner = (
        log.segments[-1].base_offset,
        LogCleaner(CleanerSettings(ManualClock(), on_owner=lambda step: step(), sleep=lambda seconds: None)),
    )
    cleaner.truncate(log.directory.parent, {T_0: end})
    assert (log.directory / COMPACTED_SEGMENTS).exists()
    cleaner.truncate(log.directory.parent, {T_0: end - 1})
    assert not (log.directory / COMPACTED_SEGMENTS).exists()


@pytest.mark.parametrize(("steps", "has_begun"), [(0, False), (1, True)])
def test_a_pass_that_ended_too_early_has_noted_what_it_was_about_to_exchange_alone(logs, steps, has_begun):
    """A note of what was not exchanged would hide the loss of a segment there."""
    log = logs.get(T_0)
    clean(log, to=3)
    note, end, done = (log.directory / COMPACTED_SEGMENTS).read_text(), log.segments[-1].base_offset, []

    def refuse(step):
        if len(done) == steps:
            raise OSError(errno.ENOSPC, "full")
        done.append(step())

    cleaner = LogCleaner(CleanerSettings(ManualClock(), on_owner=refuse, sleep=lambda seconds: None))
    target = LogToClean.of(T_0, log, log.log_end_offset, frozenset(), replace(CONFIG, cleanup_policy=("compact",)))
    assert cleaner.clean(target, cleaner.plan(target)) is None
    left = (log.directory / COMPACTED_SEGMENTS).read_text()
    version, noted, count = left.splitlines()[:3]
    assert (left != note) is has_begun
    assert (version, int(noted) <= end) == ("0", True)
    assert (count == "0") is has_begun


def test_a_log_that_was_cut_during_a_pass_gets_no_note_of_it(logs):
    log = logs.get(T_0)

    def cut_first(step):
        log.truncate_to(log.log_end_offset - 1)
        return step()

    cleaner = LogCleaner(CleanerSettings(ManualClock(), on_owner=cut_first, sleep=lambda seconds: None))
    target = LogToClean.of(T_0, log, log.log_end_offset, frozenset(), replace(CONFIG, cleanup_policy=("compact",)))
    assert cleaner.clean(target, cleaner.plan(target)) is None
    assert not (log.directory / COMPACTED_SEGMENTS).exists()


def test_a_segment_that_lost_its_end_with_the_page_cache_keeps_what_follows(logs, start, boot, records_of):
    log = logs.get(T_0)
    records, cut = records_of(log), log.segments[2]
    lost = next(iter(log.segments[3].batches()))[1].base_offset
    *_, (at, last) = cut.batches()
    kill(logs)
    os.truncate(cut.files.log, at)
    (log.directory.parent / RECOVERY_POINT_CHECKPOINT).unlink()
    boot.write_text("second")
    again = start()
    gap = OffsetGap(last.base_offset, lost)
    assert again.lost_offsets == {T_0: (gap,)}
    kept = [record for record in records if not gap.first_offset <= record[0] < gap.next_offset]
    assert records_of(again.get(T_0)) == kept


def test_a_log_that_ends_before_it_starts_has_lost_its_end(logs, start):
    """Its files were lost, and only the note of where it starts is left."""
    log = logs.get(T_0)
    directory, start_offset = log.directory, log.segments[3].base_offset
    log.delete_records(start_offset, log.log_end_offset)
    logs.checkpoint_log_start_offsets()
    logs.note_log_starts(directory.parent, {T_0: start_offset})
    kill(logs)
    for name in (RECOVERY_POINT_CHECKPOINT, "replication-offset-checkpoint"):
        (directory.parent / name).unlink(missing_ok=True)
    for path in [*directory.glob("*.log"), *directory.glob("*.*index")]:
        path.unlink()
    again = start()
    assert (again.get(T_0).log_start_offset, again.get(T_0).log_end_offset) == (start_offset, start_offset)
    assert not again.has_whole(T_0, TOPIC)
    kill(again)
    assert not start().has_whole(T_0, TOPIC), "the next start finds it whole"


@pytest.mark.parametrize("stop", ["kill", "shutdown"])
def test_a_log_without_a_segment_has_lost_its_end_though_no_checkpoint_speaks_of_it(logs, start, stop):
    """It is younger than its first checkpoint. A replica that led with it would empty the others."""
    directory = logs.get(T_0).directory
    kill(logs) if stop == "kill" else logs.shutdown()
    for name in (RECOVERY_POINT_CHECKPOINT, "replication-offset-checkpoint", "log-start-offset-checkpoint"):
        write_offset_checkpoint(directory.parent / name, {})
    for path in [*directory.glob("*.log"), *directory.glob("*.*index")]:
        path.unlink()
    again = start()
    assert again.get(T_0).log_end_offset == 0
    assert not again.has_whole(T_0, TOPIC)
    kill(again)
    assert not start().has_whole(T_0, TOPIC), "the next start finds it whole"


def test_a_log_that_was_only_begun_to_be_made_has_lost_nothing(logs, start, monkeypatch):
    """Wherever the making stops."""
    begun = []

    def dies(path, _topic_id):
        begun.append(path.parent)
        raise Died

    monkeypatch.setattr(manager, "write_partition_metadata", dies)
    with pytest.raises(Died):
        logs.get_or_create(TopicPartition("t", 1), TOPIC)
    kill(logs)
    bare = begun[0].with_name("t-2")
    bare.mkdir()
    again = start()
    assert [again.has_whole(TopicPartition("t", index), TOPIC) for index in (0, 1, 2)] == [True, True, True]


def test_missing_offsets_are_lost_until_they_come_before_the_start_of_the_log(logs, start):
    log = logs.get(T_0)
    path = log.segments[2].files.log
    logs.shutdown()
    remove(path)
    again = start()
    log = again.get(T_0)
    assert len(again.lost_offsets[T_0]) == 1
    log.delete_records(log.segments[3].base_offset, log.log_end_offset)
    assert again.lost_offsets == {}


def test_a_topic_that_turns_out_to_be_compacted_has_lost_nothing(logs, start):
    path = logs.get(T_0).segments[2].files.log
    logs.shutdown()
    remove(path)
    again = start()
    again.get(T_0).config = LogConfig(cleanup_policy=("compact",))
    assert again.lost_offsets == {}


def test_a_segment_that_cannot_be_read_is_met_by_its_readers_and_not_by_the_start(logs, start, monkeypatch):
    logs.shutdown()
    monkeypatch.setattr("broker.log.gaps.find_gaps", lambda *_: os.stat("/nowhere/at/all"))
    again = start()
    assert (again.lost_offsets, again.offline_directories) == ({}, {})
    assert again.get(T_0) is not None


def test_what_a_leader_lacks_is_no_loss_of_its_followers(logs, tmp_path):
    """Otherwise each start of a follower would set its log aside and fetch the same one again."""
    log = logs.get(T_0)
    log.close()
    log.segments[2].remove_files()
    leader = Log.open(log.directory, CONFIG, is_clean=True)
    assert find_losses(leader.segments, 0, 0)
    copy = Log.open(tmp_path / "copied-0", CONFIG)
    while copy.log_end_offset < leader.log_end_offset:
        batches = leader.read(copy.log_end_offset, 1 << 20, leader.log_end_offset).read()
        copy.append_as_follower(memoryview(batches))
    assert len(copy.segments) > 3
    assert find_losses(copy.segments, 0, 0) == ()


def test_the_ends_of_segments_are_read_no_more_where_a_clean_stop_left_the_same_files(logs, start, monkeypatch):
    logs.shutdown()
    looked = []
    monkeypatch.setattr(log_removal, "find_losses", lambda *args: looked.append(args) or ())
    again = start()
    assert (looked, again.has_whole(T_0, TOPIC)) == ([], True)
    kill(again)
    start()
    assert len(looked) == 1, "after a kill they are"


@pytest.mark.parametrize("content", [b"", b'{"version":0,"brokerEpoch":7}', b"segments\nt 0", b"segments\nt 0 x\n"])
def test_a_marker_that_says_nothing_of_segments_has_their_ends_read(logs, start, content):
    log = logs.get(T_0)
    path, before = log.segments[2].files.log, bases(log)
    logs.shutdown()
    (log.directory.parent / directory.CLEAN_SHUTDOWN_FILE).write_bytes(content)
    remove(path)
    assert start().lost_offsets == {T_0: (OffsetGap(before[2], before[3]),)}


def test_a_full_disk_takes_a_marker_without_content(logs, start, monkeypatch):
    log, replace_file = logs.get(T_0), directory.replace_file
    path, before = log.segments[2].files.log, bases(log)

    def empty_files_only(target, content):
        if content:
            raise OSError(errno.ENOSPC, "No space left on device")
        replace_file(target, content)

    with monkeypatch.context() as full:
        full.setattr(directory, "replace_file", empty_files_only)
        logs.shutdown()
    assert (log.directory.parent / directory.CLEAN_SHUTDOWN_FILE).read_bytes() == b""
    remove(path)
    assert start().lost_offsets == {T_0: (OffsetGap(before[2], before[3]),)}


def test_a_gap_outlasts_clean_stops(logs, start):
    log = logs.get(T_0)
    path, before = log.segments[2].files.log, bases(log)
    logs.shutdown()
    remove(path)
    start().shutdown()
    assert start().lost_offsets == {T_0: (OffsetGap(before[2], before[3]),)}


def test_a_segment_removed_under_a_running_broker_is_missed_after_its_clean_stop(logs, start):
    log = logs.get(T_0)
    before = bases(log)
    remove(log.segments[2].files.log)
    logs.shutdown()
    assert start().lost_offsets == {T_0: (OffsetGap(before[2], before[3]),)}

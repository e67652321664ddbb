"""A follower lets go of the end of its log: what goes, what stays, and what a stop or another thread sees of it."""

import os
import shutil
from contextlib import suppress

import pytest

from broker.common.errors import ApiError, ErrorCode
from broker.log.config import LogConfig
from broker.log.log import Log
from broker.log.retention import plan_retention
from broker.records.batch import patch_batch
from broker.records.builder import build_batch
from broker.records.record import Record
from tests.broker.log.death import Death, Died
from tests.examples import some

CONFIG = LogConfig(segment_bytes=600, index_interval_bytes=200, segment_ms=10**9)
#: Records in each batch, one batch after the other.
SIZES = (1, 3, 2)


def value(offset: int) -> bytes:
    return b"%d" % offset


def fill(log: Log, until: int) -> None:
    """Batches of one to three records; each ten records are an epoch; a producer for every second batch.

    What begins at an offset is always the same.
    """
    while log.log_end_offset < until:
        end = log.log_end_offset
        number = end * 7 // 5
        records = [Record(0, 1_000 * (end + place), None, value(end + place)) for place in range(SIZES[number % 3])]
        producer = {"producer_id": number % 4, "producer_epoch": 0, "base_sequence": end} if number % 2 else {}
        batch = build_batch(records, **producer)
        patch_batch(batch, 0, end, end // 10)
        log.append_as_follower(memoryview(batch))


def ends_of_batches(log: Log) -> list[int]:
    return [header.next_offset for segment in log.segments for _, header in segment.batches()]


@pytest.fixture
def log(tmp_path):
    log = Log.open(tmp_path / "t-0", CONFIG)
    fill(log, 60)
    assert len(log.segments) >= 4
    return log


@pytest.fixture
def ends(log):
    return [0, *ends_of_batches(log)]


def reference(tmp_path, end: int) -> Log:
    """A log in which nothing but what is below `end` ever was."""
    log = Log.open(tmp_path / "reference", CONFIG)
    fill(log, end)
    assert log.log_end_offset == end
    return log


def state_of(log: Log, records_of) -> dict:
    """All that can be asked of a log."""
    end = log.log_end_offset
    return {
        "records": records_of(log),
        "bounds": (log.log_start_offset, end),
        "segments": [(s.base_offset, s.size_bytes, s.first_timestamp, s.max_timestamp) for s in log.segments],
        "epochs": log.leader_epochs.entries,
        "times": [log.offset_for_timestamp(1_000 * offset) for offset in range(end + 2)],
        "largest": log.max_timestamp_offset(),
        "producers": log.last_offsets_of_producers,
        "small reads": [log.read(offset, 100, end).read() for offset in range(end)],
    }


@pytest.mark.parametrize("was_sealed_before", [True, False])
def test_log_cut_anywhere_is_as_if_it_had_never_been_longer(tmp_path, log, ends, records_of, was_sealed_before):
    """With all segments as written, or as read from their files."""
    log.flush()
    log.store_clean_state()
    for offset in some(range(60)):
        shutil.copytree(log.directory, tmp_path / f"{offset}" / "t-0")
        cut = Log.open(tmp_path / f"{offset}" / "t-0", CONFIG, is_clean=was_sealed_before)
        cut.truncate_to(offset)
        end = max(end for end in ends if end <= offset)
        expected = reference(tmp_path / f"{offset}", end)
        state, wanted = state_of(cut, records_of), state_of(expected, records_of)
        if end in [segment.base_offset for segment in cut.segments]:
            assert cut.segments[-1].size_bytes == 0, "the segment that begins there stays, empty"
            wanted["segments"], state["segments"] = [], []
        assert state == wanted, offset
        assert cut.recovery_point == min(end, 60 if was_sealed_before else 0)
        cut.close()
        expected.close()


def test_log_that_was_cut_goes_on_with_the_next_leaders_records(log, records_of, batch_of):
    log.truncate_to(25)
    end, epochs = log.log_end_offset, log.leader_epochs.entries
    assert [epoch for epoch, _ in epochs] == [0, 1, 2]
    fill_as_next_leader(log, 90)
    expected = [(offset, value(offset)) for offset in range(end)] + [(offset, b"new") for offset in range(end, 90)]
    for is_clean in (None, False, True):
        if is_clean is not None:
            log.flush()
            log.store_clean_state()
            log = Log.open(log.directory, CONFIG, is_clean=is_clean)
        assert records_of(log) == expected
        assert log.leader_epochs.entries == (*epochs, (9, end))
        assert log.offset_for_timestamp(77_777) == (end, 77_777)
        assert log.max_timestamp_offset() == (end, 77_777)


def fill_as_next_leader(log: Log, until: int) -> None:
    while log.log_end_offset < until:
        batch = build_batch([Record(0, 77_777, None, b"new")])
        patch_batch(batch, 0, log.log_end_offset, 9)
        log.append_as_follower(memoryview(batch))


def test_cut_inside_a_batch_takes_the_whole_batch(log, ends):
    offset = next(end for end in ends if end > 20 and end + 1 not in ends) + 1
    log.truncate_to(offset)
    assert log.log_end_offset == max(end for end in ends if end <= offset) == offset - 1


def test_cut_in_a_gap_of_a_compacted_log_ends_there(tmp_path):
    log = Log.open(tmp_path / "t-0", CONFIG)
    for offset in (0, 5, 50):
        batch = build_batch([Record(0, 0, None, b"x")])
        patch_batch(batch, 0, offset, 0)
        log.append_as_follower(memoryview(batch))
    log.truncate_to(30)
    assert (log.log_end_offset, ends_of_batches(log)) == (30, [1, 6])
    log.truncate_to(3)
    assert (log.log_end_offset, ends_of_batches(log)) == (3, [1])


def test_cut_at_or_beyond_the_end_takes_no_record_but_epochs_nothing_was_written_under(log, records_of):
    """A leader that appended nothing before the next one was elected: its epoch must not claim the next one's records.

    Otherwise epoch 7 would seem to have written what the leader of epoch 6, elected by others, wrote there.
    """
    end, before = log.log_end_offset, records_of(log)
    log.begin_leader_epoch(7)
    assert log.end_offset_for_epoch(5) == (5, end)
    for offset in (end, end + 10):
        log.truncate_to(offset)
        assert (log.log_end_offset, records_of(log)) == (end, before)
        assert log.leader_epochs.latest_epoch == 5
    assert not (log.directory / "leader-epoch-checkpoint").read_text().endswith(f"7 {end}\n")


def test_cut_below_the_log_start_leaves_an_empty_log_there(log, ends):
    log.delete_records(40, 60)
    log.truncate_to(30)
    end = max(end for end in ends if end <= 30)
    assert (log.log_start_offset, log.log_end_offset) == (end, end)


def test_cut_before_the_first_segment_starts_the_log_there(log):
    config = LogConfig(retention_ms=-1, retention_bytes=1_000)
    log.apply(plan_retention(log.retention_facts(), config, 0, 60, 0))
    assert log.log_start_offset > 10
    log.truncate_to(7)
    assert (log.log_start_offset, log.log_end_offset, log.leader_epochs.entries) == (7, 7, ())


@pytest.mark.parametrize("offset", [0, 13, 60, 1_000])
def test_trap_15_log_emptied_starts_and_ends_at_the_leaders_start(log, records_of, offset):
    log.truncate_fully_and_start_at(offset)
    assert (log.log_start_offset, log.log_end_offset, log.recovery_point) == (offset, offset, offset)
    assert (records_of(log), log.size_bytes, log.leader_epochs.entries) == ([], 0, ())
    assert log.last_offsets_of_producers == frozenset()
    fill_as_next_leader(log, offset + 40)
    again = Log.open(log.directory, CONFIG)
    for item in (log, again):
        assert records_of(item) == [(at, b"new") for at in range(offset, offset + 40)]
        assert item.log_start_offset == offset
        assert item.leader_epochs.entries == ((9, offset),)


def test_no_leader_can_make_a_log_end_at_a_negative_offset(log, records_of):
    before = records_of(log)
    for cut in (log.truncate_to, log.truncate_fully_and_start_at):
        with pytest.raises(ApiError) as caught:
            cut(-1)
        assert caught.value.code is ErrorCode.OFFSET_OUT_OF_RANGE
    log.follow_log_start(-1)
    assert (records_of(log), log.log_start_offset) == (before, 0)


def test_files_of_what_was_cut_stay_until_purged(log):
    unsent = log.read(log.segments[2].base_offset, 1 << 20, 60)
    before = unsent.read()
    log.truncate_to(5)
    assert unsent.read() == before
    assert log.purge_segments(0) == 0
    assert log.purge_segments(CONFIG.file_delete_delay_ms) > 0
    assert not list(log.directory.glob("*.deleted"))
    assert {path.name for path in log.directory.glob("*.log")} == {f"{0:020d}.log"}


def test_producer_whose_last_batches_were_cut_is_known_by_what_is_left(tmp_path):
    """Six batches of a producer's second life are cut: more than is remembered, so the log itself must tell."""

    def sent(epoch: int, sequence: int) -> bytearray:
        return build_batch([Record(0, 0, None, b"x")], producer_id=7, producer_epoch=epoch, base_sequence=sequence)

    log = Log.open(tmp_path / "t-0", LogConfig())
    for sequence in range(4):
        log.append(sent(0, sequence), 0)
    for sequence in range(6):
        log.append(sent(1, sequence), 0)
    log.truncate_to(9)
    assert log.append(sent(1, 4), 1).base_offset == 8, "remembered"
    assert log.append(sent(1, 5), 1).base_offset == 9
    log.truncate_to(3)
    assert log.append(sent(0, 2), 2).base_offset == 2, "remembered"
    assert log.append(sent(0, 3), 2).base_offset == 3


def test_segment_that_is_active_again_is_as_old_as_its_first_record(tmp_path):
    log = Log.open(tmp_path / "t-0", LogConfig(segment_ms=10_000))
    fill(log, 50)
    assert len(log.segments) == 5
    log.truncate_to(4)
    batch = build_batch([Record(0, 10_001, None, b"new")])
    patch_batch(batch, 0, 4, 0)
    log.append_as_follower(memoryview(batch))
    assert [segment.base_offset for segment in log.segments] == [0, 4]


def test_snapshot_of_producers_from_beyond_the_cut_is_gone(log, tmp_path):
    log.flush()
    log.store_clean_state()
    assert (log.directory / f"{60:020d}.snapshot").exists()
    log.truncate_to(30)
    assert all(int(path.stem) <= 30 for path in log.directory.glob("*.snapshot"))
    fill_as_next_leader(log, 70)
    again = Log.open(log.directory, CONFIG)
    assert again._producers.state.encode() == log._producers.state.encode()


def test_damage_below_the_cut_is_told_and_nothing_is_cut(log):
    segment = log.segments[0]
    content = bytearray(segment.files.log.read_bytes())
    content[16] = 9
    end, size = log.log_end_offset, log.size_bytes
    log = Log.open(log.directory, CONFIG, is_clean=True)
    segment.files.log.write_bytes(content)
    (log.directory / f"{0:020d}.index").unlink()
    with pytest.raises(ApiError) as caught:
        log.truncate_to(2)
    assert caught.value.code is ErrorCode.CORRUPT_MESSAGE
    assert (log.log_end_offset, log.size_bytes) == (end, size)


def test_disk_that_fails_during_a_cut_ends_the_log_until_it_is_opened_again(log, records_of, monkeypatch):
    before, broken = records_of(log), []
    log.on_disk_error = broken.append

    def failing(fd, size):
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as disk:
        disk.setattr(os, "ftruncate", failing)
        with pytest.raises(ApiError) as caught:
            log.truncate_to(30)
    assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert len(broken) == 1
    for use in (lambda: log.read(0, 1, 60), lambda: log.truncate_to(3), lambda: fill(log, 70)):
        with pytest.raises(ApiError):
            use()
    records = records_of(Log.open(log.directory, CONFIG))
    assert records == before[: len(records)]


def test_cut_that_cannot_be_noted_is_not_made(log, records_of):
    def failing(end_offset, log_start_offset):
        raise OSError(28, "No space left on device")

    before = records_of(log)
    log.before_cut = failing
    for cut in (log.truncate_to, log.truncate_fully_and_start_at):
        with pytest.raises(ApiError):
            cut(30)
    assert records_of(log) == before
    fill(log, 62)


# --- stops


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """A log with all that can be there: snapshots, epochs, a compacted segment that waits for its place."""
    log = Log.open(tmp_path_factory.mktemp("template") / "t-0", CONFIG)
    fill(log, 60)
    log.flush()
    log.store_clean_state()
    log.close()
    first = log.directory / f"{0:020d}.log"
    shutil.copy(first, first.with_name(first.name + ".swap"))
    return log.directory


@pytest.mark.parametrize("recovery_point", [0, 60], ids=["nothing fsynced", "everything fsynced"])
@pytest.mark.parametrize("offset", [2, 17, 30, 31, 59])
def test_death_at_any_step_of_a_cut_leaves_a_beginning_of_the_log(
    template, tmp_path, records_of, offset, recovery_point
):
    whole = [(at, value(at)) for at in range(60)]
    at, is_done = 0, False
    while not is_done:
        at += 1
        directory = tmp_path / f"{at}" / "t-0"
        shutil.copytree(template, directory, ignore=shutil.ignore_patterns("*.swap"))
        log = Log.open(directory, CONFIG, is_clean=True)
        shutil.copy(template / f"{0:020d}.log.swap", directory)
        noted = [recovery_point]
        log.before_cut = lambda end_offset, log_start_offset, noted=noted: noted.append(min(noted[-1], end_offset))
        with pytest.MonkeyPatch.context() as monkeypatch:
            death = Death(monkeypatch, at)
            with suppress(Died):
                log.truncate_to(offset)
        is_done = not death.is_dead
        again = Log.open(directory, CONFIG, recovery_point=noted[-1])
        records = records_of(again)
        assert records == whole[: len(records)]
        assert len(records) >= offset - 2
        assert again.log_end_offset == len(records)
        check_epochs(again, len(records))
        again.truncate_to(offset)
        end = again.log_end_offset
        assert offset - 2 <= end <= offset
        fill_as_next_leader(again, end + 40)
        expected = whole[:end] + [(index, b"new") for index in range(end, end + 40)]
        assert records_of(Log.open(directory, CONFIG, recovery_point=again.recovery_point)) == expected
    assert at > 5


def check_epochs(log: Log, count: int) -> None:
    """Batches have the epoch of the decade they begin in."""
    assert [entry.epoch for entry in log.leader_epochs.entries] == sorted(
        {entry.epoch for entry in log.leader_epochs.entries}
    )
    for entry in log.leader_epochs.entries:
        assert entry.start_offset // 10 == entry.epoch
        assert entry.start_offset < count


def test_death_at_any_step_of_emptying_leaves_a_beginning_or_the_new_start(template, tmp_path, records_of):
    whole = [(at, value(at)) for at in range(60)]
    at, is_done = 0, False
    while not is_done:
        at += 1
        directory = tmp_path / f"{at}" / "t-0"
        shutil.copytree(template, directory, ignore=shutil.ignore_patterns("*.swap"))
        log = Log.open(directory, CONFIG, is_clean=True)
        with pytest.MonkeyPatch.context() as monkeypatch:
            death = Death(monkeypatch, at)
            with suppress(Died):
                log.truncate_fully_and_start_at(1_000)
        is_done = not death.is_dead
        again = Log.open(directory, CONFIG)
        records = records_of(again)
        assert records == whole[: len(records)]
        assert again.log_end_offset == (len(records) or again.log_start_offset)
        again.truncate_fully_and_start_at(1_000)
        fill_as_next_leader(again, 1_020)
        assert records_of(Log.open(directory, CONFIG)) == [(index, b"new") for index in range(1_000, 1_020)]
    assert at > 8


def test_compacted_segment_that_waited_for_its_place_does_not_bring_old_records_back(log, records_of):
    """Its exchange was decided before the cut; the next start would complete it."""
    first = log.segments[0].files.log
    shutil.copy(first, first.with_name(first.name + ".swap"))
    log.truncate_to(2)
    end = log.log_end_offset
    fill_as_next_leader(log, 10)
    again = Log.open(log.directory, CONFIG)
    assert records_of(again) == [(at, value(at) if at < end else b"new") for at in range(10)]


# --- what was planned or looked up before


def test_retention_plan_made_before_a_cut_does_not_apply_to_what_grew_since(log, records_of):
    bounds = [segment.base_offset for segment in log.segments]
    plan = plan_retention(log.retention_facts(), LogConfig(retention_ms=0), 0, 60, 10**9)
    assert len(plan.segments) >= 3
    log.truncate_to(bounds[1] + 1)
    fill(log, 60)
    assert [segment.base_offset for segment in log.segments] == bounds, "the same offsets as planned"
    assert not log.roll_expired(plan), "the active segment is another one too"
    log.apply(plan)
    assert (log.log_start_offset, len(records_of(log))) == (bounds[1], log.log_end_offset - bounds[1])


def test_names_of_what_was_cut_are_gone_for_good_before_the_segment_is_cut(log, monkeypatch):
    """Against the death of the machine: were a later segment back behind a shorter one, there would be a hole."""
    steps, fsync, rename, cut = [], os.fsync, os.replace, os.ftruncate

    def note_fsync(fd):
        steps.append(("fsync", os.readlink(f"/proc/self/fd/{fd}").rpartition("/")[2]))
        fsync(fd)

    def note_rename(source, target):
        steps.append(("rename", str(target).rpartition("/")[2]))
        rename(source, target)

    def note_cut(fd, size):
        steps.append(("cut", os.readlink(f"/proc/self/fd/{fd}").rpartition("/")[2]))
        cut(fd, size)

    bases = [segment.base_offset for segment in log.segments]
    log.before_cut = lambda end_offset, log_start_offset: steps.append(("noted", end_offset))
    for name, noting in (("fsync", note_fsync), ("replace", note_rename), ("ftruncate", note_cut)):
        monkeypatch.setattr(os, name, noting)
    log.truncate_to(bases[1] + 3)
    wanted = [
        ("noted", log.log_end_offset),
        *(("rename", f"{base:020d}.log.deleted") for base in reversed(bases[2:])),
        ("fsync", "t-0"),
        ("cut", f"{bases[1]:020d}.log"),
    ]
    assert [step for step in steps if step in wanted] == wanted


def test_power_failure_cannot_undo_a_cut_and_keep_what_came_after_it(log, monkeypatch):
    fsync, synced_sizes = os.fsync, []

    def note(fd):
        synced_sizes.append((os.readlink(f"/proc/self/fd/{fd}"), os.fstat(fd).st_size))
        fsync(fd)

    monkeypatch.setattr(os, "fsync", note)
    log.truncate_to(log.log_end_offset - 1)
    last = log.segments[-1]
    assert (str(last.files.log), last.size_bytes) in synced_sizes

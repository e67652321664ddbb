"""Many logs: which comes first, which is set aside, and what is remembered."""

from dataclasses import replace

import pytest

from broker.common.types import TopicPartition
from broker.log.checkpoints import read_offset_checkpoint
from broker.log.compaction.checkpoint import CLEANER_OFFSET_CHECKPOINT, CleanerCheckpoint
from broker.log.compaction.log_to_clean import LogToClean

ONE, TWO, THREE = (TopicPartition("t", index) for index in (1, 2, 3))


@pytest.fixture
def logs(tmp_path, new_compacted) -> dict:
    """Three dirty logs of one directory."""
    logs = {partition: new_compacted(tmp_path / str(partition)) for partition in (ONE, TWO, THREE)}
    for log in logs.values():
        for number in range(12):
            log.append((b"k%d" % (number % 3), b"." * 150))
        log.seal()
    return logs


def targets(logs) -> list[LogToClean]:
    return [LogToClean.of(partition, log.log, log.log.log_end_offset, frozenset()) for partition, log in logs.items()]


def damage(compacted) -> None:
    path = compacted.log.segments[0].files.log
    content = bytearray(path.read_bytes())
    content[100] ^= 0xFF
    path.write_bytes(content)


def test_each_log_is_cleaned_once_and_then_none_is_due(logs):
    cleaner = logs[ONE].cleaner
    done = [cleaner.clean_filthiest(targets(logs)).partition for _ in logs]
    assert sorted(done) == [ONE, TWO, THREE]
    assert cleaner.clean_filthiest(targets(logs)) is None


def test_dirtiest_log_comes_first(logs):
    cleaner = logs[ONE].cleaner
    for _ in logs:
        cleaner.clean_filthiest(targets(logs))
    for number in range(9):
        logs[TWO].append((b"k%d" % number, b"." * 150))
    logs[TWO].seal()
    logs[THREE].seal()
    assert cleaner.clean_filthiest(targets(logs)).partition == TWO


def begin_transaction(compacted) -> None:
    options = {"producer_id": 7, "producer_epoch": 0, "base_sequence": 0, "is_transactional": True}
    compacted.append((b"k0", b"open"), **options)


def end_transaction(compacted) -> None:
    options = {"producer_id": 7, "producer_epoch": 0, "base_sequence": 1, "is_transactional": True}
    compacted.append((b"\0\0\0\1", b"\0\0\0\0\0\0"), is_control=True, **options)


def test_a_log_waits_for_the_marker_of_a_transaction_and_keeps_nobody_waiting(logs):
    """It ends in the active segment, of which a pass reads nothing: to try again would read all and clean nothing."""
    cleaner = logs[ONE].cleaner
    while cleaner.clean_filthiest(targets(logs)):
        pass
    begin_transaction(logs[ONE])
    logs[ONE].seal()
    end_transaction(logs[ONE])
    logs[TWO].append(*[(b"k0", b"x")] * 3)
    logs[TWO].seal()
    logs[TWO].seal()
    ends = {ONE: [], TWO: []}
    while stats := cleaner.clean_filthiest(targets(logs)):
        ends[stats.partition].append(stats.end_offset)
    assert ends[TWO] == [logs[TWO].log.segments[-1].base_offset]
    assert len(ends[ONE]) == 2  # up to the transaction, and no further
    assert len(set(ends[ONE])) == 1
    logs[ONE].seal()
    stats = cleaner.clean_filthiest(targets(logs))
    assert (stats.partition, stats.end_offset) == (ONE, logs[ONE].log.segments[-1].base_offset)


def test_a_log_that_waited_is_tried_again_when_it_was_cut(logs):
    cleaner = logs[ONE].cleaner
    while cleaner.clean_filthiest(targets(logs)):
        pass
    begin_transaction(logs[ONE])
    logs[ONE].seal()
    while cleaner.clean_filthiest(targets(logs)):
        pass
    cleaner.truncate(logs[ONE].directory.parent, {ONE: 0})
    assert cleaner.clean_filthiest(targets(logs)).partition == ONE


def test_damaged_log_is_quarantined_with_the_reason_and_the_others_go_on(logs):
    damage(logs[TWO])
    before = sorted(path.name for path in logs[TWO].directory.iterdir())
    cleaner = logs[ONE].cleaner
    done = [cleaner.clean_filthiest(targets(logs)) for _ in range(4)]
    assert sorted(stats.partition for stats in done if stats) == [ONE, THREE]
    assert list(cleaner.uncleanable) == [TWO]
    assert "damaged" in cleaner.uncleanable[TWO]
    assert "CRC" in cleaner.uncleanable[TWO]
    assert sorted(path.name for path in logs[TWO].directory.iterdir()) == before


def test_released_log_is_tried_again(logs):
    damage(logs[TWO])
    cleaner = logs[ONE].cleaner
    while len(cleaner.uncleanable) == 0:
        cleaner.clean_filthiest(targets(logs))
    damage(logs[TWO])
    cleaner.release(TWO)
    done = {stats.partition for stats in iter(lambda: cleaner.clean_filthiest(targets(logs)), None)}
    assert TWO in done
    assert cleaner.uncleanable == {}


def test_fault_of_our_own_quarantines_too(logs, monkeypatch):
    def break_down(*_args):
        raise ZeroDivisionError("ours")

    monkeypatch.setattr("broker.log.compaction.cleaner.note_keys", break_down)
    cleaner = logs[ONE].cleaner
    assert cleaner.clean_filthiest(targets(logs)) is None
    assert list(cleaner.uncleanable.values()) == ["ZeroDivisionError: ours"]


def test_log_that_cannot_even_be_judged_is_quarantined(logs, monkeypatch):
    one, two, three = targets(logs)
    sealed = (replace(one.sealed[0]) if hasattr(one.sealed[0], "__dataclass_fields__") else object(),)
    cleaner = logs[ONE].cleaner
    assert cleaner.clean_filthiest([replace(one, sealed=sealed), two, three]).partition in (TWO, THREE)
    assert list(cleaner.uncleanable) == [ONE]


def test_checkpoint_is_kafkas_file_in_the_log_directory(logs, tmp_path):
    cleaner = logs[ONE].cleaner
    stats = [cleaner.clean_filthiest(targets(logs)) for _ in logs]
    lines = (tmp_path / CLEANER_OFFSET_CHECKPOINT).read_text().splitlines()
    assert lines[:2] == ["0", "3"]
    assert lines[2:] == [f"t {s.partition.partition} {s.end_offset}" for s in sorted(stats, key=lambda s: s.partition)]


def test_lost_or_malformed_checkpoint_costs_one_pass(logs, tmp_path):
    log = logs[ONE]
    path = tmp_path / CLEANER_OFFSET_CHECKPOINT
    model = log.values()
    log.clean()
    for spoil in (path.unlink, lambda: path.write_text("rubbish")):
        spoil()
        log.cleaner = log.new_cleaner()
        assert log.clean() is not None
        assert log.clean() is None
        assert log.values() == model


def test_checkpoint_outside_the_log_counts_for_nothing(tmp_path):
    checkpoint = CleanerCheckpoint(tmp_path)
    checkpoint.advance(ONE, 50)
    assert checkpoint.first_dirty_offset(ONE, 0, 50) == 50
    assert checkpoint.first_dirty_offset(ONE, 0, 49) == 0
    assert checkpoint.first_dirty_offset(ONE, 60, 90) == 60
    assert checkpoint.first_dirty_offset(TWO, 7, 90) == 7


def test_truncated_log_is_dirty_from_the_cut_on(tmp_path):
    checkpoint = CleanerCheckpoint(tmp_path)
    checkpoint.advance(ONE, 50)
    checkpoint.truncate({ONE: 70})
    assert CleanerCheckpoint(tmp_path).first_dirty_offset(ONE, 0, 90) == 50
    checkpoint.truncate({ONE: 30})
    assert CleanerCheckpoint(tmp_path).first_dirty_offset(ONE, 0, 90) == 30


def test_deleted_log_is_forgotten(logs, tmp_path):
    cleaner = logs[ONE].cleaner
    damage(logs[TWO])
    for _ in range(4):
        cleaner.clean_filthiest(targets(logs))
    cleaner.truncate(tmp_path, {ONE: 0})
    cleaner.truncate(tmp_path, {TWO: 0})
    assert cleaner.uncleanable == {}
    assert CleanerCheckpoint(tmp_path).first_dirty_offset(THREE, 0, 10**6) > 0
    assert set(read_offset_checkpoint(tmp_path / CLEANER_OFFSET_CHECKPOINT)) == {THREE}

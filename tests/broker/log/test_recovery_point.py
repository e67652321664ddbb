"""What is checked after an unclean stop, and what happens to what is behind damage (trap 16)."""

import os
from pathlib import Path

import pytest

from broker.common.errors import ApiError, ErrorCode
from broker.log import directory
from broker.log.config import LogConfig
from broker.log.directory import LogDirectory
from broker.log.files import read_at
from broker.log.log import Log
from broker.records.batch import iterate_headers

CONFIG = LogConfig(segment_bytes=600, index_interval_bytes=150)


@pytest.fixture
def log(tmp_path, batch_of):
    """Five segments; epochs grow with every tenth record."""
    log = Log.open(tmp_path / "t-0", CONFIG)
    while len(log.segments) < 5:
        log.append(batch_of(b"%d" % log.log_end_offset, timestamp_ms=log.log_end_offset), log.log_end_offset // 10)
    return log


def log_files(directory: Path) -> list[Path]:
    return sorted(directory.glob("*.log"))


def damage_middle_of(path: Path) -> int:
    """Garble a batch of the segment; the offset of that batch."""
    content = bytearray(path.read_bytes())
    headers = list(iterate_headers(content))
    at, header = headers[len(headers) // 2]
    content[at + 62] ^= 0xFF
    path.write_bytes(content)
    return header.base_offset


def test_damage_at_the_recovery_point_cuts_and_removes_all_later_segments(log, records_of, batch_of):
    records, bases = records_of(log), [segment.base_offset for segment in log.segments]
    hit = damage_middle_of(log_files(log.directory)[2])
    again = Log.open(log.directory, CONFIG, recovery_point=bases[2] + 1)
    assert (again.log_end_offset, records_of(again)) == (hit, records[:hit])
    assert [segment.base_offset for segment in again.segments] == bases[:3]
    assert {path.name[:20] for path in log.directory.iterdir() if path.name[:20].isdigit()} <= {
        f"{base:020d}" for base in [*bases[:3], hit]
    }, "indexes and snapshots of removed segments are gone too"
    assert again.leader_epochs.entries[-1].start_offset < hit
    assert again.append(batch_of(b"%d" % hit), 99).base_offset == hit
    assert records_of(Log.open(log.directory, CONFIG)) == records[: hit + 1]


def test_bit_rot_below_the_recovery_point_is_never_cut(log):
    path, end = log_files(log.directory)[1], log.log_end_offset
    damage_middle_of(path)
    rotten = path.read_bytes()
    again = Log.open(log.directory, CONFIG, recovery_point=log.segments[2].base_offset)
    assert path.read_bytes() == rotten
    assert (len(again.segments), again.log_end_offset) == (5, end)


def test_unknown_recovery_point_means_that_everything_is_checked(log):
    hit = damage_middle_of(log_files(log.directory)[0])
    assert Log.open(log.directory, CONFIG).log_end_offset == hit


@pytest.mark.parametrize("beyond", [0, 1, 10**6])
def test_active_segment_is_checked_whatever_the_recovery_point_says(log, batch_of, beyond):
    for _ in range(4):
        log.append(batch_of(b"more"), 9)
    hit = damage_middle_of(log_files(log.directory)[-1])
    again = Log.open(log.directory, CONFIG, recovery_point=log.log_end_offset + beyond)
    assert (again.log_end_offset, again.recovery_point) == (hit, hit)


def test_only_segments_from_the_recovery_point_on_are_read(log, monkeypatch):
    """And the first bytes of the log, which tell its message format."""
    read, looked_at = set(), set()

    def reading(file, position, length):
        name = os.path.basename(os.readlink(f"/proc/self/fd/{file.fd}"))
        (read if length > 17 else looked_at).add(name)
        return read_at(file, position, length)

    monkeypatch.setattr("broker.log.scan.read_at", reading)
    Log.open(log.directory, CONFIG, recovery_point=log.segments[3].base_offset)
    assert read == {path.name for path in log_files(log.directory)[3:]}
    assert looked_at == {log_files(log.directory)[0].name, log_files(log.directory)[-1].name}


def test_torn_sealed_segment_ends_the_log(log, records_of):
    """What a power failure may leave: later pages were written, earlier ones not."""
    records, third, end = records_of(log), log_files(log.directory)[2], log.segments[3].base_offset
    os.truncate(third, third.stat().st_size - 5)
    again = Log.open(log.directory, CONFIG, recovery_point=log.segments[1].base_offset)
    assert records_of(again) == records[: end - 1]
    assert len(again.segments) == 3


def test_recovered_sealed_segments_are_sealed_again(log, records_of, batch_of):
    records = records_of(log)
    log.close()
    again = Log.open(log.directory, CONFIG)
    opened = [os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd") if fd.isdigit() and _is_open(fd)]
    assert len({path for path in opened if path.startswith(str(log.directory))}) <= 2
    assert records_of(again) == records
    for segment in again.segments[:-1]:
        assert segment.max_timestamp == again.segments[again.segments.index(segment) + 1].base_offset - 1


def _is_open(fd: str) -> bool:
    return os.path.lexists(f"/proc/self/fd/{fd}")


def test_first_segment_may_be_the_one_that_is_cut_to_nothing(log, batch_of):
    first = log_files(log.directory)[0]
    content = bytearray(first.read_bytes())
    content[16] = 0
    first.write_bytes(content)
    again = Log.open(log.directory, CONFIG)
    assert (again.log_start_offset, again.log_end_offset, again.size_bytes) == (0, 0, 0)
    assert again.leader_epochs.entries == ()
    with pytest.raises(ApiError) as caught:
        again.read(5, 100, 5)
    assert caught.value.code is ErrorCode.OFFSET_OUT_OF_RANGE
    assert again.append(batch_of(b"anew"), 0).base_offset == 0


def test_flush_moves_what_the_next_recovery_trusts(log, batch_of):
    log.flush()
    assert log.recovery_point == log.log_end_offset
    base = log.segments[-1].base_offset
    assert Log.open(log.directory, CONFIG, recovery_point=log.recovery_point).recovery_point == log.log_end_offset
    assert not log.flush_if_due(0)
    log.append(batch_of(b"more"), 9)
    assert not log.flush_if_due(10**9), "flush.ms is unlimited and nothing sealed waits"
    while log.segments[-1].base_offset == base:
        log.append(batch_of(b"more"), 9)
    assert log.flush_if_due(10**9), "a sealed segment is fsynced when somebody next looks"
    assert log.recovery_point == log.log_end_offset


def test_flush_ms_counts_from_when_unflushed_records_were_first_seen(tmp_path, batch_of):
    log = Log.open(tmp_path / "t-0", LogConfig(flush_ms=100))
    assert not log.flush_if_due(5)
    log.append(batch_of(b"a"), 0)
    assert [log.flush_if_due(now_ms) for now_ms in (1_000, 1_099, 1_100, 1_300)] == [False, False, True, False]
    log.append(batch_of(b"a"), 0)
    assert [log.flush_if_due(now_ms) for now_ms in (1_301, 1_400, 1_401)] == [False, False, True]


def test_flush_messages_says_when_who_appends_has_to_flush(tmp_path, batch_of):
    log = Log.open(tmp_path / "t-0", LogConfig(flush_messages=3))
    due = []
    for _ in range(2):
        log.append(batch_of(b"a", b"b"), 0)
        due.append(log.is_flush_due)
    assert due == [False, True]
    log.flush()
    assert log.recovery_point == 4


@pytest.mark.parametrize("place", [1, 2, 3], ids=["below", "at", "beyond the recovery point"])
def test_where_offsets_are_missing_between_segments_nothing_is_cut(log, records_of, place):
    """Compaction leaves such gaps; `test_lost_segments.py` has how a loss is told from it."""
    bases, records = [segment.base_offset for segment in log.segments], records_of(log)
    path = log_files(log.directory)[place]
    content = path.read_bytes()
    at, lost = list(iterate_headers(content))[-1]
    path.write_bytes(content[:at])
    again = Log.open(log.directory, CONFIG, recovery_point=bases[2])
    assert [segment.base_offset for segment in again.segments] == bases
    assert records_of(again) == [record for record in records if record[0] != lost.base_offset]


def test_a_directory_knows_whether_the_machine_was_restarted_since(tmp_path, monkeypatch):
    boot = tmp_path / "boot_id"
    monkeypatch.setattr(directory, "_BOOT_ID", boot)
    seen = []
    for boot_id in ("first", "first", "second", "second"):
        boot.write_text(boot_id + "\n")
        used = LogDirectory(tmp_path / "logs")
        seen.append(used.lost_page_cache)
        used.note_machine_start()
        used.unlock()
    assert seen == [False, False, True, False]

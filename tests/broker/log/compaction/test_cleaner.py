"""One pass: what readers find afterwards, what it tells, and what does not disturb it."""

import errno
import os
import shutil
from dataclasses import replace

import pytest
from crc32c import crc32c

from broker.log.compaction.offset_map import SLOT_BYTES
from broker.log.compaction.rebuild import delete_horizon_of
from broker.log.compaction.rewrite import RecordFate
from broker.log.compaction.settings import CleanerSettings, CleaningStopped
from broker.log.compaction.throttle import Throttle
from broker.log.config import LogConfig
from broker.log.log import Log
from broker.log.retention import ExpiredSegment, RetentionPlan, RetentionReason, plan_retention
from broker.records.batch import (
    CHECKED_FROM,
    CRC,
    CRC_AT,
    HEADER,
    HEADER_BYTES,
    NO_TIMESTAMP,
    iterate_headers,
    parse_batch_header,
)
from broker.records.builder import build_batch
from broker.records.record import INT64_MAX, Record
from tests.manual_clock import ManualClock


def fill(compacted, rounds: int = 4, keys: int = 6) -> None:
    """Each round writes every key anew and fills more than a segment."""
    for number in range(rounds):
        for key in range(keys):
            compacted.append((b"k%d" % key, b"%d-%d " % (number, key) + b"." * 150))
    compacted.seal()


def files_of(compacted) -> dict[str, tuple[int, int]]:
    return {path.name: (path.stat().st_ino, path.stat().st_size) for path in compacted.directory.iterdir()}


def leftovers(compacted) -> list[str]:
    return [name for name in files_of(compacted) if name.endswith((".cleaned", ".swap"))]


def headers(compacted) -> list:
    contents = [segment.files.log.read_bytes() for segment in compacted.log.segments]
    return [header for content in contents for _, header in iterate_headers(content)]


def test_record_that_lies_about_its_time_does_not_end_the_cleaning_of_its_partition(compacted):
    """It came before the topic was compacted: the header says nothing of the time of its second record."""
    batch = build_batch([Record(0, 0, b"k0", b"old"), Record(0, INT64_MAX, b"lies", b"1")])
    now_ms = compacted.clock.now_ms()
    HEADER.pack_into(batch, 0, *parse_batch_header(batch)._replace(base_timestamp=now_ms, max_timestamp=now_ms))
    CRC.pack_into(batch, CRC_AT, crc32c(memoryview(batch)[CHECKED_FROM:]))
    compacted.log.append(batch, 0)
    fill(compacted)
    stats = compacted.clean()
    assert compacted.cleaner.uncleanable == {}
    assert (stats.records[RecordFate.UNREADABLE], headers(compacted)[0].records_count) == (2, 2)


def test_last_record_of_each_key_is_what_is_left(compacted):
    fill(compacted)
    before = {record.offset: record for record in compacted.records()}
    model = compacted.values()
    stats = compacted.clean()
    after = compacted.records()
    sealed = [record for record in after if record.offset < stats.end_offset]
    assert len({record.key for record in sealed}) == len(sealed)
    assert compacted.values() == model
    assert all(before[record.offset] == record for record in after)
    assert compacted.log.log_end_offset == len(compacted.written)


def test_pass_tells_what_it_did(compacted):
    fill(compacted)
    segments, size_bytes = len(compacted.log.segments), compacted.log.size_bytes
    active_bytes = compacted.log.segments[-1].size_bytes
    stats = compacted.clean()
    assert stats.segments_before == segments - 1
    assert stats.segments_after == len(compacted.log.segments) - 1
    assert stats.bytes_before == size_bytes - active_bytes
    assert stats.bytes_after == compacted.log.size_bytes - active_bytes == stats.bytes_written
    assert stats.bytes_read == 2 * stats.bytes_before
    assert sum(stats.records.values()) == stats.end_offset == compacted.log.segments[-1].base_offset
    assert stats.records_kept + stats.records[RecordFate.SUPERSEDED] == stats.end_offset
    assert stats.facts()["records_kept"] == stats.keys == stats.records_kept


def test_offsets_that_are_gone_lead_to_the_next_that_is_there(compacted):
    fill(compacted)
    compacted.clean()
    left = [record.offset for record in compacted.records()]
    end = compacted.log.log_end_offset
    for fetch_offset in range(end):
        wanted = min(offset for offset in left if offset >= fetch_offset)
        position, offsets = fetch_offset, []
        while not offsets:
            data = compacted.log.read(position, 1, end).read()
            (_, header), *_ = iterate_headers(data)
            offsets = [offset for offset in left if header.base_offset <= offset < header.next_offset]
            position = header.next_offset
        assert max(offsets) >= wanted


def test_second_pass_with_nothing_new_is_not_made(compacted):
    fill(compacted)
    assert compacted.clean() is not None
    assert compacted.clean() is None
    compacted.cleaner = compacted.new_cleaner()
    assert compacted.clean() is None, "the checkpoint remembers"


def test_segment_that_would_stay_the_same_is_not_written_anew(compacted):
    for key in range(5):
        compacted.append((b"once %d" % key, b"." * 150))
    compacted.seal()
    compacted.clean()
    first = compacted.log.segments[0]
    inode = first.files.log.stat().st_ino
    fill(compacted)
    compacted.clean()
    assert compacted.log.segments[0] is first
    assert first.files.log.stat().st_ino == inode


def test_segments_made_small_are_joined_by_the_next_pass(compacted):
    fill(compacted, rounds=8)
    compacted.clean()
    fill(compacted, rounds=2)
    stats = compacted.clean()
    assert stats.segments_after <= stats.segments_before / 2
    assert stats.segments_after == len(compacted.log.segments) - 1
    assert [key for key in compacted.values() if key != b"filler"] == [b"k%d" % key for key in range(6)]


def test_tombstone_is_read_until_its_horizon_and_gone_after(compacted):
    compacted.append((b"a", b"1"))
    fill(compacted)
    compacted.append((b"a", None))
    fill(compacted)
    compacted.clean()
    assert compacted.values()[b"a"] is None
    compacted.clock.advance(999)
    fill(compacted)
    compacted.clean()
    assert compacted.values()[b"a"] is None
    compacted.clock.advance(1)
    fill(compacted)
    compacted.clean()
    assert b"a" not in compacted.values()


def test_horizon_that_changes_no_size_is_stored_all_the_same(compacted):
    compacted.config = compacted.log.config = replace(compacted.config, delete_retention_ms=0)
    compacted.append((b"a", None), (b"b", b"x"))
    while len(compacted.log.segments) < 2:
        compacted.append((b"%d" % len(compacted.written), b"." * 300))
    stats = compacted.clean()
    assert stats.bytes_after == stats.bytes_before
    assert delete_horizon_of(headers(compacted)[0]) == compacted.clock.now_ms()
    compacted.seal()
    compacted.clean()
    assert b"a" not in compacted.values()


def test_records_above_the_high_watermark_supersede_nothing(compacted):
    compacted.append((b"a", b"replicated"))
    compacted.seal()
    high_watermark = compacted.log.segments[-1].base_offset
    compacted.append((b"a", b"not yet"))
    compacted.seal()
    compacted.clean(end_offset_max=high_watermark)
    assert [r.value for r in compacted.records() if r.key == b"a"] == [b"replicated", b"not yet"]


def test_full_map_ends_the_pass_where_it_is_and_the_next_goes_on(tmp_path, new_compacted):
    compacted = new_compacted(tmp_path / "t-0", offset_map_bytes=8 * SLOT_BYTES)
    fill(compacted, rounds=3, keys=11)
    model, passes = compacted.values(), 0
    while (stats := compacted.clean()) is not None:
        passes += 1
        assert stats.end_offset > stats.first_dirty_offset
        assert compacted.values() == model
    assert passes > 3
    assert not stats
    sealed = [record for record in compacted.records() if record.offset < compacted.log.segments[-1].base_offset]
    assert len({record.key for record in sealed}) == len(sealed)


def test_last_batch_of_a_producer_stays_as_a_header(compacted):
    identity = {"producer_id": 5, "producer_epoch": 0}
    compacted.append((b"a", b"1"), base_sequence=0, **identity)
    last = compacted.append((b"a", b"2"), (b"b", b"2"), base_sequence=1, **identity)
    compacted.append((b"a", b"3"), (b"b", b"3"))
    compacted.seal()
    compacted.clean(last_offsets_of_producers=frozenset({last + 1}))
    (kept,) = [header for header in headers(compacted) if header.producer_id == 5]
    assert (kept.base_offset, kept.last_offset, kept.base_sequence, kept.records_count) == (last, last + 1, 1, 0)
    assert kept.size_bytes == HEADER_BYTES


def fill_with_one_key(compacted, segments: int) -> None:
    """Each segment has one record that counts, and one without a key, which no pass keeps."""
    for number in range(segments):
        compacted.append((b"a", b"%d" % number + b"." * 600))
        compacted.append((None, b"." * 200))


def test_segments_that_lose_all_records_are_empty_and_read_over(compacted):
    fill_with_one_key(compacted, 6)
    bases = [segment.base_offset for segment in compacted.log.segments]
    compacted.clean()
    *emptied, last, _ = compacted.log.segments
    assert [segment.size_bytes for segment in emptied] == [0] * 4
    assert [segment.base_offset for segment in compacted.log.segments] == bases
    assert [segment.files.log.stat().st_size for segment in emptied] == [0] * 4
    assert compacted.log.read(0, 1 << 20, compacted.log.log_end_offset).file is last.file
    before = compacted.records()
    compacted.open()
    assert compacted.log.log_start_offset == 0
    assert compacted.log.log_end_offset == len(compacted.written)
    assert compacted.records() == before
    assert [record.offset for record in before] == [8, 10, 11]


def test_only_the_last_batch_of_a_pass_stays_as_a_header(compacted):
    """Kafka keeps it since KAFKA-17076: the log's end is told to followers by a batch."""
    fill_with_one_key(compacted, 3)
    for _ in range(3):
        compacted.clean()
        *sealed, active = compacted.log.segments
        assert [segment.size_bytes > 0 for segment in sealed] == [False, True]
        empty = [header.next_offset for header in headers(compacted) if not header.records_count]
        assert empty == [active.base_offset]
        fill_with_one_key(compacted, 1)


def test_a_replica_that_follows_a_cleaned_log_comes_to_its_end(compacted, tmp_path):
    """Though no record is left in the last sealed segment, and none is in the active one."""
    compacted.append((None, b"x"))
    compacted.log.roll_expired(_all_of(compacted.log))
    compacted.clean()
    assert compacted.records() == []
    follower = Log.open(tmp_path / "follower-0", LogConfig())
    while follower.log_end_offset < compacted.log.log_end_offset:
        log_slice = compacted.log.read(follower.log_end_offset, 1 << 20, compacted.log.log_end_offset)
        assert log_slice.length, f"the follower stays at {follower.log_end_offset}"
        follower.append_as_follower(memoryview(log_slice.read()))
    assert follower.log_end_offset == 1


def _all_of(log: Log) -> RetentionPlan:
    active = log.segments[-1]
    end = ExpiredSegment(
        active.base_offset, active.next_offset, active.size_bytes, 0, 0, RetentionReason.TIME, active.serial
    )
    return RetentionPlan((end,), active.next_offset)


def test_readers_keep_what_they_have_been_given(compacted):
    fill(compacted)
    piece = compacted.log.read(0, 700, compacted.log.log_end_offset)
    before = piece.read()
    compacted.clean()
    compacted.log.purge_segments(compacted.clock.now_ms())
    compacted.log.purge_segments(compacted.clock.now_ms() + 10**9)
    assert piece.read() == before


def test_preview_tells_what_the_pass_then_does(compacted):
    fill(compacted)
    compacted.append((b"k0", None), (None, b"no key"))
    fill(compacted, rounds=1)
    before = files_of(compacted)
    preview = compacted.cleaner.preview(compacted.target())
    assert files_of(compacted) == before
    stats = compacted.clean()
    assert stats.records == preview.records
    assert stats.records[RecordFate.WITHOUT_KEY] == 1
    for name in ("end_offset", "segments_before", "segments_after", "bytes_before", "bytes_after", "keys"):
        assert getattr(stats, name) == getattr(preview, name), name
    assert preview.bytes_written == 0


def test_plan_answers_for_another_configuration(compacted):
    fill(compacted)
    target = compacted.target()
    assert compacted.cleaner.plan(target).is_due
    lazier = compacted.target(config=type(target.config)(min_compaction_lag_ms=1_000, segment_bytes=2_000))
    assert not compacted.cleaner.plan(lazier).is_due
    compacted.clock.advance(1_001)
    plan = compacted.cleaner.plan(lazier)
    assert plan.is_due
    assert len(plan.groups) < len(compacted.cleaner.plan(target).groups)


def test_told_to_stop_it_leaves_the_log_as_it_was(compacted):
    fill(compacted)
    before, questions = compacted.records(), []
    plan = compacted.cleaner.plan(compacted.target())

    def stop_late() -> bool:
        questions.append(None)
        return len(questions) > 70

    settings = CleanerSettings(
        compacted.clock, on_owner=lambda step: step(), sleep=lambda _: None, should_stop=stop_late
    )
    stopping = type(compacted.cleaner)(settings)
    with pytest.raises(CleaningStopped):
        stopping.clean(compacted.target(), plan)
    assert stopping.uncleanable == {}
    assert leftovers(compacted) == []
    assert {r.offset: r for r in before}.items() >= {r.offset: r for r in compacted.records()}.items()
    assert compacted.clean() is not None


def test_segments_dropped_by_the_owner_meanwhile_stop_the_pass(compacted):
    fill(compacted)
    before = compacted.records()
    target, first = compacted.target(), compacted.log.segments[0]

    def drop_then(step) -> None:
        if first in compacted.log.segments:
            compacted.log.replace_segments([first], [])
        step()

    settings = CleanerSettings(compacted.clock, on_owner=drop_then, sleep=lambda _: None)
    cleaner = type(compacted.cleaner)(settings)
    assert cleaner.clean(target, cleaner.plan(target)) is None
    assert cleaner.uncleanable == {}
    assert leftovers(compacted) == []
    end = compacted.log.segments[0].base_offset
    rest = compacted.log.read(end, 1 << 20, compacted.log.log_end_offset).read()
    assert rest
    assert before[0].offset < end


@pytest.mark.parametrize("again", [False, True], ids=["gone", "made again"])
@pytest.mark.parametrize("when", ["reading", "exchanging"])
def test_log_deleted_meanwhile_is_no_fault_and_nothing_of_it_comes_back(
    compacted, new_compacted, tmp_path, again, when
):
    fill(compacted)
    target, made = compacted.target(), []

    def delete() -> None:
        if not compacted.directory.with_name("deleted").exists():
            compacted.log.close()
            compacted.directory.rename(tmp_path / "deleted")
            if again:
                made.append(new_compacted(compacted.directory))
                fill(made[0], rounds=1)

    def on_owner(step) -> None:
        delete()
        step()

    reads = iter(range(10**6))
    settings = CleanerSettings(
        compacted.clock,
        on_owner=on_owner,
        sleep=lambda _: None,
        should_stop=lambda: when == "reading" and next(reads) > 70 and delete(),
    )
    cleaner = type(compacted.cleaner)(settings)
    assert cleaner.clean(target, cleaner.plan(target)) is None
    assert cleaner.uncleanable == {}
    for other in made:
        assert leftovers(other) == []
        assert [(r.key, r.value) for r in other.records()] == other.written


def test_full_disk_is_tried_again_and_leaves_nothing(compacted, monkeypatch):
    fill(compacted)
    model, write = compacted.values(), os.pwrite

    def refuse(fd, data, position):
        raise OSError(errno.ENOSPC, "no space left")

    monkeypatch.setattr(os, "pwrite", refuse)
    assert compacted.clean() is None
    monkeypatch.setattr(os, "pwrite", write)
    assert compacted.cleaner.uncleanable == {}
    assert leftovers(compacted) == []
    assert compacted.values() == model
    assert compacted.clean() is not None
    assert compacted.values() == model


def test_disk_that_fails_during_the_exchange_loses_nothing(compacted, monkeypatch):
    compacted.append((b"only here", b"x"))
    fill(compacted)
    model, move = compacted.values(), os.replace

    def refuse(source, target):
        if str(source).endswith(".log.swap"):
            raise OSError(errno.EIO, "broken")
        move(source, target)

    monkeypatch.setattr(os, "replace", refuse)
    assert compacted.clean() is None
    monkeypatch.setattr(os, "replace", move)
    compacted.open()
    assert compacted.values() == model
    assert compacted.log.log_end_offset == len(compacted.written)


def test_aborted_records_supersede_nothing_and_open_transactions_end_the_pass(compacted):
    def transactional(producer_id: int, key: bytes, value: bytes, **flags) -> int:
        options = {"producer_id": producer_id, "producer_epoch": 0, "base_sequence": 0, "is_transactional": True}
        return compacted.append((key, value), **{**options, **flags})

    compacted.append((b"a", b"kept"))
    compacted.append((b"b", b"old"))
    transactional(1, b"a", b"aborted")
    transactional(1, b"\0\0\0\0", b"\0\0\0\0\0\0", is_control=True, base_sequence=1)
    transactional(2, b"b", b"committed")
    transactional(2, b"\0\0\0\1", b"\0\0\0\0\0\0", is_control=True, base_sequence=1)
    undecided = transactional(3, b"a", b"open")
    compacted.append((b"b", b"behind it"))
    compacted.seal()
    stats = compacted.clean()
    assert stats.end_offset == undecided
    assert [r.value for r in compacted.records() if r.key == b"a"] == [b"kept", b"open"]
    assert [r.value for r in compacted.records() if r.key == b"b"] == [b"committed", b"behind it"]


def test_compacted_log_reopens_as_it_was(compacted):
    fill(compacted)
    compacted.append((b"k1", None))
    compacted.seal()
    compacted.clean()
    before = compacted.records()
    compacted.log.close()
    shutil.copytree(compacted.directory, compacted.directory.with_name("copy-0"))
    compacted.open()
    assert compacted.records() == before
    assert any(delete_horizon_of(header) for header in headers(compacted))


def test_reading_and_writing_are_throttled():
    clock = ManualClock()
    throttle = Throttle(1_000, clock, lambda seconds: clock.advance(round(seconds * 1000)))
    for _ in range(100):
        throttle.spend(50)
    assert 4_900 <= clock.monotonic_ms() <= 5_100


def test_time_without_work_is_not_saved_up():
    clock = ManualClock()
    throttle = Throttle(1_000, clock, lambda seconds: clock.advance(round(seconds * 1000)))
    clock.advance(60_000)
    throttle.spend(3_000)
    assert clock.monotonic_ms() - 60_000 >= 2_990


def test_long_pause_is_made_in_pieces():
    pauses = []
    Throttle(10, ManualClock(), pauses.append).spend(100)
    assert sum(pauses) == pytest.approx(10)
    assert max(pauses) <= 0.5


def test_pass_reads_and_writes_no_faster_than_it_may(compacted):
    fill(compacted)
    settings = CleanerSettings(
        compacted.clock,
        on_owner=lambda step: step(),
        sleep=lambda seconds: compacted.clock.advance(round(seconds * 1000)),
        bytes_per_second=2_000,
    )
    stats = type(compacted.cleaner)(settings).clean_filthiest([compacted.target()])
    assert stats.seconds == pytest.approx((stats.bytes_read + stats.bytes_written) / 2_000, rel=0.02)


def test_batch_larger_than_any_request_is_not_read_into_memory(compacted, monkeypatch):
    monkeypatch.setattr("broker.log.compaction.segment_reader.BATCH_BYTES_MAX", 150)
    fill(compacted)
    assert compacted.clean() is None
    (reason,) = compacted.cleaner.uncleanable.values()
    assert "bytes at byte 0" in reason


def test_records_without_times_do_not_grow_young_by_being_compacted(compacted):
    """Where old segments are deleted too, such a segment is as old as its file."""
    compacted.log.config = replace(compacted.config, cleanup_policy=("compact", "delete"), retention_ms=1_000)
    for passes in (1, 2):
        for number in range(30):
            compacted.log.append(build_batch([Record(0, NO_TIMESTAMP, b"k%d" % (number % 6), b"." * 150)]), 0)
        written_ms = [1_000 * (passes * 100 + place) for place in range(len(compacted.log.segments))]
        for segment, at_ms in zip(compacted.log.segments, written_ms, strict=True):
            os.utime(segment.files.log, (at_ms / 1_000, at_ms / 1_000))
        stats = compacted.clean()
        *sealed, _ = compacted.log.retention_facts()
        assert {facts.modified_ms for facts in sealed} <= set(written_ms)
        assert (sealed[-1].max_timestamp, sealed[-1].modified_ms) == (NO_TIMESTAMP, written_ms[-2])
    assert stats.segments_after < stats.segments_before, "several became one, as old as the youngest of them"
    oldest = next(facts for facts in sealed if facts.size_bytes)
    for age_ms, is_gone in ((1_000, False), (1_001, True)):
        end, now_ms = compacted.log.log_end_offset, oldest.modified_ms + age_ms
        plan = plan_retention(sealed, compacted.log.config, 0, end, now_ms)
        assert (oldest.base_offset in [segment.base_offset for segment in plan.segments]) == is_gone
        assert {segment.reason for segment in plan.segments} <= {RetentionReason.TIME}


def test_a_copy_that_begins_meanwhile_stops_the_pass(compacted):
    """It would hold what was before the pass, and then what is after it without the tombstones in between."""
    fill(compacted)
    before, target = compacted.records(), compacted.target()

    def begin_then(step) -> None:
        compacted.log.is_being_copied = True
        step()

    settings = CleanerSettings(compacted.clock, on_owner=begin_then, sleep=lambda _: None)
    cleaner = type(compacted.cleaner)(settings)
    assert cleaner.clean(target, cleaner.plan(target)) is None
    assert cleaner.uncleanable == {}
    assert leftovers(compacted) == []
    assert compacted.records() == before
    compacted.log.is_being_copied = False
    assert compacted.clean() is not None

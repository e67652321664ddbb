"""A log that takes a leader's batches: byte for byte, in few writes, and nothing that does not fit (trap 14)."""

import os
from pathlib import Path

import pytest

from broker.common.errors import ApiError, ErrorCode
from broker.log.config import LogConfig
from broker.log.log import Log
from broker.records.batch import HEADER, parse_batch_header, patch_batch
from broker.records.builder import build_batch
from broker.records.record import Record

CONFIG = LogConfig(segment_bytes=1_000, index_interval_bytes=200)


@pytest.fixture
def leader(tmp_path, batch_of):
    """Some forty batches of one to three records in several segments; epochs 0, 2, 4…"""
    log = Log.open(tmp_path / "leader", CONFIG)
    for number in range(40):
        values = [b"%d.%d" % (number, place) for place in range(number % 3 + 1)]
        log.append(batch_of(*values, timestamp_ms=1_000 * number), number // 15 * 2)
    return log


@pytest.fixture
def follower(tmp_path):
    return Log.open(tmp_path / "follower", CONFIG)


def fetched(log: Log, offset: int = 0, max_bytes: int = 1 << 20) -> memoryview:
    """What a follower at `offset` is sent, of however many segments."""
    records_read = b""
    while offset < log.log_end_offset and len(records_read) < max_bytes:
        data = log.read(offset, max_bytes, log.log_end_offset).read()
        *_, last = headers_of(data)
        offset = last.next_offset
        records_read += data
    return memoryview(records_read)


def headers_of(data):
    at = 0
    while at < len(data):
        header = parse_batch_header(data, at)
        yield header
        at += header.size_bytes


def files_of(log: Log, suffix: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in log.directory.glob("*" + suffix)}


def batches_at(*places: tuple[int, int, bytes], **options) -> memoryview:
    """Batches of one record, as (offset, leader epoch, value)."""
    built = [bytearray(build_batch([Record(0, 1_000, None, value)], **options)) for _, _, value in places]
    for batch, (offset, epoch, _) in zip(built, places, strict=True):
        patch_batch(batch, 0, offset, epoch)
    return memoryview(b"".join(built))


def refusal_of(log: Log, batches: memoryview) -> str:
    before = (log.log_end_offset, log.size_bytes, log.leader_epochs.entries, files_of(log, ".log"))
    with pytest.raises(ApiError) as caught:
        log.append_as_follower(batches)
    assert caught.value.code is ErrorCode.CORRUPT_MESSAGE
    assert (log.log_end_offset, log.size_bytes, log.leader_epochs.entries, files_of(log, ".log")) == before
    return caught.value.message


@pytest.mark.parametrize("max_bytes", [1, 700, 1 << 20])
def test_follower_ends_up_with_the_files_of_its_leader(leader, follower, max_bytes):
    while follower.log_end_offset < leader.log_end_offset:
        data = fetched(leader, follower.log_end_offset, max_bytes)
        *_, last = headers_of(data)
        assert follower.append_as_follower(data) == last.next_offset == follower.log_end_offset
    for log in (leader, follower):
        log.flush()
        log.store_clean_state()
    for suffix in (".log", ".index", ".timeindex", "leader-epoch-checkpoint"):
        assert files_of(follower, suffix) == files_of(leader, suffix), suffix
    assert len(follower.segments) == len(leader.segments) > 3
    assert follower.leader_epochs.entries == leader.leader_epochs.entries
    for timestamp in range(0, 40_000, 500):
        assert follower.offset_for_timestamp(timestamp) == leader.offset_for_timestamp(timestamp)


@pytest.mark.parametrize("is_clean", [True, False])
def test_what_a_follower_wrote_is_there_after_a_restart(leader, follower, records_of, is_clean):
    follower.append_as_follower(fetched(leader))
    if is_clean:
        follower.flush()
        follower.store_clean_state()
    again = Log.open(follower.directory, CONFIG, is_clean=is_clean)
    assert records_of(again) == records_of(leader)
    assert again.leader_epochs.entries == leader.leader_epochs.entries


def test_batches_of_one_segment_are_one_write(tmp_path, batch_of, monkeypatch):
    leader, follower = (Log.open(tmp_path / name, LogConfig()) for name in ("a", "b"))
    for number in range(200):
        leader.append(batch_of(b"%d" % number), 0)
    writes, pwrite = [], os.pwrite

    def counting(fd, data, position):
        writes.append(Path(os.readlink(f"/proc/self/fd/{fd}")).name)
        return pwrite(fd, data, position)

    monkeypatch.setattr(os, "pwrite", counting)
    follower.append_as_follower(fetched(leader))
    logs = [name for name in writes if name.endswith(".log")]
    assert (len(logs), follower.log_end_offset) == (1, 200)


def test_repeated_fetch_is_skipped_and_the_new_rest_is_written(leader, follower, records_of):
    everything = fetched(leader)
    sizes = [header.size_bytes for header in headers_of(everything)]
    follower.append_as_follower(everything[: sum(sizes[:9])])
    end = follower.log_end_offset
    assert follower.append_as_follower(everything[: sum(sizes[:9])]) == end
    assert follower.append_as_follower(everything[sum(sizes[:4]) : sum(sizes[:12])]) > end
    assert follower.append_as_follower(everything) == leader.log_end_offset
    assert records_of(follower) == records_of(leader)


def test_partial_batch_at_the_end_is_ignored(leader, follower):
    data = fetched(leader)
    *_, last = headers_of(data)
    for cut in (1, last.size_bytes - 62, last.size_bytes - 60, last.size_bytes - 1):
        assert follower.append_as_follower(data[:-cut]) == last.base_offset
    assert follower.append_as_follower(memoryview(b"")) == last.base_offset


def test_trap_14_answer_without_one_whole_batch_is_refused(leader, follower):
    data = fetched(leader)
    first = parse_batch_header(data)
    for size in (1, 60, 61, first.size_bytes - 1):
        assert "whole batch" in refusal_of(follower, data[:size])


def test_trap_14_any_damaged_byte_is_refused_and_nothing_is_written(leader, follower):
    """But for base offset and leader epoch, which the CRC leaves out and which are judged by their order."""
    sizes = [header.size_bytes for header in headers_of(fetched(leader))]
    follower.append_as_follower(fetched(leader)[: sizes[0]])
    data = fetched(leader)[: sum(sizes[:4])]
    victim = sum(sizes[:2])
    for at in range(sizes[2]):
        if at < 8 or 12 <= at < 16:
            continue
        damaged = bytearray(data)
        damaged[victim + at] ^= 0x40
        parsed = parse_batch_header(damaged, victim)
        if victim + parsed.size_bytes > len(damaged):
            refusal_of(follower, memoryview(damaged)[victim:])
        else:
            refusal_of(follower, memoryview(damaged))
    assert follower.append_as_follower(data) == 1 + 2 + 3 + 1


@pytest.mark.parametrize(
    "offsets", [(5, 4), (5, 5), (7, 6, 8), (-1,)], ids=["back", "twice", "back in the middle", "negative"]
)
def test_trap_14_offsets_that_go_back_are_refused(follower, offsets):
    refusal_of(follower, batches_at(*((offset, 0, b"x") for offset in offsets)))


def test_trap_14_batch_over_the_end_of_the_log_is_refused(tmp_path, leader, batch_of):
    follower = Log.open(tmp_path / "other", CONFIG)
    follower.append(batch_of(b"0.0", b"1.0"), 0)
    assert "end of the log" in refusal_of(follower, fetched(leader))


def test_leader_epoch_that_goes_back_is_refused(follower):
    assert "leader epoch" in refusal_of(follower, batches_at((0, 3, b"a"), (1, 2, b"b")))
    follower.append_as_follower(batches_at((0, 3, b"a")))
    assert "leader epoch" in refusal_of(follower, batches_at((1, 2, b"b")))


def test_counts_that_cannot_be_are_refused(follower):
    whole = batches_at((0, 0, b"a"))
    header = parse_batch_header(whole)
    for lie in ({"records_count": 2}, {"records_count": -1}, {"last_offset_delta": -1}, {"batch_length": 10}):
        lying = bytearray(whole)
        HEADER.pack_into(lying, 0, *header._replace(**lie))
        assert "says it has" in refusal_of(follower, memoryview(lying)), lie


def test_gaps_of_a_compacted_leader_stay_gaps(follower, records_of):
    places = [(3, 0, b"a"), (4, 0, b"b"), (90, 1, b"c"), (10**9, 1, b"d"), (2**31 + 10**9, 2, b"e"), (2**40, 2, b"f")]
    assert follower.append_as_follower(batches_at(*places)) == 2**40 + 1
    expected = [(offset, value) for offset, _, value in places]
    assert records_of(follower) == expected
    again = Log.open(follower.directory, CONFIG)
    assert (records_of(again), again.log_end_offset) == (expected, 2**40 + 1)
    assert again.leader_epochs.entries == ((0, 3), (1, 90), (2, 2**31 + 10**9))
    assert again.append_as_follower(batches_at((2**40 + 5, 2, b"g"))) == 2**40 + 6


def test_batch_larger_than_own_limits_is_taken_from_a_leader(tmp_path, records_of):
    follower = Log.open(tmp_path / "t-0", LogConfig(segment_bytes=300, max_message_bytes=100))
    values = [b"a", b"b" * 1_000, b"c", b"d" * 500, b"e" * 600]
    follower.append_as_follower(batches_at(*((offset, 0, value) for offset, value in enumerate(values))))
    assert records_of(follower) == list(enumerate(values))
    assert [segment.base_offset for segment in follower.segments] == [0, 1, 2, 3, 4]
    assert records_of(Log.open(follower.directory, LogConfig(segment_bytes=300))) == list(enumerate(values))


def test_index_that_is_full_rolls_as_for_the_leader(tmp_path, batch_of):
    config = LogConfig(segment_index_bytes=60, index_interval_bytes=1)
    leader, follower = (Log.open(tmp_path / name, config) for name in ("a", "b"))
    for number in range(50):
        leader.append(batch_of(b"%d" % number), 0)
    follower.append_as_follower(fetched(leader))
    assert [s.base_offset for s in follower.segments] == [s.base_offset for s in leader.segments]
    assert len(follower.segments) > 5


def test_segment_ms_rolls_as_for_the_leader(tmp_path, batch_of):
    config = LogConfig(segment_ms=10_000)
    leader, follower = (Log.open(tmp_path / name, config) for name in ("a", "b"))
    for number in range(50):
        leader.append(batch_of(b"%d" % number, timestamp_ms=1_000 * number), 0)
    follower.append_as_follower(fetched(leader))
    assert [s.base_offset for s in follower.segments] == [s.base_offset for s in leader.segments]
    assert len(follower.segments) == 5


def test_producers_are_known_to_a_follower_that_becomes_leader(follower, batch_of):
    def sent(sequence: int) -> bytearray:
        return build_batch(
            [Record(0, 1_000, None, b"%d" % sequence)], producer_id=7, producer_epoch=1, base_sequence=sequence
        )

    for sequence in range(3):
        batch = sent(sequence)
        patch_batch(batch, 0, sequence, 4)
        follower.append_as_follower(memoryview(batch))
    follower.begin_leader_epoch(5)
    assert follower.append(sent(1), 5).base_offset == 1, "seen already"
    assert follower.append(sent(3), 5).base_offset == 3
    with pytest.raises(ApiError) as caught:
        follower.append(sent(5), 5)
    assert caught.value.code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_epoch_is_in_its_file_before_the_batches_are_in_the_log(follower, monkeypatch):
    def no_space(path, content):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr("broker.log.leader_epoch_file.put_in_place", no_space)
        with pytest.raises(ApiError) as caught:
            follower.append_as_follower(batches_at((0, 0, b"a"), (1, 3, b"b")))
    assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert (follower.log_end_offset, follower.leader_epochs.entries) == (0, ())
    follower.append_as_follower(batches_at((0, 0, b"a"), (1, 3, b"b")))
    assert follower.leader_epochs.entries == ((0, 0), (3, 1))


def test_write_that_fails_leaves_whole_runs_and_their_epochs(leader, follower, records_of, monkeypatch):
    written, pwrite = [], os.pwrite

    def filling(fd, data, position):
        name = os.readlink(f"/proc/self/fd/{fd}")
        if name.endswith(".log"):
            written.append(len(data))
            if len(written) == 5:
                pwrite(fd, bytes(data)[: len(data) // 2], position)
                raise OSError(28, "No space left on device")
        return pwrite(fd, data, position)

    everything = records_of(leader)
    with monkeypatch.context() as full:
        full.setattr(os, "pwrite", filling)
        with pytest.raises(ApiError) as caught:
            follower.append_as_follower(fetched(leader))
    assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    end = follower.log_end_offset
    assert 0 < end < leader.log_end_offset
    assert records_of(follower) == everything[:end]
    assert all(entry.start_offset < end for entry in follower.leader_epochs.entries)
    assert records_of(Log.open(follower.directory, CONFIG)) == everything[:end]
    assert follower.append_as_follower(fetched(leader)) == leader.log_end_offset
    assert (records_of(follower), follower.leader_epochs.entries) == (everything, leader.leader_epochs.entries)


def test_flush_messages_is_kept_by_followers(tmp_path, leader):
    follower = Log.open(tmp_path / "t-0", LogConfig(flush_messages=10))
    follower.append_as_follower(fetched(leader))
    assert follower.is_flush_due


def test_replica_reads_up_to_the_log_end_beyond_the_high_watermark(leader):
    end = leader.log_end_offset
    for offset in range(end):
        data = leader.read(offset, 1 << 20, end).read()
        *_, last = headers_of(data)
        beyond = [segment.base_offset for segment in leader.segments if segment.base_offset > offset]
        assert last.next_offset == (beyond[0] if beyond else end), "up to the end of the segment"
    assert leader.read(end, 1 << 20, end).length == 0
    with pytest.raises(ApiError) as caught:
        leader.read(end + 1, 1 << 20, end)
    assert caught.value.code is ErrorCode.OFFSET_OUT_OF_RANGE


def test_log_start_of_the_leader_is_followed_as_far_as_the_log_goes(leader, follower):
    follower.append_as_follower(fetched(leader)[: len(fetched(leader)) // 2])
    end = follower.log_end_offset
    for offset, expected in ((7, 7), (3, 7), (end + 50, end)):
        follower.follow_log_start(offset)
        assert follower.log_start_offset == expected
    assert follower.log_end_offset == end
    assert follower.append_as_follower(fetched(leader)) == leader.log_end_offset


def test_log_that_begins_anew_inside_a_batch_takes_the_whole_batch(leader, follower):
    """DeleteRecords may move the leader's start to any offset; it sends whole batches all the same."""
    start = next(header.last_offset for header in headers_of(fetched(leader)) if header.last_offset_delta == 2)
    leader.delete_records(start, leader.log_end_offset)
    follower.truncate_fully_and_start_at(start)
    assert follower.append_as_follower(fetched(leader, start)) == leader.log_end_offset
    assert follower.log_start_offset == start
    assert fetched(follower, start) == fetched(leader, start)


def test_log_that_begins_anew_inside_a_damaged_batch_stays_as_it_is(leader, follower):
    start = next(header.last_offset for header in headers_of(fetched(leader)) if header.last_offset_delta == 2)
    follower.truncate_fully_and_start_at(start)
    damaged = bytearray(fetched(leader, start))
    damaged[70] ^= 1
    with pytest.raises(ApiError) as refused:
        follower.append_as_follower(memoryview(damaged))
    assert refused.value.code is ErrorCode.CORRUPT_MESSAGE
    assert (follower.log_start_offset, follower.log_end_offset) == (start, start)

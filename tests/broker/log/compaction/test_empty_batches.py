"""Consumers are not answered with batches without records alone, as long as records follow: some clients would stand
still there, or begin anew.
"""

import pytest

from broker.common.errors import ApiError
from broker.log.compaction.rebuild import empty_batch, end_mark
from broker.log.config import LogConfig
from broker.log.log import Log
from broker.log.log_slice import LogSlice
from broker.records.batch import HEADER_BYTES, iterate_headers, parse_batch_header
from broker.records.builder import build_batch
from broker.records.record import Record

CONFIG = LogConfig(segment_bytes=700, index_interval_bytes=100)


def batch_at(offset: int, size: int = 20) -> bytearray:
    batch = build_batch([Record(0, 1_000, b"k", b"." * size)])
    batch[:8] = offset.to_bytes(8, "big")
    return batch


def emptied(offset: int, *, producer_id: int = 7) -> bytes:
    """What the cleaner leaves of a producer's last batch."""
    batch = build_batch([Record(0, 1_000, b"k", b"v")], producer_id=producer_id, producer_epoch=0, base_sequence=0)
    batch[:8] = offset.to_bytes(8, "big")
    return empty_batch(parse_batch_header(batch))


def log_of(tmp_path, *segments: list[bytes]) -> Log:
    """With one segment for each list."""
    directory = tmp_path / "t-0"
    directory.mkdir()
    for batches in segments:
        base_offset = parse_batch_header(batches[0]).base_offset
        (directory / f"{base_offset:020d}.log").write_bytes(b"".join(batches))
    return Log.open(directory, CONFIG)


def answered(log: Log, fetch_offset: int, end_offset: int | None = None, max_bytes: int = 1 << 20) -> list[int]:
    """The base offsets of the batches that a consumer is answered with."""
    end_offset = log.log_end_offset if end_offset is None else end_offset
    log_slice = log.read(fetch_offset, max_bytes, end_offset)
    log_slice = log.pass_over_empty(log_slice, fetch_offset, max_bytes, end_offset, at_least_one=True)
    assert isinstance(log_slice, LogSlice)
    return [header.base_offset for _, header in iterate_headers(log_slice.read())]


def test_empty_batches_alone_are_passed_over_into_a_later_segment(tmp_path):
    log = log_of(
        tmp_path, [emptied(3), emptied(4)], [emptied(10)], [emptied(20), batch_at(21), emptied(22)], [batch_at(30)]
    )
    for fetch_offset in (3, 4, 5, 9, 10, 11, 20):
        assert answered(log, fetch_offset) == ([20, 21, 22] if fetch_offset > 10 else [21, 22]), fetch_offset
    assert answered(log, 22) == [30]
    assert answered(log, 3, max_bytes=0) == [21]


def test_empty_batches_beside_records_stay_in_the_answer(tmp_path):
    """Other clients learn from them how far the log reaches."""
    log = log_of(tmp_path, [emptied(0), batch_at(1), emptied(2)], [batch_at(3)])
    assert answered(log, 0) == [0, 1, 2]


def test_empty_batches_at_the_end_are_the_answer(tmp_path):
    log = log_of(tmp_path, [batch_at(0)], [emptied(5), emptied(6)])
    assert answered(log, 1) == [5, 6]
    assert answered(log, 5) == [5, 6]


def test_records_that_are_not_committed_do_not_follow(tmp_path):
    log = log_of(tmp_path, [emptied(0), emptied(1)], [batch_at(5)])
    assert answered(log, 0, end_offset=5) == [0, 1]
    assert answered(log, 0, end_offset=6) == [5]


def test_a_batch_whose_length_is_that_of_some_headers_is_a_batch(tmp_path):
    size = 2 * HEADER_BYTES - len(batch_at(0, size=0))
    batch = batch_at(0, size)
    while len(batch) != 2 * HEADER_BYTES:
        size -= len(batch) - 2 * HEADER_BYTES
        batch = batch_at(0, size)
    log = log_of(tmp_path, [batch], [batch_at(1)])
    assert answered(log, 0) == [0]


def test_many_empty_batches_are_passed_over_at_once(tmp_path):
    log = log_of(tmp_path, [emptied(offset, producer_id=offset) for offset in range(1_000)], [batch_at(1_000)])
    assert answered(log, 0, max_bytes=500) == [1_000]


def test_damage_behind_empty_batches_is_told(tmp_path):
    log = log_of(tmp_path, [emptied(0), batch_at(1)], [batch_at(2)])
    path = log.directory / f"{0:020d}.log"
    content = bytearray(path.read_bytes())
    content[HEADER_BYTES + 16] = 9
    path.write_bytes(content)
    log = Log.open(log.directory, CONFIG, is_clean=True)
    with pytest.raises(ApiError, match="damaged"):
        answered(log, 0, max_bytes=0)


def test_an_end_mark_says_nothing_of_any_producer():
    """Left by a stop, and read at the next start, it would else begin a transaction that nothing ends."""
    batch = build_batch(
        [Record(0, 1_000, b"k", b"v")] * 3, producer_id=7, producer_epoch=2, base_sequence=5, is_transactional=True
    )
    header = parse_batch_header(end_mark(parse_batch_header(batch)))
    assert (header.base_offset, header.next_offset, header.records_count) == (0, 3, 0)
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (-1, -1, -1)
    assert not header.is_transactional

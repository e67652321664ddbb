"""How many offsets a reader was given, told without a look into a file."""

import pytest

from broker.log.config import LogConfig
from broker.log.log import Log


@pytest.fixture
def rolled(tmp_path, batch_of):
    """Two hundred batches of three records over several segments."""
    log = Log.open(tmp_path / "orders-0", LogConfig(segment_bytes=2_000, index_interval_bytes=100))
    for number in range(200):
        log.append(batch_of(b"a", b"b", b"%03d" % number), 0)
    assert len(list(log.segments)) > 5
    return log


def counted(log: Log, max_bytes: int) -> list[tuple[int, int]]:
    """For each slice from the log's start on: what is counted, and what it has."""
    collected, offset = [], log.log_start_offset
    while (read := log.read(offset, max_bytes, log.log_end_offset)).length:
        next_offset = log.offset_after(offset, read)
        collected.append((log.count_offsets(offset, read), next_offset - offset))
        offset = next_offset
    return collected


def test_what_ends_with_a_segment_is_counted_exactly(rolled):
    assert all(count == offsets for count, offsets in counted(rolled, 1 << 20))
    assert sum(count for count, _ in counted(rolled, 1 << 20)) == 600


def test_what_lies_within_a_sealed_segment_is_counted_by_its_mean(rolled):
    counts = counted(rolled, 300)
    assert len(counts) > 50
    assert all(abs(count - offsets) <= 1 for count, offsets in counts)
    assert sum(count for count, _ in counts) == pytest.approx(600, rel=0.01)


def test_what_is_new_is_counted_exactly_to_the_offset_where_the_reader_began(tmp_path, batch_of):
    log = Log.open(tmp_path / "orders-0", LogConfig())
    for _ in range(10):
        log.append(batch_of(b"a", b"b", b"c"), 0)
    some = log.read(4, 200, 30)
    assert log.count_offsets(4, some) == log.offset_after(4, some) - 4
    rest = log.read(4, 1 << 20, 30)
    assert log.count_offsets(4, rest) == 26


def test_a_count_reads_no_file(rolled, monkeypatch):
    read = rolled.read(0, 300, rolled.log_end_offset)

    def refuse(*_args):
        raise AssertionError("the file was read")

    monkeypatch.setattr("broker.log.segment.scan_batches", refuse)
    assert rolled.count_offsets(0, read) > 0

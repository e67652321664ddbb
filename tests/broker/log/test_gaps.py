"""Offsets that are missing between segments are found by where each segment ends."""

import pytest

from broker.log.config import LogConfig
from broker.log.gaps import OffsetGap, find_gaps
from broker.log.log import Log

CONFIG = LogConfig(segment_bytes=700, index_interval_bytes=100)


@pytest.fixture
def log(tmp_path, batch_of):
    log = Log.open(tmp_path / "t-0", CONFIG)
    while len(log.segments) < 6:
        log.append(batch_of(b"a", b"b", b"c"), 0)
    return log


def without(log: Log, *places: int) -> Log:
    """The log without the segments at `places`, opened again."""
    log.flush()
    log.store_clean_state()
    log.close()
    for place in places:
        log.segments[place].remove_files()
    return Log.open(log.directory, CONFIG, is_clean=True)


def test_a_whole_log_has_no_gaps(log):
    assert find_gaps(log.segments, 0) == ()


def test_each_lost_segment_is_a_gap(log):
    bases = [segment.base_offset for segment in log.segments]
    again = without(log, 1, 3)
    gaps = (OffsetGap(bases[1], bases[2]), OffsetGap(bases[3], bases[4]))
    assert find_gaps(again.segments, 0) == gaps
    assert [str(gap) for gap in gaps] == [f"{bases[1]} to {bases[2] - 1}", f"{bases[3]} to {bases[4] - 1}"]
    assert find_gaps(again.segments, bases[2]) == gaps[1:]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda content: None,
        lambda content: b"",
        lambda content: content[:-3],
        lambda content: content + bytes(80),
        lambda content: content[:-4] + b"\x00\x00\x00\x07",
        lambda content: content[:-4] + b"\x7f\x00\x00\x07",
    ],
    ids=["lost", "empty", "torn", "preallocated", "in the middle of a batch", "behind the end"],
)
def test_an_index_that_lies_makes_no_gap_and_hides_none(log, spoil):
    base = log.segments[2].base_offset
    again = without(log, 3)
    for segment in again.segments:
        content = spoil(segment.files.index.read_bytes())
        if content is None:
            segment.files.index.unlink()
        else:
            segment.files.index.write_bytes(content)
    (gap,) = find_gaps(again.segments, 0)
    assert base < gap.first_offset < gap.next_offset == again.segments[3].base_offset


def test_of_a_damaged_segment_nothing_is_said(log):
    path = log.segments[1].files.log
    content = bytearray(path.read_bytes())
    content[16] = 9
    path.write_bytes(content)
    log.segments[1].files.index.unlink()
    assert find_gaps(log.segments, 0) == ()

"""Which segments a pass rewrites, and when."""

import pytest

from broker.log.compaction.plan import SEGMENTS_PER_GROUP_MAX, CleanableSegment, choose_filthiest, plan_compaction
from broker.log.config import LogConfig
from broker.log.segment_files import FILE_SUFFIXES
from tests.simulation.syscalls import BOUNDS

NOW = 1_000_000


def segments(*sizes: int, records: int = 10, first: int = 900_000) -> list[CleanableSegment]:
    """Each holds `records` offsets and one second."""
    return [
        CleanableSegment(
            place * records, (place + 1) * records, size, first + place * 1_000, first + place * 1_000 + 999
        )
        for place, size in enumerate(sizes)
    ]


def plan(sealed, first_dirty_offset=0, end_offset_max=10**9, **config):
    return plan_compaction(sealed, first_dirty_offset, end_offset_max, LogConfig(**config), NOW)


def bases(expected) -> list[list[int]]:
    return [[segment.base_offset for segment in group] for group in expected]


def test_everything_sealed_and_replicated_is_cleanable():
    result = plan(segments(100, 100, 100))
    assert (result.end_offset, result.clean_bytes, result.dirty_bytes) == (30, 0, 300)
    assert result.is_due
    assert bases(result.groups) == [[0, 10, 20]]


def test_segment_across_the_high_watermark_is_left_alone():
    assert plan(segments(100, 100, 100), end_offset_max=29).end_offset == 20
    assert plan(segments(100, 100, 100), end_offset_max=30).end_offset == 30


def test_log_without_sealed_segments_is_not_due():
    result = plan([])
    assert not result.is_due
    assert (result.groups, result.end_offset, result.dirty_ratio) == ((), 0, 0.0)


@pytest.mark.parametrize(("ratio", "is_due"), [(0.24, True), (0.25, False), (0.5, False)])
def test_log_is_due_when_the_dirty_share_is_above_the_ratio(ratio, is_due):
    result = plan(segments(100, 100, 100, 100), first_dirty_offset=30, min_cleanable_dirty_ratio=ratio)
    assert result.dirty_ratio == 0.25
    assert result.is_due is is_due


def test_clean_log_is_not_due_even_with_ratio_zero():
    result = plan(segments(100, 100), first_dirty_offset=20, min_cleanable_dirty_ratio=0.0)
    assert not result.is_due


def test_segment_that_the_last_pass_reached_into_is_dirty():
    result = plan(segments(100, 100), first_dirty_offset=15)
    assert (result.clean_bytes, result.dirty_bytes) == (100, 100)


def test_dirty_segment_younger_than_the_lag_ends_the_range():
    """The third segment's youngest record is of 902,999, the second's of 901,999."""
    sealed = segments(100, 100, 100)
    assert plan(sealed, min_compaction_lag_ms=NOW - 902_000).end_offset == 20
    assert plan(sealed, min_compaction_lag_ms=NOW - 902_999).end_offset == 30
    assert plan(sealed, min_compaction_lag_ms=NOW - 901_999).end_offset == 20
    assert plan(sealed, min_compaction_lag_ms=NOW - 900_000).end_offset == 0


def test_clean_segments_stay_cleanable_whatever_their_age():
    sealed = segments(100, 100, 100)
    assert plan(sealed, first_dirty_offset=20, min_compaction_lag_ms=NOW).end_offset == 20


def test_dirty_record_older_than_the_maximum_lag_makes_the_log_due():
    sealed = segments(100, 100, 100)
    overdue = plan(sealed, first_dirty_offset=20, max_compaction_lag_ms=NOW - 902_001, min_cleanable_dirty_ratio=1.0)
    assert overdue.is_overdue
    assert overdue.is_due
    in_time = plan(sealed, first_dirty_offset=20, max_compaction_lag_ms=NOW - 902_000, min_cleanable_dirty_ratio=1.0)
    assert not in_time.is_due


def test_unknown_timestamps_make_nothing_overdue():
    sealed = [CleanableSegment(0, 10, 100)]
    assert not plan(sealed, max_compaction_lag_ms=1, min_cleanable_dirty_ratio=1.0).is_due


def test_neighbours_are_grouped_up_to_the_size_of_a_segment():
    result = plan(segments(60, 40, 1, 99, 150, 10, 10), segment_bytes=100)
    assert bases(result.groups) == [[0, 10], [20, 30], [40], [50, 60]]


def test_group_stays_within_what_an_index_can_point_to():
    far = 2**31
    sealed = [CleanableSegment(0, 10, 1), CleanableSegment(10, far, 1), CleanableSegment(far, far + 1, 1)]
    assert bases(plan(sealed, end_offset_max=2 * far).groups) == [[0, 10], [far]]


def test_group_has_no_more_segments_than_are_renamed_in_one_go():
    result = plan(segments(*[1] * (SEGMENTS_PER_GROUP_MAX + 1)))
    assert [len(group) for group in result.groups] == [SEGMENTS_PER_GROUP_MAX, 1]
    assert (SEGMENTS_PER_GROUP_MAX + 1) * len(FILE_SUFFIXES) <= BOUNDS["renames"], "with the files of the new segment"


def test_pass_that_ends_early_leaves_later_segments_out():
    result = plan(segments(50, 50, 50, 50, 50), segment_bytes=100)
    assert bases(result.groups_below(31)) == [[0, 10], [20, 30]]
    assert bases(result.groups_below(30)) == [[0, 10], [20]]
    assert result.groups_below(0) == []


def test_overdue_log_comes_before_the_dirtiest_one():
    dirty = plan(segments(100, 100))
    less_dirty = plan(segments(100, 100, 100), first_dirty_offset=10)
    overdue = plan(segments(100, 100), first_dirty_offset=10, max_compaction_lag_ms=1)
    clean = plan(segments(100), first_dirty_offset=10)
    assert choose_filthiest({"less": less_dirty, "most": dirty, "clean": clean}) == "most"
    assert choose_filthiest({"most": dirty, "overdue": overdue}) == "overdue"
    assert choose_filthiest({"clean": clean}) is None

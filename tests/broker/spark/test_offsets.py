"""What a stream reads next, decided from offsets alone."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.common.types import TopicPartition
from broker.spark.offsets import (
    EARLIEST,
    LATEST,
    DataLossError,
    OffsetRange,
    backlog,
    check_nothing_lost,
    from_json,
    limit,
    lost,
    ranges,
    resolve,
    split,
    to_json,
)

P0, P1, P2 = (TopicPartition("t", partition) for partition in range(3))

offsets = st.dictionaries(
    st.builds(TopicPartition, st.sampled_from(["a", "b"]), st.integers(0, 12)), st.integers(0, 10_000), max_size=9
)


@given(offsets)
def test_offsets_survive_their_json_form(some):
    assert from_json(to_json(some)) == some


def test_offsets_by_partition_are_resolved():
    earliest, latest = {P0: 5, P1: 6, P2: 7}, {P0: 50, P1: 60, P2: 70}
    assert resolve({P0: 23, P1: LATEST, P2: EARLIEST}, earliest, latest) == {P0: 23, P1: 60, P2: 7}


def test_offsets_by_partition_name_exactly_those_there():
    with pytest.raises(ValueError, match="t-1 is left out"):
        resolve({P0: 1}, {P0: 0, P1: 0}, {P0: 9, P1: 9})
    with pytest.raises(ValueError, match="there is no t-2"):
        resolve({P0: 1, P2: 1}, {P0: 0}, {P0: 9})


def test_shorter_or_vanished_partition_is_data_loss():
    assert lost({P0: 5}, {P0: 5, P1: 3}) == []
    with pytest.raises(DataLossError, match=r"t-0 was read up to 5 and now ends at 2.*fail.on.data.loss=false"):
        check_nothing_lost({P0: 5}, {P0: 2})
    with pytest.raises(DataLossError, match="no partition"):
        check_nothing_lost({P0: 5, P1: 0}, {P0: 5})


def test_limit_is_shared_in_proportion_to_what_waits():
    assert limit({P0: 0, P1: 100}, {P0: 900, P1: 200}, 100) == {P0: 90, P1: 110}
    assert limit({P0: 0}, {P0: 5}, 100) == {P0: 5}
    assert limit({P0: 0, P1: 0, P2: 0}, {P0: 1, P1: 1, P2: 1}, 1) == {P0: 1, P1: 0, P2: 0}


def test_partition_that_ends_earlier_takes_nothing_from_the_limit():
    assert limit({P0: 50, P1: 0}, {P0: 20, P1: 300}, 100) == {P0: 20, P1: 100}


@given(offsets, st.lists(st.integers(0, 500), max_size=9), st.integers(1, 1_000))
def test_limited_batch_is_full_and_never_oversteps(start, growth, max_offsets):
    end = {partition: start[partition] + more for partition, more in zip(sorted(start), growth, strict=False)}
    begin = {partition: start[partition] for partition in end}
    chosen = limit(begin, end, max_offsets)
    assert all(begin[partition] <= chosen[partition] <= end[partition] for partition in end)
    backlog = sum(end.values()) - sum(begin.values())
    assert sum(chosen.values()) - sum(begin.values()) == min(backlog, max_offsets)


def test_ranges_leave_out_what_is_empty_and_read_new_partitions_from_their_first_record():
    assert ranges({P0: 5, P1: 2}, {P0: 5, P1: 4, P2: 3}) == [OffsetRange(P1, 2, 4), OffsetRange(P2, 0, 3)]


def test_backlog_counts_new_partitions_from_their_first_record():
    assert backlog({P0: 5, P1: 9}, {P0: 8, P1: 7, P2: 4}) == 7


def test_large_ranges_are_read_in_more_pieces():
    whole = [OffsetRange(P0, 0, 900), OffsetRange(P1, 0, 100)]
    assert [piece.end - piece.start for piece in split(whole, 10, None)] == [100] * 10
    assert split(whole, 2, None) == whole
    assert max(piece.end - piece.start for piece in split(whole, None, 250)) <= 250


@given(st.lists(st.integers(1, 5_000), min_size=1, max_size=6), st.none() | st.integers(1, 40), st.integers(1, 900))
def test_pieces_are_together_what_was_cut(sizes, at_least, max_records):
    whole = [OffsetRange(TopicPartition("t", number), 7, 7 + size) for number, size in enumerate(sizes)]
    pieces = split(whole, at_least, max_records)
    assert all(piece.start < piece.end for piece in pieces)
    for increment in whole:
        edges = [(piece.start, piece.end) for piece in pieces if piece.partition == increment.partition]
        assert edges[0][0] == increment.start
        assert edges[-1][1] == increment.end
        assert all(before[1] == after[0] for before, after in pairwise(edges))

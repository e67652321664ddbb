"""What a stream reads next, decided from offsets alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.common.types import TopicPartition
from broker.spark.offsets import (
    EARLIEST,
    LATEST,
    DataLossError,
    OffsetRange,
    advance,
    from_json,
    limit,
    parse_position,
    ranges,
    resolve,
    to_json,
)

P0, P1, P2 = (TopicPartition("t", partition) for partition in range(3))

offsets = st.dictionaries(
    st.builds(TopicPartition, st.sampled_from(["a", "b"]), st.integers(0, 12)), st.integers(0, 10_000), max_size=9
)


@given(offsets)
def test_offsets_survive_their_json_form(some):
    assert from_json(to_json(some)) == some


def test_positions_are_those_of_the_kafka_connector():
    assert parse_position("earliest") == EARLIEST
    assert parse_position(" Latest") == LATEST
    assert parse_position('{"t": {"0": 23, "1": -2}}') == {P0: 23, P1: -2}
    for wrong in ("soon", "5", "[]", '{"t": 5}', '{"t": {"x": 1}}'):
        with pytest.raises(ValueError, match="is not"):
            parse_position(wrong)


def test_position_by_partition_is_resolved_for_every_partition():
    earliest, latest = {P0: 5, P1: 6, P2: 7}, {P0: 50, P1: 60, P2: 70}
    assert resolve(EARLIEST, earliest, latest) == earliest
    assert resolve(LATEST, earliest, latest) == latest
    assert resolve({P0: 23, P1: LATEST}, earliest, latest) == {P0: 23, P1: 60, P2: 7}
    with pytest.raises(ValueError, match="no partition t-2"):
        resolve({P2: 1}, {P0: 0}, {P0: 9})


def test_stream_moves_to_the_ends_and_takes_in_new_partitions():
    assert advance({P0: 5}, {P0: 9, P1: 3}, True) == {P0: 9, P1: 3}


def test_shorter_or_vanished_partition_is_data_loss():
    with pytest.raises(DataLossError, match=r"t-0 was read up to 5 and now ends at 2.*failOnDataLoss"):
        advance({P0: 5}, {P0: 2}, True)
    with pytest.raises(DataLossError, match="no partition"):
        advance({P0: 5, P1: 1}, {P0: 5}, True)
    assert advance({P0: 5, P1: 1}, {P0: 2}, False) == {P0: 5, P1: 1}, "never backwards"


def test_limit_is_shared_in_proportion_to_what_waits():
    assert limit({P0: 0, P1: 100}, {P0: 900, P1: 200}, 100) == {P0: 90, P1: 110}
    assert limit({P0: 0}, {P0: 5}, 100) == {P0: 5}
    assert limit({P0: 0, P1: 0, P2: 0}, {P0: 1, P1: 1, P2: 1}, 1) == {P0: 1, P1: 0, P2: 0}


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

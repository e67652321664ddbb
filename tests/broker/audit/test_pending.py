"""What is told of a sink's records: all of them once, by how they ended, up to whatever offset is safe."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.audit.increment import DEAD, FILTERED
from broker.audit.pending import Pending
from broker.audit.tally import CountedRecord, RecordTally
from broker.common.types import TopicPartition

P, Q = TopicPartition("t", 0), TopicPartition("t", 1)


def record(offset):
    return CountedRecord(offset * 1_000, offset, None, b"%d" % offset)


def count(increment, kind=""):
    windows = increment.windows if kind == "" else increment.aside.get(kind, {})
    return sum((tally for tally in windows.values()), start=RecordTally()).count


def pending_of(*offsets, **settings):
    pending = Pending(**settings)
    for offset in offsets:
        pending.add(P, record(offset))
    return pending


def test_only_what_is_safe_is_told_and_the_rest_next_time():
    pending = pending_of(*range(100))
    first, second = pending.take(P, 70, 0), pending.take(P, 100, 0)
    assert (first.end, second.end) == (70, 100)
    assert (count(first), count(second)) == (70, 30)
    assert sorted(first.windows) == [0, 60_000]
    assert pending.take(P, 100, 0) is None
    assert pending.take(Q, 100, 0) is None


def test_how_a_record_ended_may_be_known_late():
    pending = pending_of(0, 1, 2)
    pending.add(P, record(3), FILTERED)
    pending.mark(P, 1, DEAD)
    pending.mark(P, 9, DEAD)
    pending.mark(Q, 1, DEAD)
    increment = pending.take(P, 4, 0)
    assert (count(increment), count(increment, DEAD), count(increment, FILTERED)) == (2, 1, 1)


def test_latency_is_of_the_moment_a_record_is_safe_and_of_no_dead_letter():
    pending = pending_of(1, 2)
    pending.mark(P, 1, DEAD)
    increment = pending.take(P, 3, 2_500)
    assert {window: item.most_ms for window, item in increment.latencies.items()} == {0: 500}


def test_what_comes_again_is_counted_when_it_comes():
    pending = pending_of(*range(10))
    pending.rewind(P, 4)
    for offset in range(4, 12):
        pending.add(P, record(offset))
    assert count(pending.take(P, 12, 0)) == 12


def test_what_another_has_now_is_not_told():
    pending = pending_of(1, 2)
    pending.forget(P)
    assert pending.take(P, 9, 0) is None


@given(st.lists(st.integers(1, 4_000), min_size=1, max_size=8), st.integers(1_000, 3_000))
def test_memory_is_bounded_and_all_is_told_once(steps, pending_max):
    pending, offset, increments = Pending(pending_max=pending_max), 0, []
    for step in steps:
        for _ in range(step):
            pending.add(P, record(offset))
            offset += 1
        assert pending._count <= pending_max
        increments.append(pending.take(P, max(0, offset - step // 2), 0))
    increments.append(pending.take(P, offset, 0))
    increments = [item for item in increments if item is not None]
    assert sum(map(count, increments)) == increments[-1].end == offset
    ends = [increment.end for increment in increments]
    assert ends == sorted(set(ends))


@pytest.mark.parametrize("until", [500, 1_500])
def test_what_is_folded_is_told_as_a_whole_or_not_at_all(until):
    increment = pending_of(*range(3_000), pending_max=1_000).take(P, until, 0)
    assert (increment.end, count(increment)) == (1_000, 1_000) if until > 1_000 else increment is None

"""Records by time, counted by offsets: bars are of whole seconds, minutes or days and hold every offset once."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from console.cluster.records.histogram import BARS_MAX, counted, edges, read_histogram
from console.kit.common.clock import LAST_MS
from console.kit.gateway.records.interface import OffsetSpan

MOMENTS = st.integers(0, 4_000_000_000_000)


@given(MOMENTS, st.integers(0, 10**12))
def test_bars_are_few_and_cover_every_time(oldest, length):
    moments = edges(oldest, oldest + length)
    assert len(moments) - 1 <= BARS_MAX + 1
    assert moments[0] <= oldest
    assert moments[-1] > oldest + length
    assert len({after - before for before, after in pairwise(moments)}) == 1


def test_times_that_are_nonsense_make_no_endless_bars():
    moments = edges(0, 2**62)
    assert len(moments) <= BARS_MAX + 2
    assert (moments[0], moments[-1]) == (0, LAST_MS)
    assert edges(2**62, 2**62)[-1] == LAST_MS


@given(MOMENTS, st.integers(0, 10**12), st.integers(10**12, 2**62))
def test_what_is_of_the_future_is_one_bar_and_leaves_the_others_as_they_are(oldest, length, ahead):
    now = oldest + length
    moments = edges(oldest, now + ahead, now)
    assert moments[:-1] == edges(oldest, now)
    assert len(moments) <= BARS_MAX + 3
    assert moments[-1] == min(now + ahead + 1, LAST_MS)


@given(st.lists(st.lists(st.integers(0, 100_000), min_size=1, max_size=50), min_size=1, max_size=4))
def test_every_offset_is_in_one_bar(partitions):
    """Whatever order times come in: a partition says the first offset that is as late."""
    spans = {number: OffsetSpan(0, len(times)) for number, times in enumerate(partitions)}
    everything = [time_ for times in partitions for time_ in times]
    moments = edges(min(everything), max(everything))
    places = [
        {
            number: next((offset for offset, at in enumerate(times) if at >= moment), None)
            for number, times in enumerate(partitions)
        }
        for moment in moments
    ]
    result = counted(moments, places, spans)
    assert result.total == len(everything)
    assert all(bar.count >= 0 for bar in result.bars)


def test_a_partition_that_does_not_answer_every_time_is_left_out():
    spans = {0: OffsetSpan(0, 10), 1: OffsetSpan(0, 10)}
    result = counted([0, 10, 20], [{0: 0, 1: 0}, {0: 4}, {0: None, 1: None}], spans)
    assert [bar.count for bar in result.bars] == [4, 6]


def test_a_topic_is_counted_where_it_is(cluster, clock):
    cluster.create_topic("orders", 2, 3)
    assert read_histogram(cluster, "orders", None, clock.now_ms()) is None
    cluster.append("orders", 0, 30)
    clock.advance(45_000)
    cluster.append("orders", 1, 12)
    whole = read_histogram(cluster, "orders", None, clock.now_ms())
    assert whole.total == 42
    assert [bar.count for bar in whole.bars if bar.count] == [30, 12]
    assert read_histogram(cluster, "orders", 1, clock.now_ms()).total == 12

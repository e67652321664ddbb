"""The remembered batches against a plain list."""

from hypothesis import given
from hypothesis import strategies as st

from broker.log.recent_batches import RecentBatches


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(61, 300)), min_size=1, max_size=40), st.booleans())
def test_answers_are_those_of_a_plain_search_or_none(batches, starts_the_segment):
    position, next_offset = (0, 0) if starts_the_segment else (1_000, 50)
    recent, plain = RecentBatches(), []
    for count, size in batches:
        next_offset += count
        recent.append(next_offset - 1, position)
        plain.append((next_offset - 1, position))
        position += size
    for offset in range(next_offset + 2):
        expected = next((start for last, start in plain if last >= offset), None)
        if not starts_the_segment and expected == plain[0][1]:
            expected = None  # an older batch, not remembered, may hold it
        assert recent.position_of(offset) == expected
    for limit in range(0, position + 10, 7):
        assert recent.boundary_not_above(limit) == max((start for _, start in plain if start <= limit), default=None)


def test_memory_is_bounded_and_the_newest_are_kept():
    recent = RecentBatches()
    for number in range(10_000):
        recent.append(number, number * 100)
    assert recent.position_of(9_999) == 999_900
    assert recent.position_of(9_000) == 900_000
    assert recent.position_of(100) is None
    assert len(recent._positions) < 2_048

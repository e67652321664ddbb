import math
import struct

from hypothesis import given, settings
from hypothesis import strategies as st

from console.cluster.charts.tiers import TIERS, UNKNOWN, ChartRow, tier_for
from tests.examples import examples

_DAY_MS = 24 * 3_600_000
single_floats = st.floats(width=32, allow_nan=False, allow_infinity=False) | st.just(UNKNOWN)


@settings(max_examples=examples(50))
@given(st.dictionaries(st.integers(0, 19), st.tuples(single_floats, single_floats)))
def test_a_row_comes_back_as_it_was_written(written):
    row = ChartRow(2, 20)
    for index, values in written.items():
        row.write(index, values)
    assert list(ChartRow.unpack(row.pack(), 2, 20).points()) == sorted(written.items())


def test_what_is_measured_since_later_is_not_known_of_before():
    row = ChartRow(1, 3)
    row.write(1, (4.0,))
    assert list(ChartRow.unpack(row.pack(), 2, 3).points()) == [(1, (4.0, UNKNOWN))]


def test_a_row_of_numbers_as_they_are_is_no_larger_than_they_are():
    row = ChartRow(4, TIERS[1].length)
    for index in range(TIERS[1].length):
        row.write(index, (math.sin(index) * 1e6, index * 1_000.0, 7e12 + index * 1e9, 0.0))
    assert len(row.pack()) < struct.calcsize("4f") * TIERS[1].length


def test_the_past_is_kept_in_the_finest_steps_that_still_have_it():
    assert [tier_for(item).number for item in (3_600_000, _DAY_MS, 2 * _DAY_MS, 30 * _DAY_MS, 400 * _DAY_MS)] == [
        0,
        1,
        1,
        2,
        2,
    ]
    assert tier_for(3_600_000, back_ms=_DAY_MS).number == 1
    assert tier_for(_DAY_MS, back_ms=30 * _DAY_MS).number == 2

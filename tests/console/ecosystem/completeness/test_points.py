"""Sums of deliveries: the same whoever adds them up, in whichever pieces and resolutions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.audit.increment import DEAD
from broker.audit.latency import Latency
from console.ecosystem.completeness.points import TIERS, DeliveryPoint, add, by_row, merged, pack, stepped, unpack

MINUTE = 60_000


def latency(values):
    made = Latency()
    for value in values:
        made.add(value)
    return made


counts = st.integers(0, 10**9)
points = st.builds(
    DeliveryPoint,
    counts,
    counts,
    counts,
    st.dictionaries(st.sampled_from([DEAD, "filtered"]), st.integers(1, 100)),
    st.lists(st.integers(-1_000, 10**8), max_size=5).map(latency),
)
series = st.lists(
    st.tuples(st.integers(28_000_000, 28_004_000).map(lambda minute: minute * MINUTE), points), max_size=20
)


def summed(expected):
    whole = {}
    for at_ms, point in expected:
        add(whole, at_ms, point)
    return whole


@given(series, st.randoms())
def test_the_order_and_the_pieces_do_not_matter(expected, source):
    shuffled = source.sample(expected, len(expected))
    at = source.randint(0, len(expected))
    first, second = summed(shuffled[:at]), summed(shuffled[at:])
    for at_ms, point in second.items():
        add(first, at_ms, point)
    assert first == summed(expected)


@given(series)
def test_each_resolution_has_all_of_it_and_a_row_comes_back_as_it_was_packed(expected):
    whole = summed(expected)
    for tier in TIERS:
        rows = by_row(whole, tier)
        packed, true = merged(point for row in rows.values() for point in row.values()), merged(whole.values())
        assert packed.as_list()[:4] == true.as_list()[:4]
        assert (packed.latency.early, packed.latency.most_ms) == (true.latency.early, true.latency.most_ms)
        for share in (0.5, 0.99, 1.0) if true.latency.ages.count else ():
            near = pytest.approx(true.latency.percentile(share), rel=0.08 + 0.1 * tier.number, abs=1)
            assert packed.latency.percentile(share) == near
        for begins_ms, row in rows.items():
            assert begins_ms % tier.row_ms == 0
            assert all(begins_ms <= at_ms < begins_ms + tier.row_ms for at_ms in row)
            assert unpack(pack(row, tier, begins_ms), tier, begins_ms) == row


@given(series)
def test_wide_steps_of_narrow_ones_are_those_of_all(expected):
    whole = summed(expected)
    assert stepped(stepped(whole, 600_000), 3_600_000) == stepped(whole, 3_600_000)


def test_adding_changes_nothing_that_was_added():
    point, whole = DeliveryPoint(3), {}
    add(whole, 0, point)
    add(whole, 0, DeliveryPoint(4))
    assert (point.count, whole[0].count) == (3, 7)

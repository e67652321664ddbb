"""Which replicas are eligible leaders beside an ISR (KIP-966)."""

import pytest

from broker.common.eligible_leaders import MinIsrSettings, eligible_leaders


@pytest.mark.parametrize(
    ("was_in_sync", "was_eligible", "isr", "min_isr", "elr"),
    [
        ((1, 2, 3), (), (1, 2), 2, ()),
        ((1, 2), (), (1,), 2, (2,)),
        ((1,), (2,), (1,), 2, (2,)),
        ((1,), (2,), (), 2, (1, 2)),
        ((1,), (2,), (2,), 2, (1,)),
        ((1,), (2,), (1, 3), 2, ()),
        ((1,), (), (), 1, (1,)),
        ((1, 2), (), (1,), 1, ()),
        ((3, 2, 1), (), (3,), 9, (1, 2)),
        ((1, 2, 3), (), (1, 2, 3), 9, ()),
        ((1, 4), (5,), (1,), 2, ()),
    ],
)
def test_members_that_leave_an_isr_below_its_minimum_are_eligible(was_in_sync, was_eligible, isr, min_isr, elr):
    assert eligible_leaders(was_in_sync, was_eligible, isr, (1, 2, 3), min_isr) == elr


def test_topics_without_a_minimum_of_their_own_have_the_default_and_nothing_read_is_all_replicas():
    assert eligible_leaders((1, 2, 3), (), (1, 2), (1, 2, 3), MinIsrSettings().of("t")) == (3,)
    known = MinIsrSettings(2, {"t": 3, "u": 1})
    assert (known.of("t"), known.of("v")) == (3, 2)
    changed = known.updated(MinIsrSettings(1, {"v": 4}), {"t", "v"})
    assert changed == MinIsrSettings(1, {"u": 1, "v": 4})
    assert changed.without("v") == MinIsrSettings(1, {"u": 1})

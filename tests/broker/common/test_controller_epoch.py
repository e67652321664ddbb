"""Controller epochs are never given out twice, also where no number is left."""

import pytest

from broker.common.controller_epoch import CONTROLLER_EPOCH_MAX as MAX
from broker.common.controller_epoch import epoch_above, is_later


@pytest.mark.parametrize(
    ("epoch", "other", "later"),
    [(2, 1, True), (1, 1, False), (1, 2, False), (0, -1, True), (MAX, 5, True), (1, MAX, True), (1, MAX - 9, True)],
)
def test_an_epoch_is_later_if_it_is_higher_or_the_count_began_anew(epoch, other, later):
    assert is_later(epoch, other) is later


@pytest.mark.parametrize(
    ("epoch", "used", "wanted"),
    [
        (7, [], 7),
        (7, [3, 6], 7),
        (7, [3, 7], 8),
        (1, [3, 41], 42),
        (1, [MAX], 1),
        (1, [MAX + 1, MAX], 1),
        (1, [41, MAX - 2, MAX - 1, MAX], 42),
        (MAX, [MAX - 1], MAX),
        (MAX, [41, MAX - 1, MAX], 42),
        (2_000_000_000, [MAX - 1], MAX),
        (2_000_000_000, [MAX - 1, MAX, -1], 1),
        (5, [2_000_000_000], 5),
    ],
)
def test_an_epoch_is_later_than_all_that_are_used(epoch, used, wanted):
    assert epoch_above(epoch, used) == wanted
    assert all(is_later(wanted, number) for number in used)
    assert wanted <= MAX

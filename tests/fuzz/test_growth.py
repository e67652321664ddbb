"""A slice of `python -m tests.fuzz growth`: no parser and no comparer costs more than its input is long."""

import pytest

from tests.fuzz.growth import Target, counted, grows_too_fast, look
from tests.fuzz.growth_inputs import Pump
from tests.fuzz.growth_targets import TARGETS


def test_whatever_reads_a_client_s_input_costs_what_the_input_is_long():
    assert [str(growth) for growth in look(TARGETS, seed=1, rounds=3)] == []


def squares(items: list[int]) -> None:
    for _ in items:
        for _ in items:
            pass


def sorts(items: list[int]) -> list[int]:
    """By merging, in Python, so that its lines are counted."""
    if len(items) < 2:
        return items
    halves = sorts(items[::2]), sorts(items[1::2])
    merged = []
    while halves[0] or halves[1]:
        half = halves[0] if not halves[1] or (halves[0] and halves[0][-1] > halves[1][-1]) else halves[1]
        merged.append(half.pop())
    return merged[::-1]


@pytest.mark.parametrize(("read", "is_too_fast"), [(squares, True), (sorts, False)])
def test_a_square_is_told_from_sorting(read, is_too_fast):
    target = Target("made up", read, lambda _: Pump("all", lambda count: list(range(count))))
    assert (counted(target, target.pumps(None)) is not None) == is_too_fast


def test_what_is_fixed_does_not_hide_what_grows():
    assert grows_too_fast((11_000, 14_000, 26_000), 2_000)
    assert not grows_too_fast((11_000, 12_000, 14_200), 2_000)


def test_every_target_takes_inputs_of_its_own():
    assert len({target.name for target in TARGETS}) == len(TARGETS)

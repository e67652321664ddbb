"""Numbers as an operator reads them."""

import pytest

from console.processes.presenters import name_duration


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0 s"), (4.9, "4 s"), (60, "1 m 0 s"), (192, "3 m 12 s"), (18_190, "5 h 3 m"), (187_200, "2 d 4 h")],
)
def test_duration_is_its_two_largest_units(seconds, words):
    assert name_duration(seconds) == words

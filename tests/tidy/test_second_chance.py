import pytest

from tests.second_chance import MOST, refused


def test_a_few_failures_are_tried_again():
    assert refused([f"tests/interop/test_a.py::test_{number}" for number in range(MOST)]) is None


@pytest.mark.parametrize(
    ("failed", "why"),
    [
        ([], "Nothing is known to have failed."),
        (
            [f"tests/interop/test_a.py::test_{number}" for number in range(MOST + 1)],
            "4 tests failed: that is no bad luck.",
        ),
        (
            ["tests/tidy/test_a.py::test_b", "tests/faults/test_c.py::test_d"],
            "tests/faults/test_c.py::test_d judges data",
        ),
    ],
)
def test_many_failures_and_lost_data_are_not(failed, why):
    assert refused(failed).startswith(why)

import pytest

from tests.second_chance import MOST, refused


def test_failures_in_a_few_files_are_tried_again():
    assert refused([f"tests/interop/test_{number}.py::test_a" for number in range(MOST)]) is None


def test_all_tests_of_a_file_whose_server_did_not_start_are_tried_again():
    assert refused([f"tests/interop/test_a.py::test_{number}" for number in range(20)]) is None


@pytest.mark.parametrize(
    ("failed", "why"),
    [
        ([], "Nothing is known to have failed."),
        (
            [f"tests/interop/test_{number}.py::test_a" for number in range(MOST + 1)],
            "Tests of 4 files failed: that is no bad luck.",
        ),
        (
            ["tests/tidy/test_a.py::test_b", "tests/faults/test_c.py::test_d"],
            "tests/faults/test_c.py::test_d judges data",
        ),
    ],
)
def test_failures_in_many_files_and_lost_data_are_not(failed, why):
    assert refused(failed).startswith(why)

"""A short slice of the exactly-once copy, and whether its checker finds what it is there to find."""

import pytest

from tests.faults.copy.checker import check_copy
from tests.faults.copy.run import run_copy
from tests.faults.own_process import in_own_process


@pytest.mark.long
@pytest.mark.timeout(300)
def test_copy_under_kills_of_brokers_and_copiers_equals_its_input(tmp_path):
    run = in_own_process(run_copy, tmp_path, 15, seed=12)
    assert run.violations == [], f"seed {run.seed}, in {tmp_path}"
    assert run.copied > 1_000
    assert run.aborted > 10


@pytest.mark.parametrize(
    ("expected", "words"),
    [
        ([b"1", b"3"], "1 lost: 2"),
        ([b"1", b"2", b"2", b"3"], "1 more than once: 2"),
        ([b"1", b"2", b"3", b"aborted/1"], "1 not to be there: aborted/1"),
        ([b"1", b"3", b"2"], "out of order from the 1th record on: 3, 2 instead of 2, 3"),
    ],
)
def test_copy_that_is_not_its_input_is_told_by_partition(expected, words):
    wanted = {0: [b"7"], 1: [b"1", b"2", b"3"]}
    assert check_copy(wanted, {0: [b"7"], 1: expected}, "target") == [f"I7: target-1: {words}"]


def test_copy_that_lacks_a_partition_has_lost_its_records():
    assert check_copy({0: [b"1"], 1: [b"2"]}, {0: [b"1"]}, "target") == ["I7: target-1: 1 lost: 2"]
    assert check_copy({0: [b"1"]}, {0: [b"1"]}, "target") == []

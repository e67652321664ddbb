"""Names with numbers in them, in the order a person counts."""

import pytest

from console.kit.common.natural_order import natural_order


@pytest.mark.parametrize(
    "names",
    [
        ["m1", "m2", "m10", "m10-a", "n"],
        ["2", "10", "abc", "broker"],
        ["m1-9", "m1-10", "m2-1"],
        ["m01", "m1", "m02"],
        ["", "1", "9" * 5_000, "a"],
    ],
)
def test_two_comes_before_ten(names):
    result = names[::-1]
    result.sort(key=natural_order)
    assert result == names

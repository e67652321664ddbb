"""Partitions as people type them."""

import pytest

from console.kit.common.partition_numbers import parse_partitions


def test_numbers_and_ranges_are_partitions():
    assert parse_partitions(" 0,3-5, 3,") == {0, 3, 4, 5}
    assert parse_partitions("") == frozenset()
    assert len(parse_partitions("0-9999")) == 10_000


@pytest.mark.parametrize("text", ["a", "5-3", "0-10000", ",".join(["0-9999"] * 2), ",".join(["0-9999"] * 300_000)])
def test_anything_else_and_more_than_a_topic_has_is_refused(text):
    with pytest.raises(ValueError, match="Numbers and ranges"):
        parse_partitions(text)

"""Counts in little room are as close as they promise, and bounded whatever comes."""

import random

from console.cluster.contents.estimates import COUNTED_MAX, HASHES_MAX, Distinct, Frequent, Sizes, hash_of


def test_few_different_keys_are_counted_exactly_and_many_to_some_percent():
    few, many = Distinct(), Distinct()
    for number in range(1_000):
        few.add(hash_of(b"%d" % number))
        few.add(hash_of(b"%d" % number))
    for number in range(50_000):
        many.add(hash_of(b"%d" % number))
    assert (few.count, few.is_exact) == (1_000, True)
    assert not many.is_exact
    assert abs(many.count - 50_000) < 5_000
    assert len(many._kept) == len(many._largest) == HASHES_MAX


def test_the_most_frequent_are_found_among_many_that_come_once():
    frequent, shuffled = Frequent(), random.Random(1)
    keys = [b"often"] * 3_000 + [b"less"] * 1_000 + [b"%d" % number for number in range(20_000)]
    shuffled.shuffle(keys)
    for key in keys:
        frequent.add(hash_of(key), key)
    (first, often), (second, less) = frequent.top(2)
    assert (first, second) == (b"often", b"less")
    assert often <= 3_000 <= often + frequent.missed
    assert less <= 1_000 <= less + frequent.missed
    assert len(frequent._counts) <= COUNTED_MAX
    assert frequent._counts.keys() == frequent._shown.keys()


def test_sizes_have_their_ends_exactly_and_percentiles_closely():
    sizes = Sizes()
    for size in range(1, 10_001):
        sizes.add(size)
    figures = sizes.figures()
    assert (figures["min"], figures["max"], figures["mean"], figures["total"]) == (1, 10_000, 5_000, 50_005_000)
    for name, true in (("p50", 5_000), ("p95", 9_500), ("p99", 9_900)):
        assert 0 <= true - figures[name] <= 0.04 * true
    assert len(sizes._counts) < 500
    assert Sizes().figures() == {}


def test_sizes_that_are_all_the_same_are_that():
    sizes = Sizes()
    for _ in range(3):
        sizes.add(1_000_001)
    figures = sizes.figures()
    assert {figures[name] for name in ("min", "p50", "p95", "p99", "max", "mean")} == {1_000_001}

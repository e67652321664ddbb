"""Latencies in buckets: percentiles are near, sums are sums, and nothing grows."""

import math

from hypothesis import given, settings
from hypothesis import strategies as st

from broker.common.sketch import LARGEST_MS, SMALLEST_MS, Sketch
from tests.examples import examples

latencies = st.lists(st.floats(SMALLEST_MS, LARGEST_MS), min_size=1, max_size=60)


def sketch_of(values):
    sketch = Sketch()
    for value in values:
        sketch.add(value)
    return sketch


@settings(max_examples=examples(400))
@given(latencies, st.sampled_from((0.5, 0.95, 0.99, 1.0)))
def test_a_percentile_is_within_a_twentieth_of_the_true_one(values, share):
    true = sorted(values)[math.ceil(share * len(values)) - 1]
    assert abs(sketch_of(values).percentile(share) - true) <= 0.06 * true


@settings(max_examples=examples(200))
@given(latencies, latencies)
def test_what_is_merged_is_as_if_it_had_been_added_to_one(some, others):
    merged = sketch_of(some)
    merged.merge(sketch_of(others))
    assert merged.counts == sketch_of(some + others).counts


@settings(max_examples=examples(200))
@given(st.lists(st.floats(allow_nan=False), max_size=200))
def test_whatever_is_added_there_are_no_more_buckets_and_json_keeps_them(values):
    sketch = sketch_of(values)
    assert set(sketch.counts) <= set(range(189))
    assert sketch.count == len(values)
    assert Sketch({int(bucket): count for bucket, count in sketch.as_json().items()}).counts == sketch.counts


def test_of_nothing_there_is_no_percentile():
    assert Sketch().percentile(0.5) is None

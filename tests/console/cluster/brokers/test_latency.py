"""Percentiles of the last minute, from what a broker counts since its start."""

from console.cluster.brokers.latency import LatencyWindow, percentile_ms
from console.kit.gateway.brokers.interface import ApiRequestTimes, ErrorCount


def times(*buckets: tuple[int, int], api="Produce", errors=0) -> list[ApiRequestTimes]:
    return [ApiRequestTimes(api, sum(count for _, count in buckets), errors, 50_000, buckets)]


def test_the_first_look_knows_counts_and_no_rates():
    (first,) = LatencyWindow().observe(times((1_000, 10)), 0)
    assert (first.count, first.per_second, first.p50_ms, first.max_ms) == (10, None, None, 50.0)


def test_only_what_came_between_two_looks_makes_the_percentiles():
    window = LatencyWindow()
    window.observe(times((1_000, 1_000)), 0)
    (first,) = window.observe(times((1_000, 1_000), (4_000, 90), (9_000, 10)), 5_000)
    assert (first.per_second, first.p50_ms, first.p95_ms, first.p99_ms) == (20.0, 4.0, 9.0, 9.0)


def test_what_is_older_than_a_minute_counts_no_more():
    window = LatencyWindow()
    window.observe(times((1_000, 1)), 0)
    for second in range(5, 100, 5):
        window.observe(times((1_000, 1), (8_000, 10)), second * 1_000)
    (first,) = window.observe(times((1_000, 1), (8_000, 10)), 100_000)
    assert (first.per_second, first.p50_ms) == (0.0, None)


def test_a_broker_that_started_anew_is_not_compared_with_its_earlier_life():
    window = LatencyWindow()
    window.observe(times((1_000, 500)), 0)
    (first,) = window.observe(times((1_000, 3)), 5_000)
    assert (first.count, first.per_second) == (3, None)


def test_the_most_asked_comes_first_and_what_was_never_asked_does_not_come():
    window = LatencyWindow()
    observe = window.observe([*times((1_000, 1)), *times((1_000, 9), api="Metadata"), *times(api="EndTxn")], 0)
    assert [handler.api for handler in observe] == ["Metadata", "Produce"]


def test_what_waits_for_records_or_members_comes_last_however_often_it_is_asked():
    times_of_apis = [*times((500_000, 900), api="Fetch"), *times((9_000_000, 5), api="JoinGroup"), *times((1_000, 1))]
    assert [handler.api for handler in LatencyWindow().observe(times_of_apis, 0)] == ["Produce", "Fetch", "JoinGroup"]


def test_a_percentile_is_never_above_the_longest():
    assert percentile_ms([(1_000, 1)], 0.99, 700) == 0.7


def failed(**counts: int) -> list[ApiRequestTimes]:
    errors = tuple(ErrorCount(name, "", count) for name, count in counts.items())
    return [ApiRequestTimes("Produce", 100, sum(counts.values()), 50_000, ((1_000, 100),), errors)]


def test_errors_are_told_by_code_those_of_the_last_minute_first():
    window = LatencyWindow()
    (first,) = window.observe(failed(OLD=90, NEW=1), 0)
    assert [(error.name, error.count, error.recent) for error in first.errors] == [("OLD", 90, 0), ("NEW", 1, 0)]
    (only,) = window.observe(failed(OLD=90, NEW=4), 5_000)
    assert [(error.name, error.count, error.recent) for error in only.errors] == [("NEW", 4, 3), ("OLD", 90, 0)]
    for second in range(10, 100, 5):
        (only,) = window.observe(failed(OLD=90, NEW=4), second * 1_000)
    assert [(error.name, error.recent) for error in only.errors] == [("OLD", 0), ("NEW", 0)]


def test_who_answers_no_error_has_none():
    (first,) = LatencyWindow().observe(times((1_000, 10)), 0)
    assert first.errors == ()

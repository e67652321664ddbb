import pytest

from broker.cli.clients.figures import SendLatencies, SendPace, consumed_columns, java_date_format, percentiles


def test_a_run_of_a_producer_in_kafkas_words():
    latencies = SendLatencies(started=100.0)
    for latency_ms in range(1, 1001):
        latencies.add(float(latency_ms), 1024)
    assert latencies.window_line(105.0) == (
        "1000 records sent, 200.0 records/sec (0.20 MB/sec), 500.5 ms avg latency, 1000.0 ms max latency."
    )
    latencies.add(3.0, 1024)
    assert latencies.window_line(106.0) == (
        "1 records sent, 1.0 records/sec (0.00 MB/sec), 3.0 ms avg latency, 3.0 ms max latency."
    )
    assert latencies.total_line(110.0) == (
        "1001 records sent, 100.100000 records/sec (0.10 MB/sec), 500.00 ms avg latency, 1000.00 ms max latency, "
        "500 ms 50th, 950 ms 95th, 990 ms 99th, 999 ms 99.9th."
    )


def test_a_run_in_which_nothing_was_sent_has_a_line_too():
    assert (
        SendLatencies(0.0).total_line(0.0).startswith("0 records sent, 0.000000 records/sec (0.00 MB/sec), 0.00 ms avg")
    )


def test_samples_are_bounded_and_still_tell_percentiles():
    latencies = SendLatencies(0.0, samples_max=1_000)
    for number in range(100_000):
        latencies.add(number // 1_000, 1)
    assert latencies.sample_count < 1_000
    assert latencies.total_line(1.0).endswith("50 ms 50th, 94 ms 95th, 99 ms 99th, 99 ms 99.9th.")


def test_percentiles_are_samples():
    assert percentiles([], (0.5,)) == [0]
    assert percentiles([3, 1, 2], (0.0, 0.5, 0.999)) == [1, 2, 3]


def test_a_pace_says_when_the_next_one_is_due():
    pace = SendPace(10, started=100.0)
    assert pace.wait_s(0, 100.0) == 0
    assert pace.wait_s(5, 100.0) == pytest.approx(0.5)
    assert pace.wait_s(5, 101.0) == 0
    assert SendPace(-1, 0.0).wait_s(10**9, 0.0) == 0


def test_columns_of_a_consumer_have_four_digits():
    assert consumed_columns(99_720, 1000, 0.191, 0.139) == (
        "0.0951, 0.4979, 1000, 5235.6021, 139, 52, 1.8289, 19230.7692"
    )
    assert consumed_columns(0, 0, 0.0, 0.0) == "0.0000, 0.0000, 0, 0.0000, 0, 0, 0.0000, 0.0000"


def test_dates_are_asked_for_in_javas_letters():
    assert java_date_format("yyyy-MM-dd HH:mm:ss:SSS") == "%Y-%m-%d %H:%M:%S:%f"
    assert java_date_format("dd.MM.yy 'at' HH''mm 100%") == "%d.%m.%y at %H'%M 100%%"

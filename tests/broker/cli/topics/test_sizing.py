"""The rule of the books: throughput by what throughput of one consumer, retention by replicas, and what it costs."""

from dataclasses import replace

import pytest

from broker.cli.topics.sizing import (
    ClusterCapacity,
    TopicDemand,
    bytes_of_text,
    milliseconds_of_text,
    size,
    text_of_bytes,
)
from broker.cli.topics.topic_figures import TopicSample, rate_between
from broker.common.types import TopicPartition

GB, MB = 10**9, 10**6
BOOK = TopicDemand(throughput=GB, consumer_throughput=50 * MB)
FIVE = ClusterCapacity(brokers=5)


def test_a_gigabyte_a_second_by_consumers_of_50_megabytes_is_20_partitions():
    planned = size(BOOK, FIVE)
    assert (planned.partitions, planned.decisive.name) == (20, "consumer throughput")
    assert (planned.leaders_per_broker, planned.replicas_per_broker) == (4, 12)


@pytest.mark.parametrize(
    ("change", "partitions", "decisive"),
    [
        ({"producer_throughput": 10 * MB}, 100, "producer throughput"),
        ({"consumer_throughput": 0.1 * GB}, 10, "consumer throughput"),
        ({"consumer_throughput": 0.3 * GB}, 4, "consumer throughput"),
        ({"growth": 2.5}, 50, "consumer throughput"),
        ({"consumers": 24}, 24, "consumers"),
        ({"partitions": 64}, 64, "partitions"),
        ({"consumer_throughput": None, "throughput": 6 * GB / 86_400 * 7}, 7, "size"),
        ({"consumer_throughput": None, "throughput": 1}, 1, "size"),
    ],
)
def test_the_input_that_asks_for_most_decides(change, partitions, decisive):
    planned = size(replace(BOOK, **change), FIVE)
    assert (planned.partitions, planned.decisive.name) == (partitions, decisive)


def test_what_is_kept_is_retention_and_the_segment_that_is_never_deleted_times_replicas_and_head_room():
    demand = TopicDemand(
        throughput=10 * MB,
        consumer_throughput=MB,
        replication_factor=2,
        retention_ms=1_000_000,
        segment_bytes=100 * MB,
        head_room=0.5,
    )
    planned = size(demand, ClusterCapacity(brokers=5, directories_per_broker=3))
    assert planned.partition_bytes == 1_100 * MB
    assert planned.broker_bytes == 20 * 1_100 * MB * 1.5 / 5
    # Four replicas on a broker, in three directories: one has two of them, whole.
    assert planned.directory_bytes == 2 * 1_100 * MB * 1.5
    # Eleven full segments and a bit make twelve; each has a log and two indexes.
    assert planned.files_per_broker == 4 * 11 * 3
    bounded = size(replace(demand, retention_bytes=50 * MB), FIVE)
    assert bounded.partition_bytes == 150 * MB


def test_a_failed_broker_is_missed_for_its_session_and_a_while_for_each_leader():
    few = size(BOOK, ClusterCapacity(brokers=5, session_timeout_s=6))
    many = size(BOOK, ClusterCapacity(brokers=5, session_timeout_s=6, leaders_per_broker=3_000))
    assert few.fail_over_s == pytest.approx(6.002)
    assert many.fail_over_s == pytest.approx(7.502)


def test_what_may_go_wrong_is_said():
    demand = replace(BOOK, consumer_throughput=None, partitions=3, retention_ms=-1, throughput=90 * GB)
    planned = size(demand, ClusterCapacity(brokers=3, usable_bytes=GB, leaders_per_broker=5_000))
    text = " ".join(planned.warnings)
    for words in (
        "throughput of one consumer", "Nothing is ever deleted", "has 1 GB left", "4000 are advised", "at most 10000",
        "order by key holds only from then on",
    ):  # fmt: skip
        assert words in text
    assert size(BOOK, FIVE).warnings == ()


@pytest.mark.parametrize(
    ("demand", "place", "sentence"),
    [
        (BOOK, ClusterCapacity(brokers=2), "3 replicas need as many brokers; there are 2"),
        (replace(BOOK, throughput=0), FIVE, "the throughput must be more than nothing"),
    ],
)
def test_what_contradicts_itself_is_refused(demand, place, sentence):
    with pytest.raises(ValueError, match=sentence):
        size(demand, place)


@pytest.mark.parametrize(
    ("text", "count"),
    [("1 GB", GB), ("50MB/s", 50 * MB), ("1.5k", 1_500), ("64MiB", 64 << 20), ("12", 12), ("2 tb", 2 * 10**12)],
)
def test_sizes_are_read_with_their_units(text, count):
    assert bytes_of_text(text) == count


@pytest.mark.parametrize("text", ["", "many", "0", "-1MB", "1PB", "inf", "nan", "1e300", "1 M M"])
def test_what_is_no_size_is_refused(text):
    with pytest.raises(ValueError):
        bytes_of_text(text)


def test_spans_are_read_and_sizes_written():
    assert [milliseconds_of_text(name) for name in ("7d", "12h", "500", "1.5s", "-1")] == [
        604_800_000, 43_200_000, 500, 1_500, -1,
    ]  # fmt: skip
    for name in ("soon", "1e300d", "-2", "nan"):
        with pytest.raises(ValueError):
            milliseconds_of_text(name)
    assert [text_of_bytes(item) for item in (0, 999, 999.9, 1_234_567, 5 * 10**15)] == [
        "0 B", "999 B", "1 kB", "1.23 MB", "5,000 TB",
    ]  # fmt: skip


def test_what_is_written_between_two_looks_is_growth_or_records_where_segments_went():
    first, second, new = (TopicPartition("t", at) for at in range(3))
    before = TopicSample(100.0, {first: 1_000, second: 4_000}, {first: 10, second: 50}, {first: 0, second: 10})
    after = TopicSample(110.0, {first: 3_000, second: 500, new: 9_000}, {first: 30, second: 60, new: 90}, {})
    assert rate_between(before, after) == (2_000 + 10 * 100) / 10

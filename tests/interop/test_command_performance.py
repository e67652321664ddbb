"""The tools that measure: their lines are parsed by programs."""

import re

import pytest
from confluent_kafka import Producer

from tests.typed import typed

TOTAL = (
    r"{count} records sent, \d+\.\d{{6}} records/sec \(\d+\.\d\d MB/sec\), \d+\.\d\d ms avg latency, "
    r"\d+\.\d\d ms max latency, \d+ ms 50th, \d+ ms 95th, \d+ ms 99th, \d+ ms 99\.9th\.\n"
)
FIGURES = r"\d+\.\d{4}, \d+\.\d{4}, %d, \d+\.\d{4}, \d+, -?\d+, \d+\.\d{4}, \d+\.\d{4}"


@pytest.fixture
def topic(cluster, name):
    made = ("--create", "--topic", name, "--partitions", "2")
    typed("kafka-topics", "--bootstrap-server", cluster.bootstrap_servers, *made)
    return name


def test_a_producer_is_measured_in_all_three_generations_of_options(cluster, topic):
    servers = cluster.bootstrap_servers
    today = typed(
        "kafka-producer-perf-test", "--topic", topic, "--num-records", "300", "--record-size", "10",
        "--throughput", "-1", "--producer-props", f"bootstrap.servers={servers}", "acks=1",
    )  # fmt: skip
    assert today.status == 0
    assert re.fullmatch(TOTAL.format(count=300), today.out)
    positional = typed("kafka-producer-perf-test", topic, "200", "10", "-1", f"bootstrap.servers={servers}")
    assert re.fullmatch(TOTAL.format(count=200), positional.out)
    oldest = typed(
        "kafka-producer-perf-test", "--broker-list", servers, "--topics", topic, "--messages", "100",
        "--message-size", "10", "--threads", "4",
    )  # fmt: skip
    head, figures = oldest.out.splitlines()
    assert head.startswith("start.time, end.time, compression, message.size, batch.size, total.data.sent.in.MB")
    assert figures.split(", ")[7] == "100"
    read = typed("kafka-consumer-perf-test", "--bootstrap-server", servers, "--topic", topic, "--messages", "600")
    assert read.status == 0
    head, figures = read.out.splitlines()
    assert head.startswith("start.time, end.time, data.consumed.in.MB, MB.sec, data.consumed.in.nMsg, nMsg.sec, ")
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d:\d{3}, \d{4}.{19}, " + FIGURES % 600, figures)


def test_a_producer_is_measured_in_transactions(cluster, topic):
    sent = typed(
        "kafka-producer-perf-test", "--topic", topic, "--num-records", "300", "--record-size", "10", "--throughput",
        "-1", "--producer-props", f"bootstrap.servers={cluster.bootstrap_servers}", "--transactional-id", topic,
        "--transaction-duration-ms", "50",
    )  # fmt: skip
    assert sent.status == 0
    assert re.fullmatch(TOTAL.format(count=300), sent.out)


def test_lines_of_a_file_are_sent_and_brokers_that_do_not_answer_are_told(cluster, topic, tmp_path):
    lines = tmp_path / "lines"
    lines.write_text("one\ntwo\n")
    words = ("--topic", topic, "--num-records", "20", "--throughput", "-1", "--payload-file", str(lines))
    sent = typed(
        "kafka-producer-perf-test", *words, "--producer-props", f"bootstrap.servers={cluster.bootstrap_servers}"
    )
    assert re.fullmatch(TOTAL.format(count=20), sent.out)
    away = ("bootstrap.servers=127.0.0.1:1", "delivery.timeout.ms=300", "linger.ms=0")
    refused = typed("kafka-producer-perf-test", *words, "--producer-props", *away)
    assert (refused.status, refused.out) == (1, "")
    assert refused.err.endswith("No record was delivered: MSG_TIMED_OUT: Local: Message timed out\n")
    assert typed("kafka-producer-perf-test", *words).err.startswith("Either --producer-props or --producer.config must")


def test_a_consumer_that_finds_too_little_says_so(cluster, topic):
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers})
    for number in range(50):
        producer.produce(topic, str(number))
    producer.flush()
    words = ("--topic", topic, "--messages", "60", "--timeout", "500", "--show-detailed-stats", "--hide-header")
    read = typed("kafka-consumer-perf-test", "--broker-list", cluster.bootstrap_servers, *words)
    assert read.status == 0
    assert "WARNING: Exiting before consuming the expected number of messages: timeout (500 ms) exceeded." in read.out


def test_latency_is_measured_end_to_end(cluster, name):
    measured = typed("kafka-e2e-latency", cluster.bootstrap_servers, name, "5", "all", "10")
    assert measured.status == 0
    made, first, average, shares = measured.out.splitlines()
    assert made == f'Topic "{name}" does not exist. Will create topic with 1 partition(s) and replication factor = 1'
    assert re.fullmatch(r"0\t\d+\.\d+", first)
    assert re.fullmatch(r"Avg latency: \d+\.\d{4} ms", average)
    assert re.fullmatch(r"Percentiles: 50th = \d+, 99th = \d+, 99\.9th = \d+", shares)
    refused = typed("kafka-e2e-latency", cluster.bootstrap_servers, name, "5", "0", "10")
    assert refused == (1, "", "Latency testing requires synchronous acknowledgement. Please use 1 or all\n")

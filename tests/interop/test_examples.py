"""Each example does on these brokers what it says of itself."""

import importlib
import json
import re

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from broker.cli.kafka_topics import COMMAND as TOPICS
from tests.barnabas_cluster import await_true
from tests.tidy.sources import ROOT
from tests.typed import typed

SUPPORT = {"__init__", "command_line", "reading"}
NAMES = sorted(path.stem for path in (ROOT / "broker" / "examples").glob("*.py") if path.stem not in SUPPORT)
LINES_MAX = 60


@pytest.fixture
def topic(cluster, name):
    created = typed(
        TOPICS.name, "--bootstrap-server", cluster.bootstrap_servers, "--create", "--topic", name,
        "--partitions", "3", "--replication-factor", "3",
    )  # fmt: skip
    assert created.status == 0
    return name


@pytest.fixture
def run(cluster, topic, capsys):
    """Lines that an example prints, in a topic and a group of the test's own."""

    def run(example: str, count: int = 6, on: str = topic) -> list[str]:
        words = ["--bootstrap-server", cluster.bootstrap_servers, "--topic", on, "--group", topic]
        importlib.import_module(f"broker.examples.{example}").main([*words, "--count", str(count)])
        return capsys.readouterr().out.splitlines()

    return run


@pytest.fixture
def values(cluster, topic):
    """Of every record of the topic, or of another."""

    def values(on: str = topic, count: int = 6) -> list[str]:
        consumer = Consumer(
            {
                "bootstrap.servers": cluster.bootstrap_servers,
                "group.id": f"{topic}-reader",
                "auto.offset.reset": "earliest",
                "isolation.level": "read_committed",
            }
        )
        consumer.assign(
            [TopicPartition(on, partition, 0) for partition in consumer.list_topics(on).topics[on].partitions]
        )
        try:
            values_read: list = []
            await_true(
                lambda: values_read.extend(consumer.consume(10, 0.2)) or len(values_read) >= count, f"{count} records"
            )
            return sorted(message.value().decode() for message in values_read)
        finally:
            consumer.close()

    return values


@pytest.fixture
def filled(cluster, topic):
    """Six words, two in each partition."""
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers})
    for number in range(6):
        producer.produce(topic, f"word{number % 2}", partition=number % 3)
    assert producer.flush(30) == 0


def committed(cluster, group: str) -> int:
    consumer = Consumer({"bootstrap.servers": cluster.bootstrap_servers, "group.id": group})
    try:
        positions = consumer.committed([TopicPartition(group, index) for index in range(3)], timeout=30)
        return sum(max(0, position.offset) for position in positions)
    finally:
        consumer.close()


def test_each_is_short_run_here_and_shown_in_the_documents():
    page = (ROOT / "docs/start/examples.md").read_text()
    assert {name for name in NAMES if f"`{name}`" not in page} == set()
    lengths = {name: (ROOT / f"broker/examples/{name}.py").read_text().count("\n") for name in NAMES}
    assert {name: length for name, length in lengths.items() if length > LINES_MAX} == {}
    typed_here = set(re.findall(r'run\("(\w+)"', (ROOT / "tests/interop/test_examples.py").read_text()))
    assert typed_here | set(SENDING) | set(COMMITTING) == set(NAMES)


SENDING = ("fire_and_forget", "synchronous", "asynchronous")
COMMITTING = ("commit_each_record", "commit_in_sequence", "commit_async_then_sync", "simple_consumer")


@pytest.mark.parametrize("example", SENDING)
def test_what_is_sent_in_each_of_three_ways_is_there(example, run, values):
    assert run(example)
    assert values() == [f"message {number}" for number in range(6)]


@pytest.mark.parametrize("example", COMMITTING)
def test_consumers_have_committed_all_they_read(example, run, filled, cluster, topic):
    assert len(run(example)) >= 6
    assert committed(cluster, topic) == 6


def test_records_of_one_account_are_written_in_order(run):
    assert run("ordered_retries") == ["6 written, in order: True"]


def test_the_large_customer_has_the_last_partition_alone(run, cluster):
    chosen = [line.split(" -> ") for line in run("partitioner")]
    assert {place for key, place in chosen if key == "large-customer"} == {"partition 2"}
    assert "partition 2" not in {place for key, place in chosen if key != "large-customer"}


def test_values_of_five_types_come_back_as_they_were(run):
    assert sorted(run("serdes")) == [
        r"Bytes: b'\x00\xff' is b'\x00\xff'",
        r"Double: b'@\x04\x00\x00\x00\x00\x00\x00' is 2.5",
        r"Integer: b'\xff\xff\xff\xf9' is -7",
        r"Long: b'\x00\x00\x01\x00\x00\x00\x00\x00' is 1099511627776",
        r"String: b'gr\xc3\xbc\xc3\x9fe' is 'grüße'",
    ]


def test_one_reads_from_near_the_end_and_then_from_the_beginning(run, cluster, topic):
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers})
    for number in range(4):
        producer.produce(topic, f"{number}", partition=0)
    producer.flush()
    offsets = [line.split(": ")[1] for line in run("seek")]
    assert offsets == [f"offset {number}" for number in (2, 3, 0, 1, 2, 3)]


def test_a_key_has_one_partition_on_the_slides_demo(run):
    places = {tuple(re.match(r"(\w+) \d -> partition (\d)", line).groups()) for line in run("producers")}
    assert len(places) == 3


def test_acks_of_the_slides_demo_tell_offsets_or_not(run, values):
    lines = [re.sub(r"\d+ ms", "… ms", line) for line in run("acks", count=2)]
    assert lines == [
        "acks=0: 2 sent in … ms, 0 offsets known",
        "acks=1: 2 sent in … ms, 2 offsets known",
        "acks=all: 2 sent in … ms, 2 offsets known",
    ]
    assert len(values()) == 6


def test_partitions_of_the_slides_demo_move_to_a_second_member_and_back(run):
    lines = run("rebalancing")
    assert lines[0] == "first has [0, 1, 2]"
    assert lines[-2:] == ["first has [0, 1, 2]", "first gives back [0, 1, 2]"]
    given = [json.loads(line.partition(" has ")[2]) for line in lines if line.startswith("second has")]
    assert any(0 < len(partitions) < 3 for partitions in given)


def test_members_of_the_slides_group_share_the_records(run, filled, cluster, topic):
    assert run("consumer_group")[-1] == "6 records were read by 2 members."
    assert committed(cluster, topic) == 6


def test_words_of_the_slides_stream_are_counted_once(run, filled, values, cluster, topic):
    assert run("stream_processing") == ["word0: 3", "word1: 3"]
    assert values(f"{topic}.counts") == ["1", "1", "2", "2", "3", "3"]
    assert committed(cluster, topic) == 6

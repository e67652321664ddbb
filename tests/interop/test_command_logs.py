"""What commands tell and delete of logs that other clients wrote: kafka-get-offsets, -delete-records and -log-dirs."""

import json

import pytest
from confluent_kafka import Producer

from tests.barnabas_cluster import await_true
from tests.typed import typed

FIRST_MS = 1_700_000_000_000


@pytest.fixture
def command(cluster):
    """Any command on the cluster."""
    return lambda name, *words: typed(name, "--bootstrap-server", cluster.bootstrap_servers, *words)


@pytest.fixture
def topic(cluster, command, name):
    """Two partitions on all brokers, in the first of which are ten records, a second apart."""
    placed = ("--partitions", "2", "--replication-factor", "3", "--config", "retention.ms=-1")
    command("kafka-topics", "--create", "--topic", name, *placed)
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers})
    for at in range(10):
        producer.produce(name, str(at), partition=0, timestamp=FIRST_MS + at * 1000)
    assert producer.flush(20) == 0
    return name


def test_offsets_of_moments_are_told_a_partition_a_line(cluster, command, topic):
    assert command("kafka-get-offsets", "--topic", topic) == (0, f"{topic}:0:10\n{topic}:1:0\n", "")
    of_first = ("kafka-get-offsets", "--topic-partitions", f"{topic}:0-1", "--time")
    offsets = {
        moment: command(*of_first, moment).out for moment in ("-2", "earliest", "-3", str(FIRST_MS + 3500), "9" * 13)
    }
    assert offsets == {
        "-2": f"{topic}:0:0\n",
        "earliest": f"{topic}:0:0\n",
        "-3": f"{topic}:0:9\n",
        str(FIRST_MS + 3500): f"{topic}:0:4\n",
        "9" * 13: "",
    }
    old = typed("kafka-get-offsets", "--broker-list", cluster.bootstrap_servers, "--topic", topic, "--offsets", "1")
    assert old.out == f"{topic}:0:10\n{topic}:1:0\n"
    rows = json.loads(command("kafka-get-offsets", "--topic", topic, "--output", "json").out)
    assert rows[0] == {"topic": topic, "partition": 0, "offset": 10}


def test_internal_topics_are_left_out_on_request(cluster, command, topic):
    Producer({"bootstrap.servers": cluster.bootstrap_servers, "transactional.id": topic}).init_transactions(30)
    assert "__transaction_state:" in command("kafka-get-offsets").out
    assert "__transaction_state:" not in command("kafka-get-offsets", "--exclude-internal-topics").out


def test_what_get_offsets_cannot_tell_is_an_error(command, name):
    for words, sentence in {
        ("--topic", name): "Could not match any topic-partitions with the specified filters\n",
        ("--topic", name, "--time", "foo"): "Malformed time argument foo. Please use -1 or latest / -2 or earliest / ",
        (
            "--topic",
            name,
            "--topic-partitions",
            name,
        ): "--topic-partitions cannot be used with --topic or --partitions\n",
    }.items():
        status, out, err = command("kafka-get-offsets", *words)
        assert (status, out) == (1, "")
        assert err.startswith(f"Error occurred: {sentence}")


def test_records_are_deleted_as_far_as_a_file_says(command, topic, tmp_path):
    before = tmp_path / "before.json"

    def delete(*partitions):
        listed = [{"topic": name, "partition": number, "offset": offset} for name, number, offset in partitions]
        before.write_text(json.dumps({"partitions": listed, "version": 1}))
        return command("kafka-delete-records", "--offset-json-file", str(before))

    assert delete((topic, 0, 3), (topic, 1, 99), (f"{topic}-x", 0, 1)) == (
        0,
        "Executing records delete operation\nRecords delete operation completed:\n"
        f"partition: {topic}-0\tlow_watermark: 3\n"
        f"partition: {topic}-1\terror: org.apache.kafka.common.errors.OffsetOutOfRangeException: "
        "The offset is not between the first and the next offset of the partition.\n"
        f"partition: {topic}-x-0\terror: org.apache.kafka.common.errors.UnknownTopicOrPartitionException: "
        f"there is no topic '{topic}-x'\n",
        "",
    )
    assert command("kafka-get-offsets", "--topic", topic, "--time", "earliest").out.startswith(f"{topic}:0:3\n")
    assert delete((topic, 0, -1)).out.endswith(f"partition: {topic}-0\tlow_watermark: 10\n")
    assert delete((topic, 0, 1), (topic, 0, 2)) == (
        1,
        "",
        f"Offset json file contains duplicate topic partitions: {topic}-0\n",
    )
    before.write_text("{")
    assert command("kafka-delete-records", "--offset-json-file", str(before)).status == 1


def test_log_directories_are_told_in_the_last_line(command, topic):
    def describe(*words):
        described = command("kafka-log-dirs", "--describe", "--topic-list", f"{topic},{topic}-x", *words)
        assert described.status == 0
        head, received, line = described.out.splitlines()
        assert head == "Querying brokers for log directories information"
        return received, json.loads(line)

    received, tree = describe()
    brokers = ",".join(str(broker["broker"]) for broker in tree["brokers"])
    assert received == f"Received log directory information from brokers {brokers}"

    def sizes():
        directories = [directory for broker in describe()[1]["brokers"] for directory in broker["logDirs"]]
        assert all(directory["error"] is None for directory in directories)
        return [
            partition["size"] for directory in directories for partition in directory["partitions"]
            if partition["partition"] == f"{topic}-0" and not partition["isFuture"]
        ]  # fmt: skip

    await_true(lambda: len(set(sizes())) == 1 and min(sizes()) > 0, "every replica has the records")
    received, tree = describe("--broker-list", "2")
    assert (received[-2:], [broker["broker"] for broker in tree["brokers"]]) == (" 2", [2])


def test_a_broker_that_is_not_there_is_named(command):
    status, out, err = command("kafka-log-dirs", "--describe", "--broker-list", "77")
    assert (status, out) == (1, "")
    assert err.startswith("ERROR: The given brokers do not exist from --broker-list: 77. Current existent brokers: 1,2")

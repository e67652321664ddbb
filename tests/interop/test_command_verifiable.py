"""kafka-verifiable-producer and -consumer: programs read their lines of JSON."""

import json
import os
import signal
import subprocess

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from tests.typed import BIN, typed


def events(text):
    return [json.loads(line) for line in text.splitlines()]


def test_a_producer_tells_where_each_number_was_written(cluster, name):
    sent = typed(
        "kafka-verifiable-producer", "--broker-list", cluster.bootstrap_servers, "--topic", name, "--max-messages",
        "3", "--value-prefix", "7", "--repeating-keys", "2", "--message-create-time", "1000",
    )  # fmt: skip
    assert sent.status == 0
    started, *written, stopped, data = events(sent.out)
    assert (started["name"], stopped["name"]) == ("startup_complete", "shutdown_complete")
    assert list(written[0]) == ["timestamp", "name", "key", "value", "offset", "partition", "topic"]
    assert [(line["key"], line["value"], line["offset"]) for line in written] == [
        ("0", "7.0", 0),
        ("1", "7.1", 1),
        ("0", "7.2", 2),
    ]
    assert (data["name"], data["sent"], data["acked"], data["target_throughput"]) == ("tool_data", 3, 3, -1)
    reader = Consumer({"bootstrap.servers": cluster.bootstrap_servers, "group.id": name})
    reader.assign([TopicPartition(name, 0, 0)])
    assert [(item.value(), item.timestamp()[1] < 60_000) for item in reader.consume(3, 10)] == [
        (b"7.0", True),
        (b"7.1", True),
        (b"7.2", True),
    ]
    reader.close()


def test_a_producer_tells_what_was_not_written(name):
    words = ("--topic", name, "--max-messages", "1", "--producer-property", "delivery.timeout.ms=300")
    sent = typed("kafka-verifiable-producer", "--bootstrap-server", "127.0.0.1:1", *words)
    assert [event["name"] for event in events(sent.out)] == [
        "startup_complete",
        "producer_send_error",
        "shutdown_complete",
        "tool_data",
    ]
    assert events(sent.out)[1]["value"] == "0"


def test_a_consumer_tells_what_it_reads_of_another_client_and_commits_it(cluster, name):
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers})
    for number in range(3):
        producer.produce(name, str(number))
    producer.flush()
    read = typed(
        "kafka-verifiable-consumer", "--bootstrap-server", cluster.bootstrap_servers, "--topic", name, "--group-id",
        name, "--max-messages", "3", "--verbose",
    )  # fmt: skip
    assert read.status == 0
    lines = events(read.out)
    assert lines[0]["name"] == "startup_complete"
    assert lines[1]["name"] == "partitions_assigned"
    assert lines[1]["partitions"] == [{"topic": name, "partition": 0}]
    assert [config["value"] for config in lines if config["name"] == "record_data"] == ["0", "1", "2"]
    assert sum(item["count"] for item in lines if item["name"] == "records_consumed") == 3
    committed = [item for item in lines if item["name"] == "offsets_committed"][-1]
    assert (committed["success"], committed["offsets"]) == (True, [{"topic": name, "partition": 0, "offset": 3}])
    assert [item["name"] for item in lines[-2:]] == ["partitions_revoked", "shutdown_complete"]
    reader = Consumer({"bootstrap.servers": cluster.bootstrap_servers, "group.id": name})
    assert reader.committed([TopicPartition(name, 0)], 10)[0].offset == 3
    reader.close()


@pytest.mark.parametrize("command", ["kafka-verifiable-producer", "kafka-verifiable-consumer"])
def test_sigterm_ends_them_with_their_last_lines(cluster, name, command):
    words = ("--group-id", name) if command.endswith("consumer") else ("--throughput", "100")
    process = subprocess.Popen(
        [BIN / command, "--bootstrap-server", cluster.bootstrap_servers, "--topic", name, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert json.loads(process.stdout.readline())["name"] == "startup_complete"
    process.send_signal(signal.SIGTERM)
    out, _err = process.communicate(timeout=20)
    assert process.returncode == 143
    last = [event["name"] for event in events(out.decode())][-2:]
    assert last[-1:] == ["shutdown_complete"] or last == ["shutdown_complete", "tool_data"]

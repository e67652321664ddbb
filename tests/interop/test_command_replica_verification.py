"""`kafka-replica-verification` on what another client writes, until Ctrl-C."""

import re
import signal
import subprocess

import pytest
from confluent_kafka import Producer

from tests.typed import BIN, typed


@pytest.fixture
def topic(cluster, name):
    create = ("--create", "--topic", name, "--partitions", "2", "--replication-factor", "3")
    assert typed("kafka-topics", "--bootstrap-server", cluster.bootstrap_servers, *create).status == 0
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "acks": "all"})
    for number in range(50):
        producer.produce(name, b"v", partition=number % 2)
    assert producer.flush(30) == 0
    return name


def test_replicas_are_compared_from_the_beginning_until_it_is_interrupted(cluster, topic):
    words = ("--broker-list", cluster.bootstrap_servers, "--topic-white-list", topic, "--time", "-2")
    words = (*words, "--report-interval-ms", "200", "--max-wait-ms", "50")
    running = subprocess.Popen(
        [BIN / "kafka-replica-verification", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # What a shell starts in the background ignores Ctrl-C, and so does all that it starts.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        began = running.stdout.readline()
        assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}: verification process is started\n", began)
        caught_up = re.compile(rf".*: max lag is 0 for partition {topic}-\d at offset 25 among 2 partitions\n")
        assert any(caught_up.fullmatch(line) for line in iter(running.stdout.readline, ""))
        running.send_signal(signal.SIGINT)
        _, complaints = running.communicate(timeout=30)
    finally:
        running.kill()
        running.wait()
    assert (running.returncode, complaints) == (130, "")


def test_no_topic_is_one_sentence(cluster, name):
    refused = typed("kafka-replica-verification", "--broker-list", cluster.bootstrap_servers, "--topics-include", name)
    assert (refused.status, refused.out) == (1, "")
    assert refused.err.startswith("No topics found. ")

"""`kafka-plan` on a topic that another client writes to, and what it makes of it."""

import json
import threading

from confluent_kafka import Producer

from tests.typed import typed, typed_in_shell


def described(cluster, topic: str) -> str:
    outcome = typed("kafka-topics", "--bootstrap-server", cluster.bootstrap_servers, "--describe", "--topic", topic)
    return outcome.out.splitlines()[0] if outcome.status == 0 else outcome.out


def test_a_plan_is_made_of_what_is_typed_without_any_cluster():
    planned = typed("kafka-plan", "--throughput", "1GB", "--consumer-throughput", "50MB", "--brokers", "5")
    assert planned.status == 0
    assert "      20  by consumer throughput: 1 GB/s by 50 MB/s of one consumer in one partition  <- decides\n" in (
        planned.out
    )
    assert planned.out.endswith(
        "\nkafka-topics --bootstrap-server localhost:9092 --create --topic NAME --partitions 20 "
        "--replication-factor 3\n"
    )


def test_a_topic_that_is_written_to_is_measured_and_gets_partitions_when_its_name_is_typed(cluster, name):
    servers = ("--bootstrap-server", cluster.bootstrap_servers)
    assert typed("kafka-topics", *servers, "--create", "--topic", name, "--partitions", "2").status == 0
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "linger.ms": 5})
    is_over = threading.Event()

    def write() -> None:
        while not is_over.is_set():
            producer.produce(name, b"x" * 1_000)
            producer.poll(0.005)
        producer.flush(30)

    writing = threading.Thread(target=write)
    writing.start()
    try:
        words = (*servers, "--topic", name, "--measure", "2", "--consumer-throughput", "1kB", "--output", "json")
        planned = json.loads(typed("kafka-plan", *words).out)
    finally:
        is_over.set()
        writing.join()
    assert planned["throughput"] > 2_000
    assert planned["decisive"] == "consumer throughput"
    assert planned["partitions"] > 2
    assert planned["command"].endswith(f" --alter --topic {name} --partitions {planned['partitions']}")
    # It is idle now: what it shall take has to be said.
    assert "say by --throughput" in typed("kafka-plan", *servers, "--topic", name, "--measure", "1").err
    words = (*servers, "--topic", name, "--throughput", "5kB", "--consumer-throughput", "1kB", "--execute")
    refused = typed_in_shell("kafka-plan", *words, stdin="yes\n")
    assert (refused.status, "Nothing was changed." in refused.err) == (1, True)
    assert "PartitionCount: 2\t" in described(cluster, name)
    done = typed_in_shell("kafka-plan", *words, stdin=f"{name}\n")
    assert (done.status, done.out.endswith(f"\n{name} has 5 partitions.\n")) == (0, True)
    assert "PartitionCount: 5\t" in described(cluster, name)
    assert "has enough partitions" in typed("kafka-plan", *words[:-1]).out


def test_a_topic_that_is_not_there_is_made_as_planned(cluster, name):
    words = ("--bootstrap-server", cluster.bootstrap_servers, "--topic", name, "--throughput", "3kB")
    words = (*words, "--consumer-throughput", "1kB", "--retention", "2d", "--replication-factor", "2", "--execute")
    done = typed_in_shell("kafka-plan", *words, stdin=f"{name}\n")
    assert done.status == 0, done.err
    assert (
        "PartitionCount: 3\tReplicationFactor: 2\tConfigs: min.insync.replicas=1,retention.ms=172800000"
        in described(cluster, name)
    )

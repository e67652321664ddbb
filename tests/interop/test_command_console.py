"""kafka-console-producer and kafka-console-consumer, and what other clients wrote and read."""

import os
import signal
import subprocess

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from kafka import KafkaProducer

from tests.typed import BIN, typed, typed_in_shell


@pytest.fixture
def produce(cluster, name):
    """What is typed into `kafka-console-producer`, on a topic that is made by it."""
    return lambda stdin, *words: typed_in_shell(
        "kafka-console-producer", "--bootstrap-server", cluster.bootstrap_servers, "--topic", name, *words, stdin=stdin
    )


@pytest.fixture
def consume(cluster, name):
    """`kafka-console-consumer` from the first record of the first partition, unless words say otherwise."""

    def typed_words(*words, start=("--partition", "0", "--offset", "earliest")):
        topic = ("--bootstrap-server", cluster.bootstrap_servers, "--topic", name)
        return typed("kafka-console-consumer", *topic, *start, *words)

    return typed_words


def as_group(group):
    return ("--group", group, "--from-beginning")


def test_lines_become_records_and_records_lines(produce, consume):
    assert produce("one\ntwo\r\n\nlast") == (0, "", "")
    assert consume("--max-messages", "4") == (0, "one\ntwo\n\nlast\n", "Processed a total of 4 messages\n")


def test_keys_headers_and_null_are_parsed_and_printed(produce, consume):
    words = ("--property", "parse.key=true", "--property", "parse.headers=true", "--property", "null.marker=NULL")
    assert produce("h:a,i:NULL\tk\tv\nNULL\tNULL\tw\n", *words) == (0, "", "")
    shown = consume(
        "--max-messages", "2", "--property", "print.key=true", "--property", "print.headers=true",
        "--property", "print.offset=true", "--property", "key.separator=|",
    )  # fmt: skip
    assert shown.out == "Offset:0|h:a,i:null|k|v\nOffset:1|NO_HEADERS|null|w\n"


@pytest.mark.long
def test_a_line_that_is_no_record_ends_the_producer_after_what_came_before(produce, consume):
    refused = produce("k1\tv1\nnokey\nk2\tv2\n", "--property", "parse.key=true")
    assert refused.status == 1
    assert refused.err == "org.apache.kafka.common.KafkaException: No key separator found on line number 2: 'nokey'\n"
    assert consume("--timeout-ms", "1500").out == "v1\n"


def test_records_that_are_not_delivered_are_told_and_the_status_is_kafkas(produce, consume):
    words = ("--producer-property", "max.request.size=2000")
    outcome = produce("x" * 3000 + "\nshort\n", *words)
    assert outcome.status == 0
    assert "ERROR Error when sending message to topic" in outcome.err
    assert "with key: null, value: 3000 bytes with error:" in outcome.err
    assert consume("--max-messages", "1").out == "short\n"
    assert produce("x" * 3000 + "\nshort\n", "--sync", *words).status == 1


def test_a_group_goes_on_behind_what_was_printed(produce, consume, name):
    produce("".join(f"{number}\n" for number in range(10)))
    assert consume("--max-messages", "2", start=as_group(name)).out == "0\n1\n"
    assert consume("--max-messages", "3", start=as_group(name)).out == "2\n3\n4\n"


@pytest.mark.long
def test_a_producers_file_of_java_properties_is_understood(produce, consume, tmp_path):
    properties = tmp_path / "producer.properties"
    properties.write_text("key.serializer=x.StringSerializer\nbuffer.memory=1000000\nlinger.ms=1\n")
    sent = produce("a\n", "--producer.config", str(properties), "--compression-codec", "--request-required-acks", "1")
    assert sent.status == 0
    assert sent.err == "kafka-console-producer: key.serializer is of Java's clients only; it is left out.\n"
    assert consume("--max-messages", "1").out == "a\n"


def test_records_of_other_clients_are_printed(cluster, consume, name):
    producer = KafkaProducer(bootstrap_servers=cluster.bootstrap_servers)
    producer.send(name, (7).to_bytes(8, "big"), key=b"\0\0\0\1", headers=[("h", b"1")], timestamp_ms=1000, partition=0)
    producer.send(name, b"not a long", partition=0)
    producer.send(name, (8).to_bytes(8, "big"), partition=0)
    producer.close()
    words = ("--max-messages", "3", "--value-deserializer", "org.apache.kafka.common.serialization.LongDeserializer")
    shown = consume("--property", "print.timestamp=true", "--skip-message-on-error", *words)
    assert shown.out.splitlines()[0] == "CreateTime:1000\t7"
    assert shown.out.splitlines()[1].endswith("\t8")
    assert "Size of data received is 10, not 8" in shown.err
    refused = consume(*words)
    assert (refused.status, refused.out) == (1, "7\n")


@pytest.mark.long
def test_what_was_typed_is_read_by_other_clients_where_java_would_have_put_it(cluster, produce, name):
    typed(
        "kafka-topics",
        "--bootstrap-server",
        cluster.bootstrap_servers,
        "--create",
        "--topic",
        name,
        "--partitions",
        "7",
    )
    produce(
        "".join(f"{key}:{key}\n" for key in range(20)), "--property", "parse.key=true", "--property", "key.separator=:"
    )
    producer = KafkaProducer(bootstrap_servers=cluster.bootstrap_servers)
    java = {str(key): producer.send(name, b"", key=b"%d" % key).get(10).partition for key in range(20)}
    producer.close()
    reader = Consumer({"bootstrap.servers": cluster.bootstrap_servers, "group.id": name})
    reader.assign([TopicPartition(name, partition, 0) for partition in range(7)])
    messages = [message for message in reader.consume(40, 10) if message.value()]
    reader.close()
    assert {message.key().decode(): message.partition() for message in messages} == java


def test_the_zookeeper_generation_finds_the_brokers_and_says_so(cluster, produce, name):
    produce("a\nb\n")
    zookeeper = cluster.brokers[0].zookeeper_connect
    words = ("--zookeeper", zookeeper, "-topic", name, "-from-beginning", "--max-messages", "2", "--new-consumer")
    shown = typed("kafka-console-consumer", *words)
    assert (shown.status, shown.out) == (0, "a\nb\n")
    assert f"The ZooKeeper at {zookeeper} knows the brokers 127.0.0.1:" in shown.err


def test_topics_are_found_by_an_expression_of_whole_names(cluster, name):
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers})
    for end in ("-1", "-2", "-x"):
        producer.produce(name + end, end)
    producer.flush()
    words = ("--include", rf"{name}-\d", "--from-beginning", "--max-messages", "2", "--timeout-ms", "8000")
    shown = typed("kafka-console-consumer", "--bootstrap-server", cluster.bootstrap_servers, *words)
    assert sorted(shown.out.split()) == ["-1", "-2"]


@pytest.mark.long
def test_offsets_that_groups_committed_are_shown(cluster, produce, consume, name):
    produce("a\n")
    consume("--max-messages", "1", start=as_group(name))
    shown = typed(
        "kafka-console-consumer", "--bootstrap-server", cluster.bootstrap_servers, "--topic", "__consumer_offsets",
        "--from-beginning", "--timeout-ms", "3000",
        "--formatter", "kafka.coordinator.group.GroupMetadataManager$OffsetsMessageFormatter",
    )  # fmt: skip
    assert f"[{name},{name},0]::OffsetAndMetadata(offset=1, " in shown.out


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_ends_the_consumer_with_records_and_total(cluster, produce, name, number, status):
    produce("a\n")
    with _consumer(cluster, name) as process:
        assert process.stdout.readline() == b"a\n"
        process.send_signal(number)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (status, b"", b"Processed a total of 1 messages\n")


def test_the_consumer_ends_when_nobody_reads_it(cluster, produce, name):
    produce("a\n")
    with _consumer(cluster, name) as process:
        assert process.stdout.readline() == b"a\n"
        process.stdout.close()
        err = process.stderr.read()
        assert process.wait(20) == 0
    assert err == b"Unable to write to standard out, closing consumer.\nProcessed a total of 1 messages\n"


def _consumer(cluster, name):
    words = ("--bootstrap-server", cluster.bootstrap_servers, "--topic", name, "--partition", "0", "--offset", "0")
    return subprocess.Popen(
        [BIN / "kafka-console-consumer", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "Exactly one of --include/--topic is required. "),
        (("--topic", "t", "--offset", "1"), "The partition is required when offset is specified."),
        (("--include", "t", "--partition", "1"), "The topic is required when partition is specified."),
        (("--topic", "t", "--partition", "0", "--offset", "-2"), "The provided offset value '-2' is incorrect."),
        (
            ("--topic", "t", "--group", "g1", "--consumer-property", "group.id=g2"),
            "The group ids provided in different places (directly using '--group', via '--consumer-property', or via "
            "'--consumer.config') do not match. Detected group ids: 'g1', 'g2'",
        ),
        (
            ("--topic", "t", "--from-beginning", "--consumer-property", "auto.offset.reset=latest"),
            "Can't simultaneously specify --from-beginning and 'auto.offset.reset=latest', please remove one option",
        ),
    ],
)
def test_what_contradicts_itself_is_refused(words, sentence):
    refused = typed("kafka-console-consumer", "--bootstrap-server", "127.0.0.1:1", *words)
    assert refused.status == 1
    assert refused.err.startswith(sentence)
    assert refused.out == ""


def test_brokers_that_do_not_exist_are_one_sentence():
    refused = typed("kafka-console-consumer", "--bootstrap-server", "nowhere.invalid:9092", "--topic", "t")
    assert refused == (1, "", "No resolvable bootstrap urls given in bootstrap.servers: nowhere.invalid:9092\n")

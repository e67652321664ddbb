"""A task's records are in its transaction once, whatever its broker does meanwhile."""

import signal
import threading

import pyarrow as pa
import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from broker.client.cluster import ClusterConnections, parse_bootstrap_servers
from broker.client.coordinators import Coordinators
from broker.client.leaders import Leaders
from broker.client.transactions import end_transaction, init_producer
from broker.common.errors import ApiError
from broker.common.types import TopicPartition
from broker.records.compression import Compression
from broker.spark import record_encoding, task_producer
from broker.spark.record_encoding import EncodedRows
from broker.spark.task_producer import RecordTooLargeError, TaskProducer
from tests.barnabas_cluster import running_cluster
from tests.broker.connect.mock_cluster import all_records

VALUES = [b"%d" % number for number in range(5_000)]
PARTITIONS = [TopicPartition("out", partition) for partition in range(2)]


@pytest.fixture
def kafka(tmp_path, zookeeper):
    with running_cluster(tmp_path / "cluster", zookeeper=zookeeper) as cluster:
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
        admin.create_topics([NewTopic("out", 2)])["out"].result(20)
        yield cluster


@pytest.fixture
def cluster(kafka):
    with ClusterConnections(parse_bootstrap_servers(kafka.bootstrap_servers)) as cluster:
        yield cluster


def rows() -> dict[TopicPartition, EncodedRows]:
    values = pa.array(VALUES, pa.binary())
    return dict.fromkeys(PARTITIONS, EncodedRows(pa.nulls(len(values), pa.binary()), values, None))


def producer_of(cluster: ClusterConnections) -> tuple[TaskProducer, Coordinators]:
    coordinators = Coordinators(cluster)
    who = init_producer(coordinators, "task", 60_000)
    return TaskProducer(Leaders(cluster), coordinators, who, Compression.ZSTD), coordinators


def check_each_is_there_once(servers: str) -> None:
    records = all_records(servers, "out")
    for partition in range(2):
        assert [record.value() for record in records if record.partition() == partition] == VALUES


def test_requests_that_a_broker_finds_when_it_goes_on_are_written_once(kafka, cluster, monkeypatch):
    """It stands still until the producer has given up its first try and sent the same again."""
    monkeypatch.setattr(task_producer, "_REPLICAS_TIMEOUT_MS", -4_000)
    producer, coordinators = producer_of(cluster)
    broker = kafka.broker(1).process
    requests = []

    def stand_still_once(*request):
        if not requests:
            broker.send_signal(signal.SIGSTOP)
            threading.Timer(2.5, broker.send_signal, [signal.SIGCONT]).start()
        requests.append(request)
        return ask_leader(producer, *request)

    ask_leader = TaskProducer._ask_leader
    monkeypatch.setattr(producer, "_ask_leader", stand_still_once)
    producer.write(dict(list(rows().items())[:1]))
    assert len(requests) > 1
    producer.write(dict(list(rows().items())[1:]))
    end_transaction(coordinators, producer._who, commit=True)
    check_each_is_there_once(kafka.bootstrap_servers)


def test_transaction_goes_on_after_its_broker_was_killed(kafka, cluster, monkeypatch):
    monkeypatch.setattr(record_encoding, "BATCH_RECORDS", 500)
    producer, coordinators = producer_of(cluster)
    sent = []

    def kill_in_the_middle(batches):
        sent.append(None)
        if len(sent) == 5:
            kafka.broker(1).kill()
            kafka.broker(1).start()
        return send(batches)

    send = producer._send
    monkeypatch.setattr(producer, "_send", kill_in_the_middle)
    producer.write(rows())
    end_transaction(coordinators, producer._who, commit=True)
    check_each_is_there_once(kafka.bootstrap_servers)


def test_fenced_task_writes_nothing_more(kafka, cluster):
    zombie, _ = producer_of(cluster)
    chosen, coordinators = producer_of(cluster)
    with pytest.raises(ApiError):
        zombie.write(rows())
    chosen.write(rows())
    end_transaction(coordinators, chosen._who, commit=True)
    check_each_is_there_once(kafka.bootstrap_servers)


@pytest.fixture
def small_messages(kafka):
    topic = NewTopic("out-small", 2, config={"max.message.bytes": "5000"})
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap_servers})
    admin.create_topics([topic])["out-small"].result(20)
    return TopicPartition("out-small", 0), TopicPartition("out-small", 1)


def test_topic_that_takes_small_messages_only_gets_small_batches(kafka, cluster, small_messages):
    coordinators = Coordinators(cluster)
    who = init_producer(coordinators, "task", 60_000)
    producer = TaskProducer(Leaders(cluster), coordinators, who, Compression.NONE)
    values = [b"%d" % number for number in range(2_000)]
    of_first = EncodedRows(pa.nulls(2_000, pa.binary()), pa.array(values, pa.binary()), None)
    for _ in range(2):
        producer.write(dict(zip(small_messages, (of_first, of_first.slice(0, 50)), strict=True)))
    end_transaction(coordinators, who, commit=True)
    records = all_records(kafka.bootstrap_servers, "out-small")
    assert [record.value() for record in records if record.partition() == 0] == values * 2
    assert [record.value() for record in records if record.partition() == 1] == values[:50] * 2


def test_record_that_is_too_large_for_its_topic_is_said(cluster, small_messages):
    coordinators = Coordinators(cluster)
    producer = TaskProducer(
        Leaders(cluster), coordinators, init_producer(coordinators, "task", 60_000), Compression.NONE
    )
    values = pa.array([b"small", b"x" * 6_000, b"small"], pa.binary())
    with pytest.raises(
        RecordTooLargeError, match=r"out-small-0: a record of 6032 bytes is larger .* max\.message\.bytes"
    ):
        producer.write({small_messages[0]: EncodedRows(pa.nulls(3, pa.binary()), values, None)})

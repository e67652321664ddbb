"""`kafka-dump-log` on the files of logs that other clients wrote, while their brokers run."""

import json

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from kafka import KafkaProducer

from tests.barnabas_cluster import await_true
from tests.typed import typed


@pytest.fixture
def topic(cluster, name):
    create = ("--create", "--topic", name, "--replication-factor", "1")
    assert typed("kafka-topics", "--bootstrap-server", cluster.bootstrap_servers, *create).status == 0
    return name


def segments(cluster, pattern: str) -> list[str]:
    return [str(path) for broker in cluster.brokers for path in broker.log_dirs[0].glob(f"{pattern}/*.log")]


def test_what_two_clients_wrote_is_shown_batch_by_batch(cluster, topic):
    with_java_ways = KafkaProducer(bootstrap_servers=cluster.bootstrap_servers, compression_type="gzip")
    with_java_ways.send(topic, key=b"k", value=b"of kafka-python" * 9, headers=[("h", b"1")]).get(30)
    with_java_ways.close()
    transactional = Producer({"bootstrap.servers": cluster.bootstrap_servers, "transactional.id": topic})
    transactional.init_transactions(30)
    transactional.begin_transaction()
    transactional.produce(topic, b"of librdkafka")
    transactional.commit_transaction(30)
    (path,) = segments(cluster, f"{topic}-0")
    marker = "endTxnMarker: COMMIT coordinatorEpoch: "
    await_true(lambda: marker in typed("kafka-dump-log", "--deep-iteration", path).out, "the marker is written")
    lines = typed("kafka-dump-log", "--print-data-log", path).out.splitlines()
    assert lines[:2] == [f"Dumping {path}", "Log starting offset: 0"]
    assert [line.endswith("isvalid: true") for line in lines[2:]] == [True, False] * 3
    assert " compresscodec: gzip " in lines[2]
    assert lines[3].endswith(" headerKeys: [h] key: k payload: " + "of kafka-python" * 9)
    assert " isTransactional: true isControl: false " in lines[4]
    assert lines[5].endswith(" payload: of librdkafka")


def test_what_coordinators_remember_is_shown_as_json(cluster, topic):
    consumer = Consumer({"bootstrap.servers": cluster.bootstrap_servers, "group.id": topic})
    consumer.commit(offsets=[TopicPartition(topic, 0, 7)], asynchronous=False)
    consumer.close()
    paths = segments(cluster, "__consumer_offsets-*")
    committed = f'key: {{"type":"1","data":{{"group":"{topic}","topic":"{topic}","partition":0}}}} payload: '
    shown = typed("kafka-dump-log", "--offsets-decoder", "--files", ",".join(paths)).out
    (payload, *_) = [line.split(committed)[1] for line in shown.splitlines() if committed in line]
    assert json.loads(payload)["data"]["offset"] == 7

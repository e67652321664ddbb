"""confluent-kafka (librdkafka), unmodified, against three brokers."""

import time

import pytest
from confluent_kafka import OFFSET_BEGINNING, OFFSET_END, Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from tests.barnabas_cluster import await_true
from tests.interop.records import CODECS, COUNT, PARTITIONS, Sent, in_order, records

DEADLINE_S = 60


def create_topic(cluster, name, partitions=PARTITIONS, **settings):
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    admin.create_topics([NewTopic(name, partitions, 1, **settings)])[name].result(30)
    return admin


def produce(cluster, topic, sent, codec="none", **config):
    failures = []
    producer = Producer(
        {"bootstrap.servers": cluster.bootstrap_servers, "compression.type": codec, "linger.ms": 5, **config}
    )
    for record in sent:
        while True:
            try:
                producer.produce(
                    topic,
                    record.value,
                    record.key,
                    headers=list(record.headers),
                    on_delivery=lambda error, _: failures.append(error) if error else None,
                )
                break
            except BufferError:
                producer.poll(0.1)
    assert producer.flush(DEADLINE_S) == 0
    assert failures == []


def consumer(cluster, group="unused", **config):
    return Consumer(
        {
            "bootstrap.servers": cluster.bootstrap_servers,
            "group.id": group,
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            **config,
        }
    )


def drain(reader, count):
    received, end = [], time.monotonic() + DEADLINE_S
    while len(received) < count and time.monotonic() < end:
        for message in reader.consume(1000, 0.2):
            assert message.error() is None, message.error()
            sent = Sent(message.key(), message.value(), tuple(message.headers() or ()))
            received.append((message.partition(), message.offset(), sent))
    assert len(received) == count
    return received


@pytest.mark.parametrize("codec", CODECS)
def test_what_was_produced_is_read_back_from_the_beginning(cluster, name, codec):
    create_topic(cluster, name)
    sent = records(codec)
    produce(cluster, name, sent, codec)
    reader = consumer(cluster)
    reader.assign([TopicPartition(name, index, OFFSET_BEGINNING) for index in range(PARTITIONS)])
    assert in_order(drain(reader, COUNT)) == sent
    reader.close()


def test_idempotent_producer_is_served(cluster, name):
    create_topic(cluster, name)
    sent = records("lz4", 2_000)
    produce(cluster, name, sent, "lz4", **{"enable.idempotence": True})
    reader = consumer(cluster)
    reader.assign([TopicPartition(name, index, OFFSET_BEGINNING) for index in range(PARTITIONS)])
    assert in_order(drain(reader, 2_000)) == sent
    reader.close()


@pytest.mark.parametrize("acks", ["0", "1", "all"])
def test_every_acks_setting_writes(cluster, name, acks):
    create_topic(cluster, name, partitions=1)
    produce(cluster, name, records("none", 500), acks=acks)
    reader = consumer(cluster)
    reader.assign([TopicPartition(name, 0, OFFSET_BEGINNING)])
    assert len(drain(reader, 500)) == 500
    reader.close()


def test_reading_from_an_offset_and_from_the_end(cluster, name):
    create_topic(cluster, name, partitions=1)
    produce(cluster, name, records("zstd", 1_000), "zstd")
    reader = consumer(cluster)
    reader.assign([TopicPartition(name, 0, 990)])
    assert [offset for _, offset, _ in drain(reader, 10)] == list(range(990, 1_000))
    reader.assign([TopicPartition(name, 0, OFFSET_END)])
    reader.consume(1, 0.5)
    await_true(lambda: reader.position([TopicPartition(name, 0)])[0].offset in (1_000, -1001), "position known")
    produce(cluster, name, records("none", 3))
    assert [offset for _, offset, _ in drain(reader, 3)] == [1_000, 1_001, 1_002]
    reader.close()


def test_offsets_are_found_by_timestamp(cluster, name):
    create_topic(cluster, name, partitions=1, config={"retention.ms": "-1"})
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers})
    for number in range(100):
        producer.produce(name, b"v", timestamp=1_700_000_000_000 + number * 1_000)
    assert producer.flush(DEADLINE_S) == 0
    reader = consumer(cluster)
    partitions = [TopicPartition(name, 0, 1_700_000_000_000 + 41_500)]
    assert reader.offsets_for_times(partitions, timeout=10)[0].offset == 42
    assert reader.get_watermark_offsets(TopicPartition(name, 0), timeout=10) == (0, 100)
    reader.close()


def test_two_consumers_of_a_group_share_the_partitions_and_go_on_where_they_committed(cluster, name):
    create_topic(cluster, name, partitions=4)
    sent = records("snappy")
    produce(cluster, name, sent, "snappy")
    members = [consumer(cluster, name), consumer(cluster, name)]
    for member in members:
        member.subscribe([name])
    received = [[], []]
    end = time.monotonic() + DEADLINE_S
    while sum(map(len, received)) < COUNT and time.monotonic() < end:
        for member, own in zip(members, received, strict=True):
            for message in member.consume(500, 0.1):
                assert message.error() is None, message.error()
                own.append((message.partition(), message.offset(), message.key()))
    assert sorted(key for own in received for *_, key in own) == sorted(record.key for record in sent)
    assert len({*received[0], *received[1]}) == COUNT
    await_true(lambda: _polled_assignments(members) == [2, 2], "two partitions for each member")
    for member in members:
        member.commit(asynchronous=False)
        member.close()
    produce(cluster, name, records("none", 20))
    successor = consumer(cluster, name)
    successor.subscribe([name])
    assert len(drain(successor, 20)) == 20
    committed = successor.committed([TopicPartition(name, index) for index in range(4)], timeout=10)
    assert sum(partition.offset for partition in committed) == COUNT
    successor.close()


def _polled_assignments(members):
    for member in members:
        member.poll(0.1)
    return [len(member.assignment()) for member in members]


def test_groups_are_listed_described_and_deleted(cluster, name):
    admin = create_topic(cluster, name, partitions=1)
    produce(cluster, name, records("none", 5))
    member = consumer(cluster, name)
    member.subscribe([name])
    drain(member, 5)
    member.commit(asynchronous=False)
    assert name in {group.group_id for group in admin.list_consumer_groups().result(10).valid}
    described = admin.describe_consumer_groups([name])[name].result(10)
    assert described.state.name == "STABLE"
    assert [assigned.topic for assigned in described.members[0].assignment.topic_partitions] == [name]
    member.close()
    admin.delete_consumer_groups([name])[name].result(10)
    assert name not in {group.group_id for group in admin.list_consumer_groups().result(10).valid}


def test_a_topic_is_created_when_first_written_to(cluster, name):
    produce(cluster, name, records("none", 10))
    reader = consumer(cluster)
    assert reader.get_watermark_offsets(TopicPartition(name, 0), timeout=10) == (0, 10)
    reader.close()


def test_a_deleted_topic_is_gone_and_its_name_starts_afresh(cluster, name):
    admin = create_topic(cluster, name, partitions=1)
    produce(cluster, name, records("none", 10))
    admin.delete_topics([name], operation_timeout=30)[name].result(30)
    assert name not in admin.list_topics(timeout=10).topics
    create_topic(cluster, name, partitions=1)
    reader = consumer(cluster)
    await_true(lambda: has_partitions(reader, name), "the broker this client asks has heard of the new topic")
    assert reader.get_watermark_offsets(TopicPartition(name, 0), timeout=10) == (0, 0)
    reader.close()


def has_partitions(client, name) -> bool:
    return len(client.list_topics(name, timeout=10).topics[name].partitions) > 0


def test_partitions_are_spread_over_the_brokers(cluster, name):
    admin = create_topic(cluster, name, partitions=6)
    leaders = [partition.leader for partition in admin.list_topics(name, timeout=10).topics[name].partitions.values()]
    assert sorted(leaders) == [1, 1, 2, 2, 3, 3]


@pytest.mark.parametrize(
    ("topic", "code"),
    [
        (NewTopic("factor", 1, 4), KafkaError.INVALID_REPLICATION_FACTOR),
        (NewTopic("no/slash", 1, 1), KafkaError.TOPIC_EXCEPTION),
        (NewTopic("partitionless", 0, 1), KafkaError.INVALID_PARTITIONS),
        (NewTopic("badconfig", 1, 1, config={"retention.ms": "soon"}), KafkaError.INVALID_CONFIG),
        (NewTopic("unknownconfig", 1, 1, config={"colour": "red"}), KafkaError.INVALID_CONFIG),
    ],
)
def test_a_topic_that_cannot_be_is_refused_with_kafkas_code(cluster, topic, code):
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    with pytest.raises(KafkaException) as refused:
        admin.create_topics([topic])[topic.topic].result(30)
    assert refused.value.args[0].code() == code


def test_a_topic_that_exists_is_not_created_again(cluster, name):
    admin = create_topic(cluster, name)
    with pytest.raises(KafkaException) as refused:
        admin.create_topics([NewTopic(name, 1, 1)])[name].result(30)
    assert refused.value.args[0].code() == KafkaError.TOPIC_ALREADY_EXISTS


def test_validate_only_creates_nothing(cluster, name):
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    admin.create_topics([NewTopic(name, 1, 1)], validate_only=True)[name].result(30)
    assert name not in admin.list_topics(timeout=10).topics


def test_a_record_that_is_too_large_is_refused(cluster, name):
    create_topic(cluster, name, partitions=1)
    errors = []
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "message.max.bytes": 5_000_000})
    producer.produce(name, b"x" * 2_000_000, on_delivery=lambda error, _: errors.append(error))
    producer.flush(DEADLINE_S)
    assert errors[0].code() == KafkaError.MSG_SIZE_TOO_LARGE

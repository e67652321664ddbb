"""A group is rolled from the classic to the consumer protocol and back while records come: none of them is lost."""

import itertools
import threading

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from tests.barnabas_cluster import await_true, running_cluster
from tests.interop.rolling_reader import RollingReader, java_reader, librdkafka_reader

PARTITIONS, MEMBERS = 6, 3
_RECORDS_A_SECOND = 300
_QUICK = {
    "group.consumer.session.timeout.ms": "10000",
    "group.consumer.heartbeat.interval.ms": "500",
    "group.initial.rebalance.delay.ms": "0",
}


@pytest.fixture(scope="module")
def broker(tmp_path_factory, zookeeper):
    with running_cluster(tmp_path_factory.mktemp("migration"), overrides=_QUICK, zookeeper=zookeeper) as running:
        yield running


@pytest.mark.timeout(300)
@pytest.mark.parametrize("strategy", ["cooperative-sticky", "range"])
def test_rolling_librdkafka_s_consumers_there_and_back_loses_nothing(broker, name, strategy):
    _roll(broker, name, lambda protocol: librdkafka_reader(broker.bootstrap_servers, name, protocol, strategy))


@pytest.mark.long
@pytest.mark.timeout(900)
def test_rolling_kafka_s_own_consumers_there_and_back_loses_nothing(broker, name):
    _roll(broker, name, lambda protocol: java_reader(broker.bootstrap_servers, name, protocol))


def _roll(broker, topic, new_reader) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    admin.create_topics([NewTopic(topic, PARTITIONS, 1)])[topic].result(30)
    over = threading.Event()
    producing = threading.Thread(target=_produce, args=(broker.bootstrap_servers, topic, over))
    producing.start()
    readers = [new_reader("classic") for _ in range(MEMBERS)]
    members = list(readers)
    try:
        _await_shared(members)
        for protocol in ("consumer", "classic"):
            for index in range(MEMBERS):
                members[index].close()
                members[index] = new_reader(protocol)
                readers.append(members[index])
                _await_shared(members)
            assert _type_of(admin, topic) == protocol
        over.set()
        producing.join()
        ends = _end_offsets(broker.bootstrap_servers, topic)
        await_true(lambda: _committed(broker.bootstrap_servers, topic) == ends, "everything is committed", 60)
    finally:
        over.set()
        for reader in members:
            reader.close()
        producing.join()
    read = set().union(*(reader.reads for reader in readers))
    assert read == {(partition, offset) for partition, end in ends.items() for offset in range(end)}
    assert _overlaps(readers) == []


def _await_shared(members: list[RollingReader]) -> None:
    def is_shared() -> bool:
        shares = [set(member.assigned) for member in members]
        return sum(map(len, shares)) == len(set().union(*shares)) == PARTITIONS and all(shares)

    await_true(is_shared, "all members have a share", 120, lambda: str([sorted(m.assigned) for m in members]))


def _overlaps(readers: list[RollingReader]) -> list:
    """Return pairs of tenures in which two readers had one partition at one time."""
    tenures = sorted((tenure, place) for place, reader in enumerate(readers) for tenure in reader.tenures)
    return [(a, b) for a, b in itertools.pairwise(tenures) if a[0][0] == b[0][0] and a[1] != b[1] and b[0][1] < a[0][2]]


def _produce(servers: str, topic: str, over: threading.Event) -> None:
    producer = Producer({"bootstrap.servers": servers, "linger.ms": 20})
    while not over.wait(0.1):
        for number in range(_RECORDS_A_SECOND // 10):
            producer.produce(topic, b"x" * 100, partition=number % PARTITIONS)
        producer.poll(0)
    producer.flush(30)


def _type_of(admin: AdminClient, group: str) -> str:
    (listed,) = [listed for listed in admin.list_consumer_groups().result().valid if listed.group_id == group]
    return listed.type.name.lower()


def _end_offsets(servers: str, topic: str) -> dict[int, int]:
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "ends"})
    ends = {p: consumer.get_watermark_offsets(TopicPartition(topic, p), 10)[1] for p in range(PARTITIONS)}
    consumer.close()
    return ends


def _committed(servers: str, topic: str) -> dict[int, int]:
    consumer = Consumer({"bootstrap.servers": servers, "group.id": topic})
    committed = consumer.committed([TopicPartition(topic, p) for p in range(PARTITIONS)], 10)
    consumer.close()
    return {partition.partition: partition.offset for partition in committed}

"""The collector looks at a Kafka by other hands: what it says is shown, and what it cannot say is one sentence."""

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from broker.common.clock import SystemClock
from console.cluster.placement.models import OngoingMove
from console.kit.gateway.cluster import KafkaGateway
from console.kit.gateway.connection.client import ClusterClient
from console.kit.gateway.connection.membership import ConsoleMembership
from console.kit.gateway.errors import GatewayError
from console.kit.gateway.zookeeper.interface import NoSuchZnodeError
from console.shell.collector.collector import Collector
from console.state.clusters.models import Partition, Topic
from console.state.consumers.models import ConsumerGroup
from tests.another_kafka import tansu

pytestmark = pytest.mark.timeout(120)


class NoZooKeeper:
    def look(self, path: str):
        raise NoSuchZnodeError(path)


@pytest.fixture(scope="module")
def servers():
    """Three partitions with a hundred records, all of them committed by a group."""
    with tansu() as opened:
        client = {"bootstrap.servers": opened}
        admin = AdminClient(client)
        admin.create_topics([NewTopic("orders", 3, 1)])["orders"].result(30)
        producer = Producer(client)
        for number in range(100):
            producer.produce("orders", b"%d" % number, partition=number % 3)
        assert producer.flush(30) == 0
        consumer = Consumer({**client, "group.id": "billing"})
        consumer.commit(
            offsets=[TopicPartition("orders", at, offset) for at, offset in enumerate((34, 33, 33))], asynchronous=False
        )
        consumer.close()
        yield opened


@pytest.fixture
def gateway(servers) -> KafkaGateway:
    return KafkaGateway(ClusterClient(servers, ""), ConsoleMembership(NoZooKeeper))


def test_brokers_topics_and_groups_are_seen_and_nothing_is_on_the_move(db, gateway):
    collector = Collector(gateway, list, SystemClock().now_ms)
    for tier in ("brokers", "topics", "groups", "moves", "retention", "requests", "brokers"):
        collector.look(tier)
    assert Topic.objects.get(name="orders").partition_count == 3
    assert set(Partition.objects.values_list("leader", "isr__0")) == {(111, 111)}
    assert ConsumerGroup.objects.get(name="billing").partition_count == 3
    assert not OngoingMove.objects.exists()


@pytest.mark.parametrize(
    "question",
    [
        lambda gateway: gateway.quotas.describe(),
        lambda gateway: gateway.credentials.describe(),
        lambda gateway: gateway.producers.of_topic("orders", [0]),
    ],
    ids=["quotas", "users", "producers"],
)
def test_what_it_does_not_keep_is_a_sentence(question, gateway):
    with pytest.raises(GatewayError, match=r"\.$"):
        question(gateway)

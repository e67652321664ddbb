"""A large cluster in memory: what the gateway would say of 10,000 topics, some of which take records all the time."""

import time
from dataclasses import replace

from console.kit.gateway.brokers.interface import ReplicaSizes
from console.kit.gateway.interface import BrokerView, ClusterView, PartitionView, TopicView
from tests.bench.console.groups import LargeGroups
from tests.fakes.gateway import FakeGateway

BROKERS = 12
TOPICS = 10_000
PARTITIONS_PER_TOPIC = 5
#: Of all topics, those that grow.
BUSY_SHARE = 0.05
#: Grows by a record each millisecond, so whoever sees its offset knows when it was looked at.
CLOCK_TOPIC = "a-clock"


class LargeCluster(FakeGateway):
    """Each look at the topics finds the busy ones grown, each look at the groups finds their readers further on."""

    def __init__(self) -> None:
        super().__init__(broker_count=BROKERS)
        self.views = [_topic(number) for number in range(TOPICS)]
        self.busy = range(0, TOPICS, round(1 / BUSY_SHARE))
        self.groups = LargeGroups(self, BROKERS)

    def describe_cluster(self) -> ClusterView:
        brokers = tuple(BrokerView(n, "127.0.0.1", 9091 + n, f"rack-{n % 3}") for n in range(1, BROKERS + 1))
        return ClusterView("large", 1, brokers)

    def describe_topics(self) -> list[TopicView]:
        for index in self.busy:
            self.views[index] = _grown(self.views[index])
        clock = PartitionView(0, 1, (1, 2, 3), (1, 2, 3), 0, 0, time.time_ns() // 1_000_000)
        return [TopicView(CLOCK_TOPIC, "", False, (clock,), 2), *self.views]

    def replica_sizes(self) -> ReplicaSizes:
        return {
            (topic.name, partition.partition): dict.fromkeys(partition.replicas, 100 * (partition.next_offset or 0))
            for topic in self.views
            for partition in topic.partitions
        }


def _topic(number: int) -> TopicView:
    partitions = []
    for partition in range(PARTITIONS_PER_TOPIC):
        replicas = tuple((number + partition + shift) % BROKERS + 1 for shift in range(3))
        partitions.append(PartitionView(partition, replicas[0], replicas, tuple(sorted(replicas)), 0, 0, 1_000))
    return TopicView(f"topic-{number:05d}", "", False, tuple(partitions), 2)


def _grown(topic: TopicView) -> TopicView:
    return replace(
        topic,
        partitions=tuple(replace(partition, next_offset=partition.next_offset + 100) for partition in topic.partitions),
    )

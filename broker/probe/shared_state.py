"""What the probe's threads share: its book under a lock, the clocks, and whose turn it is to ask for the topology."""

from threading import RLock

from broker.common.clock import Clock
from broker.probe.config import ProbeConfig
from broker.probe.followed_partitions import FollowedPartitions, Topology
from broker.probe.spread import PartitionState
from broker.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse

#: The topology is asked for so often while nothing seems to change, and so often at most.
LOOK_EVERY_MS = 2_000
LOOK_APART_MS = 250


class ProbeSharedState:
    """State shared by the probe's threads. Hold `lock` to use `book`."""

    def __init__(self, book: FollowedPartitions, config: ProbeConfig, clock: Clock):
        self.lock = RLock()
        self.book = book
        self.topic: str = config.topic
        self.client_id: str = config.client_id
        self._clock = clock
        #: Something has changed: the next lane that can asks for the topology.
        self.look_again = True
        self._looked_at_ms = -LOOK_EVERY_MS
        self.learned_at_ms: int | None = None
        self.metadata_request = MetadataRequest(
            topics=[MetadataRequestTopic(name=self.topic)], allow_auto_topic_creation=False
        )

    def at_ms(self) -> int:
        return self._clock.monotonic_ms()

    def now_ms(self) -> int:
        return self._clock.now_ms()

    def claims_look(self) -> bool:
        """Return whether it is this caller who asks now."""
        with self.lock:
            past_ms = self.at_ms() - self._looked_at_ms
            if past_ms < (LOOK_APART_MS if self.look_again else LOOK_EVERY_MS):
                return False
            self._looked_at_ms, self.look_again = self.at_ms(), False
            return True

    def learn(self, response: MetadataResponse) -> None:
        """Learn the brokers and partitions; a response without brokers is ignored, because its broker has just
        started.
        """
        if not response.brokers:
            return
        with self.lock:
            self.book.learn(_topology(response))
            self.learned_at_ms = self.at_ms()


def _topology(response: MetadataResponse) -> Topology:
    (topic,) = response.topics
    return Topology(
        {broker.node_id: (broker.host, broker.port) for broker in response.brokers},
        {broker.node_id: broker.rack for broker in response.brokers},
        tuple(
            PartitionState(
                partition.partition_index,
                partition.leader_id,
                tuple(partition.replica_nodes),
                tuple(partition.isr_nodes),
            )
            for partition in sorted(topic.partitions, key=lambda response_partition: response_partition.partition_index)
        ),
        str(topic.topic_id) if topic.partitions else "",
    )

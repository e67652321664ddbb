"""What `kafka-topics --describe` prints: Kafka's lines, and which topics and partitions a filter leaves. Pure."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

NO_LEADER = -1


@dataclass(frozen=True, slots=True)
class ListedPartition:
    index: int
    leader: int
    replicas: tuple[int, ...]
    in_sync: tuple[int, ...]
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()
    #: Who may lead besides those in sync, and who was the last that might (KIP-966); None if the brokers do not say.
    eligible: tuple[int, ...] | None = None
    last_eligible: tuple[int, ...] | None = None

    @property
    def is_under_replicated(self) -> bool:
        """A replica that a reassignment is adding is not missing yet."""
        return len(self.in_sync) < len(self.replicas) - len(self.adding)


@dataclass(frozen=True, slots=True)
class TopicState:
    name: str
    topic_id: str
    partitions: tuple[ListedPartition, ...]
    #: What is set for the topic or its brokers; `of_topic` says which of it is the topic's own.
    configs: Mapping[str, str]
    of_topic: frozenset[str] = field(default=frozenset())

    @property
    def replication_factor(self) -> int:
        return max((len(partition.replicas) - len(partition.adding) for partition in self.partitions), default=0)

    @property
    def minimum_in_sync(self) -> int:
        return int(self.configs.get("min.insync.replicas", "1"))


#: A filter of --describe → whether it leaves a partition.
FILTERS: Mapping[str, Callable[[TopicState, ListedPartition], bool]] = {
    "under-replicated-partitions": lambda _topic, state: state.is_under_replicated,
    "unavailable-partitions": lambda _topic, state: state.leader == NO_LEADER,
    "under-min-isr-partitions": lambda topic, state: len(state.in_sync) < topic.minimum_in_sync,
    "at-min-isr-partitions": lambda topic, state: len(state.in_sync) == topic.minimum_in_sync,
}


def lines(topics: Iterable[TopicState], filters: Iterable[str], *, overridden_only: bool = False) -> list[str]:
    """Format the topics; with a filter only the partitions that match it, without lines of topics."""
    wanted = [FILTERS[name] for name in filters]
    lines = []
    for topic in topics:
        if overridden_only:
            lines += [topic_line(topic)] if topic.of_topic else []
        elif wanted:
            left = [partition for partition in topic.partitions if any(leaves(topic, partition) for leaves in wanted)]
            lines += [partition_line(topic, item) for item in left]
        else:
            lines += [topic_line(topic), *(partition_line(topic, partition) for partition in topic.partitions)]
    return lines


def topic_line(topic: TopicState) -> str:
    configs = ",".join(f"{name}={value}" for name, value in sorted(topic.configs.items()))
    return (
        f"Topic: {topic.name}\tTopicId: {topic.topic_id}\tPartitionCount: {len(topic.partitions)}"
        f"\tReplicationFactor: {topic.replication_factor}\tConfigs: {configs}"
    )


def partition_line(topic: TopicState, partition: ListedPartition) -> str:
    leader = "none" if partition.leader == NO_LEADER else partition.leader
    line = (
        f"\tTopic: {topic.name}\tPartition: {partition.index}\tLeader: {leader}"
        f"\tReplicas: {_ids(partition.replicas)}\tIsr: {_ids(partition.in_sync)}"
    )
    if partition.adding or partition.removing:
        line += f"\tAdding Replicas: {_ids(partition.adding)}\tRemoving Replicas: {_ids(partition.removing)}"
    eligible, last = ("N/A" if ids is None else _ids(ids) for ids in (partition.eligible, partition.last_eligible))
    return f"{line}\tElr: {eligible}\tLastKnownElr: {last}"


def as_json(topics: Iterable[TopicState]) -> list[dict[str, Any]]:
    return [
        {
            "topic": topic.name,
            "topicId": topic.topic_id,
            "replicationFactor": topic.replication_factor,
            "configs": dict(sorted(topic.configs.items())),
            "partitions": [
                {
                    "partition": partition.index,
                    "leader": None if partition.leader == NO_LEADER else partition.leader,
                    "replicas": partition.replicas,
                    "isr": partition.in_sync,
                    "addingReplicas": partition.adding,
                    "removingReplicas": partition.removing,
                }
                for partition in topic.partitions
            ],
        }
        for topic in topics
    ]


def _ids(brokers: Iterable[int]) -> str:
    return ",".join(map(str, brokers))

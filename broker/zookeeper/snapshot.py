"""All of ZooKeeper that a new controller needs, read at once."""

import asyncio
from dataclasses import dataclass

from broker.common.cluster import LeaderAndIsr, LiveBroker, TopicAssignment
from broker.common.types import TopicPartition
from broker.zookeeper.store import ClusterStore


@dataclass(frozen=True)
class Snapshot:
    """The cluster's znodes, not of one moment: set watches before reading it."""

    brokers: dict[int, LiveBroker]
    topics: dict[str, TopicAssignment]
    states: dict[TopicPartition, LeaderAndIsr]
    topics_to_delete: frozenset[str]
    #: Names of notifications of ISR changes that are older than every state here.
    isr_changes: frozenset[str]
    #: Partitions that had a state, which was removed: its znode's parent is there.
    lost_states: frozenset[TopicPartition]


async def read_snapshot(store: ClusterStore) -> Snapshot:
    brokers, names, to_delete, isr_changes = await asyncio.gather(
        store.brokers(), store.topic_names(), store.topics_to_delete(), store.isr_changes()
    )
    topics = {assignment.topic: assignment for assignment in await store.topics(names)}
    partitions = [TopicPartition(name, index) for name, one in topics.items() for index in one.partitions]
    states = await store.states(partitions)
    lost_states = await store.that_had_states([partition for partition in partitions if partition not in states])
    return Snapshot(brokers, topics, states, frozenset(to_delete), frozenset(isr_changes), frozenset(lost_states))

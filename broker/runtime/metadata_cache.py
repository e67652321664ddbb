"""What the controller told this broker about the cluster; the only source of Metadata answers.

Written by UpdateMetadata alone. Waiters are told of every change, so that a topic's creator answers when its partitions
have leaders, not when its znode was written.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from uuid import UUID

from broker.common.types import NO_TOPIC_ID, TopicIdPartition, TopicPartition, may_be_same_topic
from broker.protocol.messages.update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataTopicState,
)
from broker.runtime.serialized_changes import SerializedChanges

#: Leader of a partition that is being deleted (Kafka's LeaderDuringDelete).
LEADER_DURING_DELETE = -2
#: Of more that are not known any more, the oldest are forgotten first; about 30 MB with ten partitions each.
_EARLIER_TOPICS_MAX = 10_000
_STOPPED_BROKERS_MAX = 1_000


@dataclass(frozen=True, slots=True)
class BrokerAddress:
    broker_id: int
    #: listener name -> (host, port)
    endpoints: dict[str, tuple[str, int]]
    rack: str | None


@dataclass(frozen=True, slots=True)
class PartitionMetadata:
    leader: int
    leader_epoch: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    offline_replicas: tuple[int, ...]
    #: Both empty unless the cluster keeps eligible leader replicas (KIP-966).
    elr: tuple[int, ...] = ()
    last_known_elr: tuple[int, ...] = ()


@dataclass(slots=True)
class TopicMetadata:
    name: str
    topic_id: UUID
    partitions: dict[int, PartitionMetadata] = field(default_factory=dict)

    @property
    def is_whole(self) -> bool:
        return min(self.partitions) == 0 and max(self.partitions) + 1 == len(self.partitions)


class _Topics:
    """What is known of topics, while it is being changed."""

    def __init__(
        self, by_name: dict[str, TopicMetadata], by_id: dict[UUID, TopicMetadata], earlier: dict[str, TopicMetadata]
    ):
        """earlier: topics that are not known any more unless the controller tells of them; told ones are removed, and
        ones that have vanished are added.
        """
        self.by_name = by_name
        self.by_id = by_id
        self.earlier = earlier
        self.deleted: list[TopicIdPartition] = []
        self.is_changed = False  #: a topic came, went or has other partitions

    def take(self, topic: UpdateMetadataTopicState) -> Iterator[None]:
        """Yield after each partition; the topic is seen as it was until all are through.

        The partitions of a former topic of the same name are gone.
        """
        name = topic.topic_name
        earlier = self.earlier.pop(name, None)
        if earlier is not None and not may_be_same_topic(earlier.topic_id, topic.topic_id):
            self._note_deleted(earlier, earlier.partitions)
        former = self.by_name.get(name)
        is_same = former is not None and may_be_same_topic(former.topic_id, topic.topic_id)
        partitions = dict(former.partitions) if former and is_same else {}
        topic_id = former.topic_id if former and topic.topic_id == NO_TOPIC_ID else topic.topic_id
        yield
        for state in topic.partition_states:
            if state.leader == LEADER_DURING_DELETE:
                partitions.pop(state.partition_index, None)
                if not topic.has_vanished:
                    self.deleted.append(TopicIdPartition(TopicPartition(name, state.partition_index), topic_id))
            else:
                partitions[state.partition_index] = _partition_metadata(state)
            yield
        self.is_changed |= former is None or not is_same or former.partitions.keys() != partitions.keys()
        if former is not None and not (is_same and partitions):
            del self.by_name[name]
            self.by_id.pop(former.topic_id, None)
        if former is not None and not is_same:
            self._note_deleted(former, former.partitions)
        if partitions:
            self.by_name[name] = TopicMetadata(name, topic_id, partitions)
            if topic_id != NO_TOPIC_ID:
                self.by_id[topic_id] = self.by_name[name]
        elif topic.has_vanished and (vanished := former or earlier):
            self.earlier[name] = vanished

    def forget_oldest(self) -> None:
        """Bound what is kept of topics that are not known any more."""
        for name in list(islice(self.earlier, max(0, len(self.earlier) - _EARLIER_TOPICS_MAX))):
            del self.earlier[name]

    def _note_deleted(self, topic: TopicMetadata, partitions: Iterable[int]) -> None:
        self.deleted += [TopicIdPartition(TopicPartition(topic.name, index), topic.topic_id) for index in partitions]


class MetadataCache:
    """Brokers, topics and controller as of the last UpdateMetadata."""

    def __init__(self) -> None:
        self.controller_id = -1
        self.controller_epoch = -1
        self._broker_epoch = -1
        self.brokers: dict[int, BrokerAddress] = {}
        #: Brokers that ran and do not any more, by id, as they were; those that this broker has seen running.
        self.stopped: dict[int, BrokerAddress] = {}
        self.topics: dict[str, TopicMetadata] = {}
        #: Another one whenever a topic came, went or got partitions.
        self.topics_version = 0
        self._topics_by_id: dict[UUID, TopicMetadata] = {}
        self._changed = asyncio.Event()
        #: Held while a request is applied.
        self.changes = SerializedChanges()
        #: Topics that have vanished, or that the controller did not name when it told all there is to a new
        #: registration. They are deleted, or wait for their ids: one that comes again under another id was.
        self._earlier: dict[str, TopicMetadata] = {}
        #: Told of partitions that are gone for good.
        self.on_deleted: list[Callable[[list[TopicIdPartition]], None]] = []

    @property
    def is_known(self) -> bool:
        """Whether a controller has spoken to this broker since it started."""
        return self.controller_epoch >= 0

    def apply(self, request: UpdateMetadataRequest) -> Iterator[None]:
        """Take what the controller says, little in each step; to be gone through to the end, while holding `changes`.

        What it says first to a new registration of ours is all there is, and is seen at the end, whole. Otherwise each
        topic is seen as soon as it is whole.
        """
        is_all = request.broker_epoch > self._broker_epoch
        if is_all:
            topics = _Topics({}, {}, self._earlier | self.topics)
        else:
            topics = _Topics(self.topics, self._topics_by_id, self._earlier)
        brokers = {}
        for broker in request.live_brokers:
            brokers[broker.id] = _broker_address(broker)
            yield
        for topic in request.topic_states:
            yield from topics.take(topic)
        topics.forget_oldest()
        self.topics, self._topics_by_id, self._earlier = topics.by_name, topics.by_id, topics.earlier
        self.topics_version += is_all or topics.is_changed
        self._broker_epoch = request.broker_epoch
        self.controller_id = request.controller_id
        self.controller_epoch = request.controller_epoch
        self._note_stopped(brokers)
        self.brokers = brokers
        for listener in self.on_deleted if topics.deleted else ():
            listener(topics.deleted)
        self._changed.set()
        self._changed = asyncio.Event()

    def _note_stopped(self, live: dict[int, BrokerAddress]) -> None:
        gone = self.brokers.keys() - live.keys()
        stopped = self.stopped | {broker_id: self.brokers[broker_id] for broker_id in gone}
        kept = [item for item in stopped.items() if item[0] not in live]
        self.stopped = dict(kept[-_STOPPED_BROKERS_MAX:])

    def is_live(self, broker_id: int) -> bool:
        """Return whether the controller counts the broker as registered."""
        return broker_id in self.brokers

    def topic_ids(self) -> dict[str, UUID]:
        """Return the topic ids by name, of topics that have one."""
        return {name: topic.topic_id for name, topic in self.topics.items() if topic.topic_id != NO_TOPIC_ID}

    def topic_id_of(self, name: str) -> UUID:
        """Return the topic's id, NO_TOPIC_ID if the topic or its id is not known."""
        known = self.topics.get(name)
        return known.topic_id if known else NO_TOPIC_ID

    def topic_of_id(self, topic_id: UUID) -> TopicMetadata | None:
        return self._topics_by_id.get(topic_id)

    def partition_of(self, topic: str, partition: int) -> PartitionMetadata | None:
        known = self.topics.get(topic)
        return known.partitions.get(partition) if known else None

    def partition_count(self, topic: str) -> int:
        """Return the topic's number of partitions, 0 until all of it is known.

        A controller that has just been elected speaks first of the partitions that need no new leader.
        """
        known = self.topics.get(topic)
        return len(known.partitions) if known and known.is_whole else 0

    def leader_of(self, topic: str, partition: int) -> int:
        """Return the leader's id, -1 when there is none or the partition is not known."""
        state = self.partition_of(topic, partition)
        return state.leader if state else -1

    async def wait_until(self, condition: Callable[[], bool], timeout_ms: int) -> bool:
        """Return True as soon as `condition` holds, False when `timeout_ms` pass without."""
        try:
            async with asyncio.timeout(timeout_ms / 1000):
                while not condition():
                    await self._changed.wait()
        except TimeoutError:
            return False
        return True


def _broker_address(broker: UpdateMetadataBroker) -> BrokerAddress:
    return BrokerAddress(broker.id, {e.listener: (e.host, e.port) for e in broker.endpoints}, broker.rack)


def _partition_metadata(state: UpdateMetadataPartitionState) -> PartitionMetadata:
    return PartitionMetadata(
        state.leader,
        state.leader_epoch,
        tuple(state.replicas),
        tuple(state.isr),
        tuple(state.offline_replicas),
        tuple(state.eligible_leader_replicas),
        tuple(state.last_known_elr),
    )

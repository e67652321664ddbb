"""A group coordinator with topics and with consumers that speak the consumer protocol as clients do."""

from dataclasses import dataclass, field
from uuid import UUID

from broker.common.errors import ErrorCode
from broker.coordinator.consumer_group.config import ConsumerGroupConfig
from broker.coordinator.consumer_group.topics import AssignableTopic
from broker.coordinator.group.coordinator import GroupCoordinator
from broker.protocol.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from broker.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    HeartbeatTopicPartitions,
)
from tests.broker.coordinator.group.world import World


class Topics:
    """Topics that tests make; a topic's id is made of its name, and is another when it is made anew."""

    def __init__(self) -> None:
        self.version = 0
        self._topics: dict[str, AssignableTopic] = {}
        self._made = 0

    def put(self, name: str, partition_count: int) -> UUID:
        known = self._topics.get(name)
        self._made += known is None
        topic_id = known.topic_id if known else UUID(int=self._made)
        self._topics[name] = AssignableTopic(name, topic_id, partition_count)
        self.version += 1
        return topic_id

    def delete(self, name: str) -> None:
        del self._topics[name]
        self.version += 1

    def names(self):
        return self._topics.keys()

    def named(self, name: str) -> AssignableTopic | None:
        return self._topics.get(name)

    def name_of(self, topic_id: UUID) -> str | None:
        return next((topic.name for topic in self._topics.values() if topic.topic_id == topic_id), None)


@dataclass
class ConsumerWorld(World):
    consumer_config: ConsumerGroupConfig = field(
        default_factory=lambda: ConsumerGroupConfig(group_consumer_assignment_interval_ms=0)
    )
    topics: Topics = field(default_factory=Topics)
    hidden: set[str] = field(default_factory=set)  #: topics that clients may not describe

    def _new_coordinator(self) -> GroupCoordinator:
        return GroupCoordinator(
            self.config,
            self._new_member_id,
            self.wall_now_ms,
            self.memory,
            self.deleted,
            steady_now_ms=self.wall_now_ms,
            consumer_config=self.consumer_config,
            topics=self.topics,
        )

    def group(self, group_id: str = "g"):
        return self.coordinator.consumer_groups.get(group_id)

    def describe_consumers(self, group_id: str = "g"):
        sent, request = self._ask(group_id, "-", ConsumerGroupDescribeRequest(group_ids=[group_id]), 1)
        self.carry_out(self.coordinator.consumer_group_describe(request, sent.token, self.now_ms))
        return sent.response.groups[0]

    def send(self, request: ConsumerGroupHeartbeatRequest, name: str, version: int = 1):
        sent, request = self._ask(request.group_id, name, request, version)
        client = self._client(name, version)
        sees_topic = lambda topic: topic not in self.hidden  # noqa: E731
        outcome = self.coordinator.consumer_group_heartbeat(request, client, sent.token, self.now_ms, sees_topic)
        self.carry_out(outcome)
        return sent


class Consumer:
    """One consumer: it owns what it was assigned, and gives up what it is assigned no more when it is told to.

    `beat` sends a heartbeat. `revokes` is False of one that is busy with the records of partitions it should give up.
    """

    def __init__(self, world: ConsumerWorld, name: str, *topics: str, group_id: str = "g", **fields):
        self.world, self.name, self.group_id = world, name, group_id
        self.member_id, self.epoch = name, 0
        self.topics, self.fields = list(topics), fields
        self.owned: set[tuple[UUID, int]] = set()
        self.revokes = True
        self.reported: dict = {}

    def request(self, **fields) -> ConsumerGroupHeartbeatRequest:
        say = {"subscribed_topic_names": self.topics, "rebalance_timeout_ms": 60_000} | self.fields
        values = {
            "group_id": self.group_id,
            "member_id": self.member_id,
            "member_epoch": self.epoch,
            "topic_partitions": _to_wire(self.owned),
        }
        if self.epoch == 0 or say != self.reported:
            values |= say
            self.reported = dict(say)
        values["instance_id"] = self.fields.get("instance_id")
        return ConsumerGroupHeartbeatRequest(**values | fields)

    def beat(self, version: int = 1, **fields) -> ErrorCode:
        response = self.world.send(self.request(**fields), self.name, version).response
        error = ErrorCode(response.error_code)
        if error is ErrorCode.NONE:
            self.member_id, self.epoch = response.member_id, response.member_epoch
            if response.assignment is not None:
                assigned = {(t.topic_id, index) for t in response.assignment.topic_partitions for index in t.partitions}
                self.owned = assigned if self.revokes else self.owned | assigned
        elif error in (ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID):
            self.epoch, self.owned = 0, set()
        return error

    def leave(self, epoch: int = -1) -> ErrorCode:
        return self.beat(member_epoch=epoch, topic_partitions=None)

    def partitions(self, topic_id: UUID) -> list[int]:
        return sorted(index for other, index in self.owned if other == topic_id)


def _to_wire(owned: set[tuple[UUID, int]]) -> list[HeartbeatTopicPartitions]:
    topic_ids = sorted({topic_id for topic_id, _ in owned})
    return [
        HeartbeatTopicPartitions(topic_id=topic_id, partitions=sorted(i for t, i in owned if t == topic_id))
        for topic_id in topic_ids
    ]

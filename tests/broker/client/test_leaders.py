"""Leaders are asked for once, and again when they have moved; offsets come from them, however often they move."""

from collections.abc import Collection
from types import SimpleNamespace

import pytest

from broker.client import leaders
from broker.client.errors import BrokerUnreachable
from broker.client.leaders import Leaders
from broker.client.offsets import list_offsets
from broker.common.errors import ApiError, ErrorCode
from broker.common.types import TopicPartition
from broker.protocol.messages.list_offsets import (
    LATEST_TIMESTAMP,
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from broker.protocol.messages.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)

P0, P1 = TopicPartition("t", 0), TopicPartition("t", 1)
ONE, TWO = ("host", 1), ("host", 2)


class FakeCluster:
    """Brokers 1 and 2, listening on the ports of their ids. `leaders` of topic t; `answers` by address, in turn."""

    def __init__(self, leaders: list[int], answers=None):
        self.leaders = leaders
        self.answers = answers or {}
        self.asked_metadata = 0
        self.forgotten: list[tuple[str, int]] = []

    def describe_topics(self, names: Collection[str]) -> MetadataResponse:
        (topic,) = names
        self.asked_metadata += 1
        partitions = [
            MetadataResponsePartition(error_code=0, partition_index=index, leader_id=leader)
            for index, leader in enumerate(self.leaders)
        ]
        code = ErrorCode.NONE if topic == "t" else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return MetadataResponse(
            brokers=[MetadataResponseBroker(node_id=number, host="host", port=number) for number in (1, 2)],
            topics=[MetadataResponseTopic(error_code=code, name=topic, partitions=partitions)],
        )

    def connection(self, host: str, port: int, **_how):
        return SimpleNamespace(address=(host, port), ask=lambda _request: self._answer((host, port)))

    def forget(self, *address) -> None:
        self.forgotten.append(address)

    def _answer(self, address):
        answer = self.answers[address].pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def offsets(**of: tuple[int, ErrorCode]) -> ListOffsetsResponse:
    partitions = [
        ListOffsetsPartitionResponse(partition_index=int(name[1:]), offset=offset, error_code=code)
        for name, (offset, code) in of.items()
    ]
    return ListOffsetsResponse(topics=[ListOffsetsTopicResponse(name="t", partitions=partitions)])


def test_leaders_of_a_topic_are_asked_for_once():
    cluster = FakeCluster([1, 2])
    leaders = Leaders(cluster)
    assert leaders.partitions("t") == [P0, P1]
    assert leaders.by_address([P0, P1]) == {ONE: [P0], TWO: [P1]}
    assert cluster.asked_metadata == 1


def test_moved_leader_is_found_again():
    cluster = FakeCluster([1, 1])
    leaders = Leaders(cluster)
    assert leaders.connection(P1).address == ONE
    cluster.leaders = [1, 2]
    leaders.forget(P1, connection_broken=True)
    assert leaders.connection(P1).address == TWO
    assert cluster.forgotten == [ONE]


def test_partition_without_leader_is_not_one_that_does_not_exist():
    leaders = Leaders(FakeCluster([-1]))
    for partition, code in (
        (P0, ErrorCode.LEADER_NOT_AVAILABLE),
        (P1, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (TopicPartition("u", 0), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    ):
        with pytest.raises(ApiError) as refused:
            leaders.connection(partition)
        assert refused.value.code is code


def test_offsets_come_from_each_leader_however_often_it_moves():
    moved = offsets(p0=(-1, ErrorCode.NOT_LEADER_OR_FOLLOWER))
    answers = {ONE: [moved, BrokerUnreachable("gone"), offsets(p0=(5, 0))], TWO: [offsets(p1=(7, 0))]}
    cluster = FakeCluster([1, 2], answers)
    assert list_offsets(Leaders(cluster), {P0: LATEST_TIMESTAMP, P1: LATEST_TIMESTAMP}) == {P0: 5, P1: 7}
    assert cluster.asked_metadata == 3


def test_refusal_that_waiting_does_not_mend_is_raised_at_once():
    answers = {ONE: [offsets(p0=(-1, ErrorCode.TOPIC_AUTHORIZATION_FAILED))]}
    with pytest.raises(ApiError, match="t-0: Topic authorization failed"):
        list_offsets(Leaders(FakeCluster([1], answers)), {P0: LATEST_TIMESTAMP})


def test_leaders_that_do_not_answer_end_in_their_last_error():
    answers = {ONE: [BrokerUnreachable("gone")] * 1_000}
    with pytest.raises(BrokerUnreachable, match="gone"):
        list_offsets(Leaders(FakeCluster([1], answers)), {P0: LATEST_TIMESTAMP}, timeout_s=0.15)


class CreatingCluster(FakeCluster):
    """Creates topic t when it is asked to; its leader is there at the third question."""

    def __init__(self, creates_topics=True):
        super().__init__([])
        self.creates_topics, self.asked_to_create = creates_topics, 0

    def describe_topics(self, names, *, creates=False):
        self.asked_to_create += creates and self.creates_topics
        self.leaders = [1] if self.asked_to_create > 2 else [-1] * bool(self.asked_to_create)
        described = super().describe_topics(names)
        if not self.asked_to_create:
            described.topics[0].error_code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return described


def test_a_topic_to_write_is_created_where_brokers_do_so(monkeypatch):
    monkeypatch.setattr(leaders, "_PAUSE_S", 0)
    assert Leaders(CreatingCluster()).partitions_to_write("t", patience_s=60) == [P0]
    with pytest.raises(ApiError, match="there is no topic 't'"):
        Leaders(CreatingCluster()).partitions("t")
    with pytest.raises(ApiError, match="there is no topic 't'"):
        Leaders(CreatingCluster(creates_topics=False)).partitions_to_write("t", patience_s=0)
